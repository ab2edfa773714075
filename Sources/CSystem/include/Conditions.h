// What a child enters before it executes a program: namespaces, groups, and a filter that reports
// opened files.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fl_child_setting {
    const int *namespaces;  // entered by setns(2), in this order
    int namespace_count;
    const int *groups;  // cgroup.procs files, open for writing
    int group_count;
    const char *folder;  // the directory to be in afterwards; NULL: stay
    int leads_group;     // 1: the child leads a process group of its own
    int tells_opens;     // 1: the kernel reports each opened file to `listener`
    int listener;        // out: a seccomp listener, or -1
};

// For the forked child: makes only system calls. 0 or -errno.
int fl_enter_setting(struct fl_child_setting *setting);

// Sends an int over a socket, with a descriptor unless it is -1; and receives both. 0 or -errno.
int fl_send_number(int socket, int number, int descriptor);
int fl_receive_number(int socket, int *number, int *descriptor);

// The next file that a process behind `listener` opens or executes. The call continues as if it had
// not been intercepted. `*folder` is the directory descriptor that a relative path starts from
// (AT_FDCWD: the current one); `path` is cut at `size`. 1: there is one; 0: its path is unreadable;
// or -errno (-ENOENT: nothing is waiting, the caller was killed).
int fl_next_open(int listener, pid_t *tid, int *folder, char *path, size_t size);

// A file or folder that must appear at another place.
struct fl_bind {
    const char *source;
    const char *target;
};

struct fl_namespaces {
    // In: the wanted namespaces.
    int wants_network;
    int wants_router;  // a second network namespace, for the other end of a link
    const struct fl_bind *binds;
    int bind_count;  // more than 0: a mount namespace is wanted
    // Out: descriptors, or -1.
    int user;
    int network;
    int network_control;  // a NETLINK_ROUTE socket in `network`
    int router;
    int router_control;
    int mounts;
    // Out, on failure: the failed step (enum fl_namespace_step), and which bind.
    int failed_step;
    int failed_bind;
};

enum fl_namespace_step {
    fl_step_fork,
    fl_step_user,
    fl_step_map,
    fl_step_network,
    fl_step_mounts,
    fl_step_bind,
};

// Makes namespaces that live as long as the descriptors. If the caller may not make them, a user
// namespace with its own user comes first. 0 or -errno.
int fl_make_namespaces(struct fl_namespaces *namespaces);

// The type of an open file's file system, from statfs(2), or -errno.
int64_t fl_file_system_type(int descriptor);
// preadv2(2) with RWF_NOWAIT for one byte: 1: it is in the page cache; 0: it is not; or -errno.
int fl_is_byte_cached(int descriptor, int64_t offset);

int fl_has_children(void);   // 0: none, ended ones included; then we have no descendants
