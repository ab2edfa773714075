#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "ProcessEvents.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The offsets used by ThreadCosts.swift and ProcessEvent.swift. Later kernels only append.
_Static_assert(offsetof(struct taskstats, version) == 0, "version");
_Static_assert(TASKSTATS_VERSION == 15 || offsetof(struct taskstats, cpu_run_virtual_total) == 72, "CPU time");
_Static_assert(TASKSTATS_VERSION == 15 || offsetof(struct taskstats, ac_minflt) == 168, "minor faults");
_Static_assert(TASKSTATS_VERSION == 15 || offsetof(struct taskstats, ac_majflt) == 176, "major faults");
_Static_assert(TASKSTATS_VERSION == 15 || offsetof(struct taskstats, read_bytes) == 248, "bytes read");
_Static_assert(sizeof(struct nlmsghdr) == 16 && sizeof(struct cn_msg) == 20, "headers");
_Static_assert(offsetof(struct proc_event, timestamp_ns) == 8, "time");
_Static_assert(offsetof(struct proc_event, event_data) == 16, "data");

static int open_kernel_socket(int protocol, uint32_t groups, int receive_bytes) {
    const int result = socket(
        AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (result < 0) return -errno;
    const struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(result, (const struct sockaddr *)&own, sizeof own) != 0) {
        const int error = errno;
        close(result);
        return -error;
    }
    // Beyond the general limit, which needs a privilege; otherwise up to it.
    if (setsockopt(result, SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes, sizeof receive_bytes) != 0)
        setsockopt(result, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    return result;
}

static int send_all(int target, const void *bytes, size_t length) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do
        sent = sendto(target, bytes, length, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

// Lets only forks, execs, ends and the kernel's answer through. Servers name their threads for each
// task, and would wake us a hundred times as often.
static int filter_events(int target) {
    // A filter loads values in network order.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NLMSG_HDRLEN + sizeof(struct cn_msg)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl((uint32_t)PROC_EVENT_EXIT), 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    return setsockopt(target, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0
               ? 0 : -errno;
}

int fl_open_process_events(int receive_bytes) {
    const int result = open_kernel_socket(NETLINK_CONNECTOR, CN_IDX_PROC, receive_bytes);
    if (result < 0) return result;
    // Without the filter all events come, which is only slower.
    filter_events(result);
    const enum proc_cn_mcast_op operation = PROC_CN_MCAST_LISTEN;
    const struct cn_msg message = {
        .id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof operation};
    const struct nlmsghdr header = {
        .nlmsg_len = NLMSG_LENGTH(sizeof message + sizeof operation), .nlmsg_type = NLMSG_DONE};
    char request[NLMSG_LENGTH(sizeof message + sizeof operation)];
    memcpy(request, &header, sizeof header);
    memcpy(request + NLMSG_HDRLEN, &message, sizeof message);
    memcpy(request + NLMSG_HDRLEN + sizeof message, &operation, sizeof operation);
    const int error = send_all(result, request, sizeof request);
    if (error == 0) return result;
    close(result);
    return error;
}

// A generic netlink request with one attribute.
static int ask(int target, uint16_t type, uint8_t command, uint16_t attribute, const char *text) {
    struct {
        struct nlmsghdr header;
        struct genlmsghdr general;
        struct nlattr attribute;
        char text[64];
    } request = {
        .header = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .general = {.cmd = command, .version = 1},
        .attribute = {.nla_len = (uint16_t)(NLA_HDRLEN + strlen(text) + 1), .nla_type = attribute},
    };
    snprintf(request.text, sizeof request.text, "%s", text);
    request.header.nlmsg_len =
        NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(request.attribute.nla_len);
    return send_all(target, &request, request.header.nlmsg_len);
}

// Takes the answers to one request, which the kernel sends before the request returns. The family's
// number if it is among them, 0, or -errno.
static int take_answers(int source) {
    int family = 0, is_answered = 0;
    _Alignas(struct nlmsghdr) char buffer[4096];
    while (!is_answered) {
        const ssize_t length = fl_read_kernel_message(source, buffer, sizeof buffer);
        if (length < 0) return (int)length;
        if (length == 0) return -EPROTO;
        size_t left = (size_t)length;
        for (struct nlmsghdr *header = (void *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_ERROR &&
                header->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
                const int error = ((struct nlmsgerr *)NLMSG_DATA(header))->error;
                if (error != 0) return error;
                is_answered = 1;
                continue;
            }
            if (header->nlmsg_type != GENL_ID_CTRL ||
                header->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
                continue;
            size_t rest = header->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
            const char *place = (const char *)NLMSG_DATA(header) + GENL_HDRLEN;
            while (rest >= NLA_HDRLEN) {
                const struct nlattr *attribute = (const void *)place;
                if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > rest) break;
                if (attribute->nla_type == CTRL_ATTR_FAMILY_ID &&
                    attribute->nla_len >= NLA_HDRLEN + sizeof(uint16_t))
                    family = *(const uint16_t *)(place + NLA_HDRLEN);
                const size_t step = NLA_ALIGN(attribute->nla_len);
                if (step > rest) break;
                place += step;
                rest -= step;
            }
        }
    }
    return family;
}

static int ask_for_costs(int target) {
    int result = ask(target, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                     TASKSTATS_GENL_NAME);
    if (result < 0) return result;
    const int family = take_answers(target);
    if (family <= 0) return family < 0 ? family : -ENOENT;
    char cores[32];
    snprintf(cores, sizeof cores, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
    result = ask(target, (uint16_t)family, TASKSTATS_CMD_GET,
                 TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cores);
    if (result < 0) return result;
    result = take_answers(target);
    return result < 0 ? result : 0;
}

int fl_open_thread_costs(int receive_bytes) {
    const int result = open_kernel_socket(NETLINK_GENERIC, 0, receive_bytes);
    if (result < 0) return result;
    const int error = ask_for_costs(result);
    if (error == 0) return result;
    close(result);
    return error;
}

ssize_t fl_read_kernel_message(int source, void *buffer, size_t capacity) {
    for (;;) {
        struct sockaddr_nl sender = {.nl_pid = 1};
        socklen_t size = sizeof sender;
        const ssize_t length = recvfrom(
            source, buffer, capacity, 0, (struct sockaddr *)&sender, &size);
        if (length < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
        }
        // Any process may send to a netlink socket.
        if (length > 0 && size >= sizeof sender && sender.nl_pid == 0) return length;
    }
}

int64_t fl_count_drops(int source) {
    uint32_t counts[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof counts;
    if (getsockopt(source, SOL_SOCKET, SO_MEMINFO, counts, &size) != 0) return -errno;
    return counts[SK_MEMINFO_DROPS];
}

int fl_open_signals(const sigset_t *set) {
    const int result = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
    return result < 0 ? -errno : result;
}

int fl_read_signal(int descriptor) {
    struct signalfd_siginfo info;
    ssize_t length;
    do
        length = read(descriptor, &info, sizeof info);
    while (length < 0 && errno == EINTR);
    return length == sizeof info ? (int)info.ssi_signo : 0;
}

void fl_await_descriptors(const int descriptors[], size_t count, int64_t nanoseconds) {
    struct pollfd entries[8];
    if (count > 8) count = 8;
    for (size_t index = 0; index < count; index++)
        entries[index] = (struct pollfd){.fd = descriptors[index], .events = POLLIN};
    const struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    ppoll(entries, count, nanoseconds < 0 ? NULL : &limit, NULL);
}
