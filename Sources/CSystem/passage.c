#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Passage.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Room for a message's descriptors, and also for a sender's credentials.
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(FL_PASSAGE_DESCRIPTORS * sizeof(int)) + 64];
};

static void close_descriptors(struct fl_way *way) {
    for (int i = 0; i < way->count; i++) close(way->descriptors[i]);
    way->count = 0;
}

static void throw_away(struct fl_way *way) {
    close_descriptors(way);
    way->first = way->end = 0;
}

static int has_pending(const struct fl_way *way) { return way->first < way->end; }

static void take_descriptors(struct fl_way *way, struct msghdr *message) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t length = header->cmsg_len - CMSG_LEN(0);
        const size_t room = sizeof way->descriptors - (size_t)way->count * sizeof(int);
        const size_t taken = length < room ? length : room;
        memcpy(way->descriptors + way->count, CMSG_DATA(header), taken);
        way->count += (int32_t)(taken / sizeof(int));
    }
}

static size_t receive(struct fl_way *way, int from) {
    union control control;
    struct iovec part = {way->bytes, sizeof way->bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count;
    do count = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) return 0;
    if (count <= 0) {
        way->is_at_end = 1;
        return 0;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    way->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    take_descriptors(way, &message);
    way->first = 0;
    way->end = (size_t)count;
    return (size_t)count;
}

static ssize_t send_part(const struct fl_way *way, int to) {
    union control control;
    struct iovec part = {(void *)(way->bytes + way->first), way->end - way->first};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    const size_t length = (size_t)way->count * sizeof(int);
    if (way->count > 0) {
        memset(&control, 0, CMSG_SPACE(length));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(header), way->descriptors, length);
    }
    ssize_t sent;
    do sent = sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static void send_pending(struct fl_way *way, int to) {
    way->is_delayed = 0;
    if (way->is_broken) throw_away(way);
    while (has_pending(way)) {
        const ssize_t sent = send_part(way, to);
        if (sent >= 0) {
            // With the first byte, the descriptors belong to the other side.
            close_descriptors(way);
            way->first += (size_t)sent;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM) {
            way->is_delayed = 1;
            return;
        } else {
            way->is_broken = 1;
            throw_away(way);
        }
    }
}

short fl_passage_events(const struct fl_passage *passage, int side) {
    const struct fl_way *out = &passage->ways[side], *in = &passage->ways[!side];
    short events = 0;
    if (!has_pending(out) && !out->is_at_end) events |= POLLIN;
    if (has_pending(in) && !in->is_delayed) events |= POLLOUT;
    return events;
}

size_t fl_passage_move(struct fl_passage *passage, int side, int may_receive) {
    struct fl_way *way = &passage->ways[side];
    const int to = passage->ends[!side];
    size_t received = 0;
    send_pending(way, to);
    if (may_receive && !has_pending(way) && !way->is_at_end) {
        received = receive(way, passage->ends[side]);
        send_pending(way, to);
    }
    if (way->is_at_end && !has_pending(way) && !way->is_told) {
        way->is_told = 1;
        shutdown(to, SHUT_WR);
    }
    return received;
}

static int is_hung_up(int end) {
    struct pollfd entry = {.fd = end, .events = 0};
    return poll(&entry, 1, 0) > 0 && (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int fl_passage_is_over(const struct fl_passage *passage) {
    const int are_told[] = {passage->ways[0].is_told, passage->ways[1].is_told};
    if (are_told[0] && are_told[1]) return 1;
    // One side has closed its end, and the other has received everything: no process would receive
    // data on the way back.
    for (int side = 0; side < 2; side++)
        if (are_told[side] && is_hung_up(passage->ends[side])) return 1;
    return 0;
}

void fl_passage_close(struct fl_passage *passage) {
    for (int side = 0; side < 2; side++) {
        throw_away(&passage->ways[side]);
        if (passage->ends[side] >= 0) close(passage->ends[side]);
        passage->ends[side] = -1;
    }
}
