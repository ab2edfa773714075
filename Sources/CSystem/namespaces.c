// Namespaces that live as long as a process holds them open.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// The child's messages to its parent. The first two carry a descriptor; after the last come the
// step, the bind and the error.
enum { kind_user, kind_wanted, kind_map, kind_done, kind_failed };

static int fail(int socket, int step, int bind, int error) {
    fl_send_number(socket, kind_failed, -1);
    fl_send_number(socket, step, -1);
    fl_send_number(socket, bind, -1);
    fl_send_number(socket, error, -1);
    return 1;
}

static int send_namespace(int socket, const char *name, int kind) {
    const int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    const int result = fl_send_number(socket, kind, descriptor);
    close(descriptor);
    return result;
}

// A network namespace, and a socket to make links in it.
static int send_network(int socket_to_parent) {
    if (unshare(CLONE_NEWNET) != 0) return -errno;
    int result = send_namespace(socket_to_parent, "/proc/self/ns/net", kind_wanted);
    if (result != 0) return result;
    const int control = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (control < 0) return -errno;
    result = fl_send_number(socket_to_parent, kind_wanted, control);
    close(control);
    return result;
}

// Whether the child needs a user namespace to be allowed the rest.
static int needs_user(const struct fl_namespaces *wanted) {
    return unshare(wanted->bind_count > 0 ? CLONE_NEWNS : CLONE_NEWNET) != 0;
}

static int child(struct fl_namespaces *wanted, int parent) {
    int result, go, none;
    // Our parent may have ended already.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (needs_user(wanted)) {
        if (unshare(CLONE_NEWUSER) != 0) return fail(parent, fl_step_user, 0, errno);
        if ((result = send_namespace(parent, "/proc/self/ns/user", kind_user)) != 0)
            return fail(parent, fl_step_user, 0, -result);
        // Only the parent may map its user in the namespace.
        fl_send_number(parent, kind_map, -1);
        if (fl_receive_number(parent, &go, &none) != 0 || go != 0) return 1;
        if (wanted->bind_count > 0 && unshare(CLONE_NEWNS) != 0)
            return fail(parent, fl_step_mounts, 0, errno);
    }
    if (wanted->wants_network && (result = send_network(parent)) != 0)
        return fail(parent, fl_step_network, 0, -result);
    if (wanted->wants_router && (result = send_network(parent)) != 0)
        return fail(parent, fl_step_network, 0, -result);
    if (wanted->bind_count > 0) {
        // Later mounts outside are visible inside, but not the reverse.
        if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
            return fail(parent, fl_step_mounts, 0, errno);
        for (int i = 0; i < wanted->bind_count; i++)
            if (mount(wanted->binds[i].source, wanted->binds[i].target, NULL, MS_BIND, NULL) != 0)
                return fail(parent, fl_step_bind, i, errno);
        if ((result = send_namespace(parent, "/proc/self/ns/mnt", kind_wanted)) != 0)
            return fail(parent, fl_step_mounts, 0, -result);
    }
    fl_send_number(parent, kind_done, -1);
    return 0;
}

// MARK: The parent's side

static int write_text(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    const ssize_t count = write(file, text, strlen(text));
    const int error = errno;
    close(file);
    return count < 0 ? -error : 0;
}

static int map_user(pid_t pid) {
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1\n", geteuid(), geteuid());
    snprintf(groups, sizeof groups, "%u %u 1\n", getegid(), getegid());
    const int result = write_text(pid, "uid_map", users);
    if (result != 0) return result;
    // Without this, an ordinary user may not map a group.
    const int denied = write_text(pid, "setgroups", "deny");
    if (denied != 0) return denied;
    return write_text(pid, "gid_map", groups);
}

static int receive_failure(struct fl_namespaces *made, int socket) {
    int error = EPROTO, none;
    fl_receive_number(socket, &made->failed_step, &none);
    fl_receive_number(socket, &made->failed_bind, &none);
    fl_receive_number(socket, &error, &none);
    return -error;
}

// Takes the descriptors in the child's order.
static int receive_all(struct fl_namespaces *made, int socket, pid_t pid) {
    int *places[6];
    int count = 0, next = 0;
    if (made->wants_network) {
        places[count++] = &made->network;
        places[count++] = &made->network_control;
    }
    if (made->wants_router) {
        places[count++] = &made->router;
        places[count++] = &made->router_control;
    }
    if (made->bind_count > 0) places[count++] = &made->mounts;
    for (;;) {
        int kind, descriptor;
        int result = fl_receive_number(socket, &kind, &descriptor);
        if (result != 0) return result;
        switch (kind) {
        case kind_user: made->user = descriptor; break;
        case kind_wanted:
            if (next == count) return -EPROTO;
            *places[next++] = descriptor;
            break;
        case kind_map:
            result = map_user(pid);
            if (result != 0) made->failed_step = fl_step_map;
            fl_send_number(socket, result, -1);
            if (result != 0) return result;
            break;
        case kind_done: return next == count ? 0 : -EPROTO;
        default: return receive_failure(made, socket);
        }
    }
}

static void close_all(struct fl_namespaces *made) {
    int *all[] = {&made->user,   &made->network,        &made->network_control,
                  &made->router, &made->router_control, &made->mounts};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0) close(*all[i]);
        *all[i] = -1;
    }
}

int fl_make_namespaces(struct fl_namespaces *made) {
    made->user = made->network = made->network_control = -1;
    made->router = made->router_control = made->mounts = -1;
    made->failed_step = fl_step_fork;
    made->failed_bind = 0;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(child(made, ends[1]));
    }
    const int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -error;
    }
    const int result = receive_all(made, ends[0], pid);
    close(ends[0]);
    int status;
    while (waitpid(pid, &status, __WALL) == -1 && errno == EINTR) continue;
    if (result != 0) close_all(made);
    return result;
}
