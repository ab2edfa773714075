#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/version.h>
#include <gelf.h>
#include <libelf.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

// glibc's, which its header shows to _GNU_SOURCE only.
extern void *memmem(const void *haystack, size_t size, const void *needle, size_t length);

// Demanglers of libiberty. Their own header comes with macros that other headers define, too, so
// only the three prototypes that we use are declared here (libiberty/demangle.h).
extern int cplus_demangle_v3_callback(
    const char *mangled, int options, void (*append)(const char *, size_t, void *), void *context);
extern int rust_demangle_callback(
    const char *mangled, int options, void (*append)(const char *, size_t, void *), void *context);
// mallocs its answer.
extern char *dlang_demangle(const char *mangled, int options);

// The Swift runtime's (SwiftDemangle.h): mallocs the answer when `output` is NULL.
extern char *swift_demangle(
    const char *mangled, size_t length, char *output, size_t *outputLength, uint32_t flags);

// libiberty's DMGL_PARAMS | DMGL_ANSI: parameter types and qualifiers are written.
enum { FIRSTLIGHT_DEMANGLE_FULL = (1 << 0) | (1 << 1) };
// libiberty's DMGL_NO_RECURSE_LIMIT: without it a name past 1,024 characters is refused.
enum { FIRSTLIGHT_DEMANGLE_LONG = 1 << 18 };

// The output of a demangler. A short mangled name can stand for an exponentially long one (each
// substitution twice the one before), so a full buffer ends the demangling: the callback cannot
// report this, so it jumps out. The skipped code holds no resources (C++), or at most one
// identifier's buffer (Rust, punycode only).
struct firstlight_text {
    char *bytes;
    size_t capacity;
    size_t length;
    jmp_buf full;
};

static inline void firstlight_text_append(const char *part, size_t length, void *context)
{
    struct firstlight_text *text = context;
    size_t room = text->capacity - text->length;
    size_t taken = length < room ? length : room;
    memcpy(text->bytes + text->length, part, taken);
    text->length += taken;
    if (taken < length)
        longjmp(text->full, 1);
}

// Writes the demangled C++ name, cut at `capacity` bytes, and returns its length; 0 when it is
// not a mangled C++ name. No terminating NUL.
static inline size_t firstlight_demangle_cxx(const char *mangled, char *output, size_t capacity)
{
    struct firstlight_text text = {.bytes = output, .capacity = capacity, .length = 0};
    if (setjmp(text.full))
        return text.length;
    int options = FIRSTLIGHT_DEMANGLE_FULL | FIRSTLIGHT_DEMANGLE_LONG;
    return cplus_demangle_v3_callback(mangled, options, firstlight_text_append, &text)
        ? text.length : 0;
}

// The same for Rust, legacy (`_ZN…17h<hash>E`, shown without the hash) and v0 (`_R…`).
static inline size_t firstlight_demangle_rust(const char *mangled, char *output, size_t capacity)
{
    struct firstlight_text text = {.bytes = output, .capacity = capacity, .length = 0};
    if (setjmp(text.full))
        return text.length;
    return rust_demangle_callback(
               mangled, FIRSTLIGHT_DEMANGLE_FULL, firstlight_text_append, &text)
        ? text.length : 0;
}
