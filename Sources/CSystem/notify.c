#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Notify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int fl_notify_open(char *name, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address.sun_family;  // a name of the kernel's choice, see unix(7)
    const int on = 1;
    int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return -errno;
    if (setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(socket_, (struct sockaddr *)&address, length) != 0)
        goto failed;
    length = sizeof address;
    if (getsockname(socket_, (struct sockaddr *)&address, &length) != 0) goto failed;
    const size_t count = length - offsetof(struct sockaddr_un, sun_path);
    if (count < 2 || count + 1 > size) {
        errno = ENAMETOOLONG;
        goto failed;
    }
    memcpy(name, address.sun_path, count);
    name[0] = '@';
    name[count] = '\0';
    return socket_;
failed:;
    const int error = errno;
    close(socket_);
    return -error;
}

int fl_notify_open_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int on = 1;
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    const int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return -errno;
    if (setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
        bind(socket_, (struct sockaddr *)&address, sizeof address) == 0 &&
        chmod(path, 0666) == 0)
        return socket_;
    const int error = errno;
    close(socket_);
    return -error;
}

ssize_t fl_notify_receive(
    int socket_, void *buffer, size_t size, struct fl_notification *notification) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) +
                   CMSG_SPACE(sizeof notification->descriptors)];
    } control;
    struct iovec part = {buffer, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count;
    do count = recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    *notification = (struct fl_notification){.is_cut = (message.msg_flags & MSG_TRUNC) != 0};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET) continue;
        const size_t length = header->cmsg_len - CMSG_LEN(0);
        if (header->cmsg_type == SCM_CREDENTIALS && length >= sizeof(struct ucred)) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(header), sizeof sender);
            notification->pid = sender.pid;
            notification->uid = sender.uid;
        } else if (header->cmsg_type == SCM_RIGHTS &&
                   length <= sizeof notification->descriptors) {
            notification->count = (int)(length / sizeof(int));
            memcpy(notification->descriptors, CMSG_DATA(header), length);
        }
    }
    return count;
}

int fl_notify_send(const char *name, const void *text, size_t length, const int *descriptors,
                   int count, int limit_ms) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = strlen(name);
    if (size < 2 || size >= sizeof address.sun_path || count < 0 || count > 253) return -EINVAL;
    memcpy(address.sun_path, name, size);
    if (name[0] == '@') address.sun_path[0] = '\0';
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(253 * sizeof(int))];
    } control;
    struct iovec part = {(void *)text, length};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size),
        .msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, (size_t)count * sizeof(int));
    }
    int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return -errno;
    const struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
    if (limit_ms > 0) setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ssize_t sent;
    do sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    const int error = errno;
    close(socket_);
    return sent < 0 ? -error : 0;
}
