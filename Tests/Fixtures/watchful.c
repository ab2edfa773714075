// watchful: computes for ~200 ms and looks every millisecond at what /proc says about the process
// itself, as anti-debugging code does. Prints a checksum.
// Truth: looks, traced (how many of them saw a tracer), caught (the mask of signals with a handler,
// as seen at the last look), caught_changes (how often it changed), mappings (how many more lines
// /proc/self/maps had at the last look than at the first).
#include "fixture.h"

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    size_t length = 0;
    ssize_t count;
    while ((count = read(file, text + length, size - 1 - length)) > 0) length += (size_t)count;
    close(file);
    text[length] = '\0';
}

static int64_t field(const char *text, const char *name, int base) {
    const char *place = strstr(text, name);
    return place == NULL ? -1 : (int64_t)strtoull(place + strlen(name), NULL, base);
}

static int64_t count_mappings(void) {
    static char text[65536];
    int64_t lines = 0;
    read_file("/proc/self/maps", text, sizeof text);
    for (const char *place = text; (place = strchr(place, '\n')) != NULL; place++) lines++;
    return lines;
}

int main(void) {
    char text[8192];
    uint64_t checksum = 1;
    int64_t traced = 0, caught = 0, changes = 0, looks = 200, mappings = count_mappings();
    for (int64_t look = 0; look < looks; look++) {
        checksum = compute(checksum, 1);
        read_file("/proc/self/status", text, sizeof text);
        traced += field(text, "TracerPid:", 10) > 0;
        int64_t now = field(text, "SigCgt:", 16);
        changes += look > 0 && now != caught;
        caught = now;
    }
    truth_set("looks", looks);
    truth_set("traced", traced);
    truth_set("caught", caught);
    truth_set("caught_changes", changes);
    truth_set("mappings", count_mappings() - mappings);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return 0;
}
