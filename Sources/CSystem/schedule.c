#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page_size = 4096 };

static int open_events(struct perf_event_attr *attributes, pid_t tid, int core) {
    attributes->size = sizeof *attributes;
    attributes->sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attributes->sample_id_all = 1;
    attributes->use_clockid = 1;
    attributes->clockid = CLOCK_MONOTONIC;
    // Usually no thread waits for records: the ring is read at intervals.
    if (!attributes->watermark) {
        attributes->watermark = 1;
        attributes->wakeup_watermark = UINT32_MAX;
    }
    long result =
        syscall(SYS_perf_event_open, attributes, tid, core, -1, PERF_FLAG_FD_CLOEXEC);
    return result < 0 ? -errno : (int)result;
}

static int control(int events, unsigned long request, unsigned long argument) {
    return ioctl(events, request, argument) < 0 ? -errno : 0;
}

// Of linux/mount.h, which older kernels' headers lack, and which contradicts the C library's sys/mount.h.
// The calls have these numbers on every architecture.
enum {
    call_fsopen = 430,
    call_fsconfig = 431,
    call_fsmount = 432,
    opened_cloexec = 1,     // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
    configured_create = 6,  // FSCONFIG_CMD_CREATE
};

int fl_open_tracefs(void) {
    const long context = syscall(call_fsopen, "tracefs", opened_cloexec);
    if (context < 0) return -errno;
    long folder = syscall(call_fsconfig, context, configured_create, NULL, NULL, 0);
    if (folder == 0) folder = syscall(call_fsmount, context, opened_cloexec, 0);
    const int error = errno;
    close((int)context);
    return folder < 0 ? -error : (int)folder;
}

int fl_open_switches(pid_t tid, int core) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        // We do not ask for the kernel's own activity, which would need a privilege.
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .context_switch = 1,
        .task = 1,
    };
    return open_events(&attributes, tid, core);
}

// The kernel's order of a sample's registers (`PERF_REG_X86_…`): ax bx cx dx si di bp sp ip, some
// that we do not ask for (flags, cs, ss, ds …), r8 … r15.
static const uint64_t general_registers = 0xFF01FF;

static struct perf_event_attr sampling(uint64_t period, uint32_t stack_bytes, int where) {
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = general_registers,
        .sample_stack_user = stack_bytes,
        .exclude_kernel = where == FL_OWN_CODE,
        .exclude_user = where == FL_KERNEL_CODE,
        .exclude_hv = 1,
        // We unwind the program's part from its registers and stack.
        .exclude_callchain_user = 1,
        .exclude_callchain_kernel = where == FL_OWN_CODE,
    };
}

int fl_open_samples(
    pid_t tid, uint64_t period, uint32_t stack_bytes, int where, int from_exec) {
    struct perf_event_attr attributes = sampling(period, stack_bytes, where);
    attributes.disabled = from_exec != 0;
    attributes.enable_on_exec = from_exec != 0;
    attributes.sample_type |= PERF_SAMPLE_READ;
    return open_events(&attributes, tid, -1);
}

int fl_open_tree_samples(
    pid_t tid, int core, uint64_t period, uint32_t stack_bytes, int user_only, int switches) {
    struct perf_event_attr attributes =
        sampling(period, stack_bytes, user_only ? FL_OWN_CODE : FL_EVERYWHERE);
    attributes.context_switch = switches != 0;
    attributes.task = switches != 0;
    attributes.inherit = 1;
    // Code that is mapped.
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    return open_events(&attributes, tid, core);
}

// For a thread, and each thread and process that it starts: forks, execs and ends.
static struct perf_event_attr tree_events(uint64_t config) {
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = config,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
    };
}

int fl_open_tree_news(pid_t tid, int core, int signal) {
    struct perf_event_attr attributes = tree_events(PERF_COUNT_SW_DUMMY);
    // Each record wakes us: the state that it reports may be over soon.
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    const int events = open_events(&attributes, tid, core);
    const struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
    if (events < 0) return events;
    if (fcntl(events, F_SETOWN_EX, &owner) == 0 && fcntl(events, F_SETSIG, signal) == 0 &&
        fcntl(events, F_SETFL, O_ASYNC) == 0)
        return events;
    const int error = errno;
    close(events);
    return -error;
}

int fl_open_lone_event(pid_t tid) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return open_events(&attributes, tid, -1);
}

int fl_open_tree_costs(pid_t tid, int core) {
    struct perf_event_attr attributes = tree_events(PERF_COUNT_SW_TASK_CLOCK);
    // A thread's CPU time is reported at its end.
    attributes.inherit_stat = 1;
    return open_events(&attributes, tid, core);
}

int fl_open_exec_names(int core) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .comm = 1,
        .comm_exec = 1,
        .mmap = 1,
        .mmap2 = 1,
    };
    return open_events(&attributes, -1, core);
}

// For a thread, while it runs its own code. Nothing is counted yet.
static struct perf_event_attr own_code(uint64_t period) {
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}

static int send_signals(int events, pid_t tid, int signal) {
    const struct f_owner_ex owner = {F_OWNER_TID, tid};
    return fcntl(events, F_SETOWN_EX, &owner) == 0 && fcntl(events, F_SETSIG, signal) == 0 &&
           fcntl(events, F_SETFL, O_ASYNC) == 0;
}

static int close_failed(int events) {
    const int error = errno;
    close(events);
    return -error;
}

int fl_open_interruption(pid_t tid, int signal, uint64_t period) {
    struct perf_event_attr attributes = own_code(period);
    const int events = open_events(&attributes, tid, -1);
    if (events < 0) return events;
    if (send_signals(events, tid, signal) && ioctl(events, PERF_EVENT_IOC_REFRESH, 1) == 0)
        return events;
    return close_failed(events);
}

int fl_open_timer(pid_t tid, int signal, uint64_t period) {
    struct perf_event_attr attributes = own_code(period);
    attributes.remove_on_exec = 1;
    const int events = open_events(&attributes, tid, -1);
    if (events < 0) return events;
    return send_signals(events, tid, signal) ? events : close_failed(events);
}

int fl_refresh_timer(int events, int count) {
    return control(events, PERF_EVENT_IOC_REFRESH, (unsigned long)count);
}

int64_t fl_read_count(int events) {
    uint64_t value = 0;
    return read(events, &value, sizeof value) == sizeof value ? (int64_t)value : -1;
}

int fl_events_are_over(int events) {
    struct pollfd polled = {.fd = events};
    return poll(&polled, 1, 0) == 1 && (polled.revents & POLLHUP) != 0;
}

int fl_open_tracepoint(int core, uint64_t tracepoint) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .config = tracepoint,
        .sample_type = PERF_SAMPLE_RAW,
        .sample_period = 1,
        .disabled = 1,
    };
    return open_events(&attributes, -1, core);
}

int fl_filter_events(int events, const char *expression) {
    return control(events, PERF_EVENT_IOC_SET_FILTER, (unsigned long)expression);
}

int fl_redirect_events(int events, int ring) {
    return control(events, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring);
}

int fl_start_events(int events) { return control(events, PERF_EVENT_IOC_ENABLE, 0); }
int fl_stop_events(int events) { return control(events, PERF_EVENT_IOC_DISABLE, 0); }

void *fl_map_ring(int events, size_t pages, int *error) {
    // The first page tells how far the others are filled.
    void *ring = mmap(NULL, (pages + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, events, 0);
    *error = ring == MAP_FAILED ? errno : 0;
    return ring == MAP_FAILED ? NULL : ring;
}

void fl_unmap_ring(void *ring, size_t pages) { munmap(ring, (pages + 1) * page_size); }

size_t fl_ring_content(void *ring, size_t pages) {
    struct perf_event_mmap_page *control = ring;
    uint64_t count = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE) - control->data_tail;
    const size_t size = pages * page_size;
    return count < size ? count : size;  // never more: the kernel stops when it is full
}

size_t fl_ring_place(void *ring, size_t pages) {
    const struct perf_event_mmap_page *control = ring;
    return control->data_tail % (pages * page_size);
}

void fl_release_ring(void *ring, size_t pages, size_t count) {
    struct perf_event_mmap_page *control = ring;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    uint64_t next = head - tail > pages * page_size ? head : tail + count;
    __atomic_store_n(&control->data_tail, next, __ATOMIC_RELEASE);
}
