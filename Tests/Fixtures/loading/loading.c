// loading PLUGIN [exit|fork|jump|filter]: linked against libouter.so (which needs libinner.so) and
// libside.so; loads PLUGIN in main. With a second argument a constructor of its own ends the program (status 3),
// forks a child that goes on through all of it once its parent is through, and is waited for in
// main, or is left by longjmp; or main first forbids itself a few system calls that it does not
// need.
// Truth: NAME_began, NAME_wall, NAME_cpu and NAME_sleep of inner, outer, side and plugin, and
// dlopen_wall.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../fixture.h"

extern int outer_use(void), side_use(void);

static pid_t child = -1;
static int parent_is_through[2];
static jmp_buf target;

FUNCTION static void leave(void) { longjmp(target, 1); }

static void go_on_twice(void) {
    if (pipe(parent_is_through) != 0) fail("pipe");
    child = fork();
    if (child != 0) return;
    close(parent_is_through[1]);
    char none;
    if (read(parent_is_through[0], &none, 1) != 0) fail("read");
}

static char arguments[4096];

/// How many arguments there are, and the third: musl hands none to constructors.
static int read_arguments(const char **third) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), count = 0;
    ssize_t length = file < 0 ? -1 : read(file, arguments, sizeof arguments - 1);
    if (length < 0) fail("/proc/self/cmdline");
    close(file);
    for (const char *word = arguments; word < arguments + length; word += strlen(word) + 1)
        if (++count == 3) *third = word;
    return count;
}

__attribute__((constructor)) static void own(void) {
    const char *mode = "";
    int argc = read_arguments(&mode);
    if (strcmp(mode, "exit") == 0) {
        printf("%d arguments\n", argc);
        exit(3);
    }
    if (strcmp(mode, "fork") == 0) go_on_twice();
    if (strcmp(mode, "jump") == 0 && setjmp(target) == 0) leave();
}

static volatile int has_begun;
__attribute__((constructor)) static void last(void) { has_begun = 1; }

FUNCTION static void *load_plugin(const char *path) {
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    void *plugin = dlopen(path, RTLD_NOW);
    truth_set("dlopen_wall", nanoseconds(CLOCK_MONOTONIC) - start);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(125);
    }
    return plugin;
}

static void set(void *library, const char *name) {
    const char *kinds[] = {"began", "wall", "cpu", "sleep"};
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "%s_%s", name, kinds[index]);
        const int64_t *value = dlsym(library, symbol);
        if (value != NULL) truth_set(strdup(symbol), *value);
    }
}

/// A process that makes one of these calls is killed.
static void forbid(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("PR_SET_NO_NEW_PRIVS");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("PR_SET_SECCOMP");
}

int main(int argc, char **argv) {
    if (argc < 2 || !has_begun) return 125;
    if (argc > 2 && strcmp(argv[2], "filter") == 0) forbid();
    void *plugin = load_plugin(argv[1]);
    void *all = dlopen(NULL, RTLD_NOW);
    set(all, "inner");
    set(all, "outer");
    set(all, "side");
    set(plugin, "plugin");
    if (child != 0) truth_write();
    int status = 0;
    if (child > 0) close(parent_is_through[1]);
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) return 1;
    printf("%s %d\n", child == 0 ? "child" : "parent", outer_use() + side_use() - 1);
    return 0;
}
