// offspring PLUGIN: forks a child that goes on without exec and does everything that the recorder's
// code in the program notes, first freely and then under a filter that kills for calls that it does
// not make alone. The parent computes meanwhile, waits for the child's end, and then does the same
// except for things that would end its own recording. Each prints its findings.
// `hit` is called once by each, and each emits "event" once, in the interval "everything".
// Exits with 0 if everything was as it should be.
#include <dlfcn.h>
#include <firstlight/signpost.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

static const firstlight_signposter signposter = {"offspring", "test"};
static volatile sig_atomic_t received;
static volatile int hits;
static pid_t own;

static void handler(int number) {
    (void)number;
    received++;
}

FUNCTION void hit(void) { hits++; }

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void *library;

/// Its initialisers compute and sleep.
static int load(const char *path) {
    library = dlopen(path, RTLD_NOW);
    int (*use)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "plugin_use");
    return use == NULL || use() != 1;
}

static int unload(void) { return dlclose(library); }

static int change_masks(void) {
    sigset_t all, before, now;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0 || sigismember(&before, SIGURG)) return 1;
    return pthread_sigmask(SIG_SETMASK, &before, &now) != 0 || !sigismember(&now, SIGURG);
}

/// What the signal does is the default's, and then the program's own.
static int use_signal(int number) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    if (sigaction(number, &action, &before) != 0 || before.sa_handler != SIG_DFL) return 1;
    received = 0;
    // raise(3) asks for the process's id.
    if (syscall(SYS_tgkill, own, own, number) != 0) return 1;
    return received != 1 || sigaction(number, &before, &action) != 0 || action.sa_handler != handler;
}

static int execute_nothing(void) {
    char *arguments[] = {"nothing", NULL};
    return execv("/nonexistent/nothing", arguments) != -1 || errno != ENOENT;
}

static int mark(void) {
    firstlight_interval interval = firstlight_begin_interval(&signposter, "everything");
    hit();
    firstlight_emit_event(&signposter, "event");
    firstlight_end_interval(&signposter, "everything", interval);
    return 0;
}

static int forbid(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_nanosleep, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int wrong;

#define TELL(what)                                         \
    do {                                                   \
        const int is_wrong = (what) != 0;                  \
        printf("%s: %s: %d\n", who, #what, is_wrong);      \
        wrong += is_wrong;                                 \
    } while (0)

static int child(const char *path) {
    const char *who = "child";
    own = getpid();
    TELL(change_masks());
    TELL(execute_nothing());
    TELL(use_signal(SIGURG));
    TELL(use_signal(SIGWINCH));
    TELL(load(path));
    TELL(unload());
    TELL(mark());
    TELL(forbid());
    TELL(change_masks());
    TELL(use_signal(SIGURG));
    TELL(execute_nothing());
    TELL(load(path));
    fflush(stdout);
    return wrong == 0 ? 7 : 8;
}

int main(int argc, char **argv) {
    if (argc < 2) return 125;
    const char *who = "parent";
    uint64_t checksum = compute(1, 30);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) _exit(child(argv[1]));
    checksum = compute(checksum, 30);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) fail("waitpid");
    printf("the child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -status);
    if (status != 7 << 8) wrong++;
    TELL(change_masks());
    TELL(execute_nothing());
    TELL(load(argv[1]));
    TELL(mark());
    checksum = compute(checksum, 60);
    printf("checksum %016llx, hits %d\n", (unsigned long long)checksum, hits);
    return wrong == 0 ? 0 : 1;
}
