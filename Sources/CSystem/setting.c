// What a child enters before it executes a program.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int fl_send_number(int socket, int number, int descriptor) {
    struct iovec part = {.iov_base = &number, .iov_len = sizeof number};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent == -1 && errno == EINTR);
    return sent == -1 ? -errno : 0;
}

int fl_receive_number(int socket, int *number, int *descriptor) {
    struct iovec part = {.iov_base = number, .iov_len = sizeof *number};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    *descriptor = -1;
    ssize_t got;
    do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (got == -1 && errno == EINTR);
    if (got == -1) return -errno;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    return got == (ssize_t)sizeof *number ? 0 : -ESRCH;
}

// MARK: Entering

// A listener that reports each call that opens or executes a file; or -errno.
static int listen_to_opens(void) {
#if defined(__x86_64__)
    const int notify = 6;  // the distance to the filter's last instruction
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, notify),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (listener == -1 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return listener == -1 ? -errno : (int)listener;
#else
    return -ENOSYS;
#endif
}

int fl_enter_setting(struct fl_child_setting *setting) {
    setting->listener = -1;
    if (setting->leads_group && setpgid(0, 0) != 0) return -errno;
    for (int i = 0; i < setting->group_count; i++)
        if (write(setting->groups[i], "0", 1) != 1) return -errno;
    for (int i = 0; i < setting->namespace_count; i++)
        if (setns(setting->namespaces[i], 0) != 0) return -errno;
    if (setting->folder && chdir(setting->folder) != 0) return -errno;
    if (!setting->tells_opens) return 0;
    const int listener = listen_to_opens();
    if (listener < 0) return listener;
    setting->listener = listener;
    return 0;
}

// MARK: Which files are opened

// Reads a process's string, up to `size` bytes; 0: it is unreadable.
static int read_string(pid_t tid, uint64_t address, char *text, size_t size) {
    const uint64_t page = 4096;
    size_t count = 0;
    while (count + 1 < size) {
        // The next page may not exist.
        size_t part = page - (address + count) % page;
        if (part > size - 1 - count) part = size - 1 - count;
        const struct iovec to = {text + count, part}, from = {(void *)(address + count), part};
        const ssize_t got = process_vm_readv(tid, &to, 1, &from, 1, 0);
        if (got <= 0) return 0;
        if (memchr(text + count, 0, (size_t)got)) return 1;
        count += (size_t)got;
    }
    text[count] = 0;
    return 1;
}

int fl_next_open(int listener, pid_t *tid, int *folder, char *path, size_t size) {
    // The kernel's structures may be larger than those at build time.
    union {
        struct seccomp_notif call;
        char room[512];
    } heard;
    union {
        struct seccomp_notif_resp answer;
        char room[512];
    } said;
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return -errno;
    if (sizes.seccomp_notif > sizeof heard || sizes.seccomp_notif_resp > sizeof said)
        return -EOVERFLOW;
    memset(&heard, 0, sizeof heard);
    memset(&said, 0, sizeof said);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &heard) != 0) return -errno;
    const struct seccomp_data *data = &heard.call.data;
    const int has_folder = data->nr != SYS_open && data->nr != SYS_execve;
    *tid = (pid_t)heard.call.pid;
    *folder = has_folder ? (int)data->args[0] : AT_FDCWD;
    const int is_read = read_string(*tid, data->args[has_folder ? 1 : 0], path, size);
    said.answer.id = heard.call.id;
    said.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &said) != 0) return -errno;
    return is_read;
}
