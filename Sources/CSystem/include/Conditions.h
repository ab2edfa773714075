// What a child enters before it executes a program: namespaces, groups, and a filter that tells which
// files are opened.
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
    int tells_opens;     // 1: the kernel tells of each file that is opened; `listener` hears it
    int listener;        // out: a seccomp listener, or -1
};

// For the forked child: calls nothing but the kernel. 0 or -errno.
int fl_enter_setting(struct fl_child_setting *setting);

// Sends an int over a socket, with a descriptor unless that is -1; and receives both. 0 or -errno.
int fl_send_number(int socket, int number, int descriptor);
int fl_receive_number(int socket, int *number, int *descriptor);

// The next file that a process behind `listener` opens or executes. The call goes on as if nobody had
// asked. `*folder` is the directory descriptor that a relative path starts from (AT_FDCWD: the
// current one), `path` is cut at `size`. 1: there is one; 0: its path cannot be read; or -errno
// (-ENOENT: nothing is waiting, the caller was killed).
int fl_next_open(int listener, pid_t *tid, int *folder, char *path, size_t size);

// A file or folder that is to be seen at another place.
struct fl_bind {
    const char *source;
    const char *target;
};

struct fl_namespaces {
    // In: what is wanted.
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
    // Out, where it fails: the step that did (enum fl_namespace_step), and which bind.
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

// Makes namespaces that live as long as the descriptors. Where the caller may not make them, a user
// namespace in which its own user is mapped comes first. 0 or -errno.
int fl_make_namespaces(struct fl_namespaces *namespaces);

// The type that statfs(2) tells of the file system an open file is on, or -errno.
int64_t fl_file_system_type(int descriptor);
// preadv2(2) with RWF_NOWAIT of one byte: 1: the page cache has it; 0: it does not; or -errno.
int fl_is_byte_cached(int descriptor, int64_t offset);

int fl_has_children(void);   // 0: none, ended ones included; nothing descends from us then
