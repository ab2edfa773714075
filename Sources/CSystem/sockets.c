#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int fl_diagnosis_open(void) {
    int result = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return result < 0 ? -errno : result;
}

enum { listening = 10 };  // TCP_LISTEN of the kernel's tcp_states.h, also in the Unix domain

static ssize_t ask(int diagnosis, enum fl_socket_family family) {
    struct nlmsghdr header = {
        .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP};
    if (family == fl_unix) {
        struct {
            struct nlmsghdr header;
            struct unix_diag_req request;
        } query = {header, {.sdiag_family = AF_UNIX, .udiag_states = 1 << listening}};
        query.header.nlmsg_len = sizeof query;
        return send(diagnosis, &query, sizeof query, 0);
    }
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } query = {header, {.sdiag_family = family == fl_tcp ? AF_INET : AF_INET6,
                        .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1 << listening}};
    query.header.nlmsg_len = sizeof query;
    return send(diagnosis, &query, sizeof query, 0);
}

static struct fl_listener listener(const void *data, enum fl_socket_family family) {
    if (family == fl_unix)
        return (struct fl_listener){.inode = ((const struct unix_diag_msg *)data)->udiag_ino};
    const struct inet_diag_msg *message = data;
    return (struct fl_listener){message->idiag_inode, ntohs(message->id.idiag_sport)};
}

int fl_listeners(int diagnosis, enum fl_socket_family family, struct fl_listener *found,
                 int capacity) {
    const size_t least =
        family == fl_unix ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
    if (ask(diagnosis, family) < 0) return -errno;
    int count = 0;
    while (1) {
        _Alignas(struct nlmsghdr) char buffer[16384];
        ssize_t got = recv(diagnosis, buffer, sizeof buffer, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? -errno : -EPIPE;
        size_t left = (size_t)got;
        for (struct nlmsghdr *header = (void *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_DONE) return count;
            if (header->nlmsg_type == NLMSG_ERROR) return -EOPNOTSUPP;
            if (header->nlmsg_len < NLMSG_LENGTH(least)) continue;
            if (count < capacity) found[count] = listener(NLMSG_DATA(header), family);
            count++;
        }
    }
}

int fl_socket_family(const char *path) {
    char name[32];
    ssize_t length = getxattr(path, "system.sockprotoname", name, sizeof name - 1);
    if (length <= 0) return -1;
    name[length] = '\0';
    if (strcmp(name, "TCP") == 0 || strcmp(name, "MPTCP") == 0) return fl_tcp;
    if (strcmp(name, "TCPv6") == 0 || strcmp(name, "MPTCPv6") == 0) return fl_tcp6;
    return strncmp(name, "UNIX", 4) == 0 ? fl_unix : -1;
}

static uint32_t size_of(int result, socklen_t size, size_t limit) {
    return result != 0 ? 0 : size < limit ? size : (uint32_t)limit;
}

int fl_socket_ends(int pid, int descriptor, struct fl_socket_ends *ends) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) return -errno;
    int copy = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    int problem = copy < 0 ? -errno : 0;
    close(process);
    if (copy < 0) return problem;
    socklen_t size = sizeof ends->is_listening;
    ends->is_listening = 0;
    if (getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &ends->is_listening, &size) != 0)
        problem = -errno;
    size = sizeof ends->local;
    ends->local_size = size_of(getsockname(copy, (struct sockaddr *)ends->local, &size), size,
                               sizeof ends->local);
    size = sizeof ends->peer;
    ends->peer_size =
        size_of(getpeername(copy, (struct sockaddr *)ends->peer, &size), size, sizeof ends->peer);
    close(copy);
    return problem;
}

int fl_is_pipe(const char *path) {
    struct statx status;
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &status) == 0 &&
           S_ISFIFO(status.stx_mode);
}
