// The display relay's socket, from its creation to its removal.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"
#include "apart.h"
#include "display_relay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(const char *path, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int fl_display_connect(const char *path, int *descriptor) {
    struct sockaddr_un address;
    const int made = open_socket(path, &address);
    if (made < 0) return -errno;
    if (connect(made, (struct sockaddr *)&address, sizeof address) == 0) {
        *descriptor = made;
        return 0;
    }
    const int error = errno;
    close(made);
    return error == EINTR ? -EAGAIN : -error;
}

int fl_display_try(const char *path) {
    int descriptor;
    const int code = fl_display_connect(path, &descriptor);
    if (code == 0) close(descriptor);
    return code == -EAGAIN ? 0 : code;
}

// The folder that `path` is in.
static void folder_of(const char *path, char folder[108]) {
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
}

static void remove_both(const char *own) {
    char folder[108];
    folder_of(own, folder);
    unlink(own);
    rmdir(folder);
}

struct fl_display fl_display_none(void) {
    return (struct fl_display){.listener = -1, .program = -1, .server = -1};
}

int fl_display_name(const char *original, struct fl_display *display) {
    if (strlen(original) >= sizeof display->original) return -ENAMETOOLONG;
    strcpy(display->original, original);
    return 0;
}

int fl_display_listen(const char *folder, struct fl_display *display) {
    const int length = snprintf(display->own, sizeof display->own, "%s/firstlight-XXXXXX", folder);
    if (length < 0 || (size_t)length + sizeof "/wayland.link" > sizeof display->own) {
        display->own[0] = '\0';
        return -ENAMETOOLONG;
    }
    if (mkdtemp(display->own) == NULL) {
        display->own[0] = '\0';
        return -errno;
    }
    strcat(display->own, "/wayland");
    struct sockaddr_un address;
    int listener = open_socket(display->own, &address);
    if (listener >= 0) listener = fl_moved(listener);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, SOMAXCONN) == 0) {
        display->listener = listener;
        return 0;
    }
    const int error = errno;
    fl_close_if_open(listener);
    remove_both(display->own);
    display->own[0] = '\0';
    return -error;
}

void fl_display_abandon(const struct fl_display *display) {
    fl_close_if_open(display->listener);
    fl_close_if_open(display->program);
    fl_close_if_open(display->server);
    if (display->own[0] != '\0') remove_both(display->own);
}

int fl_display_link(const struct fl_display *display) {
    char link[sizeof display->own + 8];
    strcpy(link, display->own);
    strcat(link, ".link");
    unlink(link);
    if (symlink(display->original, link) != 0) return -errno;
    return rename(link, display->own) == 0 ? 0 : -errno;
}

int fl_display_take_over(int number, struct fl_display *display) {
    int domain = 0, kind = 0, pair[2];
    socklen_t size = sizeof domain;
    if (getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return -errno;
    size = sizeof kind;
    if (getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) return -errno;
    if (domain != AF_UNIX || kind != SOCK_STREAM) return -EPROTOTYPE;
    const int server = fcntl(number, F_DUPFD_CLOEXEC, 16);
    if (server < 0) return -errno;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        const int error = errno;
        close(server);
        return -error;
    }
    display->server = server;
    display->program = fl_moved(pair[0]);
    // The descriptor under this number is passed on, so an exec must not close it.
    const int code = dup2(pair[1], number);
    const int error = errno;
    if (pair[1] != number) close(pair[1]);
    return code < 0 ? -error : display->program < 0 ? -EMFILE : 0;
}

// MARK: Processes that may still want to connect

static int file_holds(int folder, const char *name, struct fl_search *search) {
    static unsigned char buffer[65536];
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    int is_found = 0;
    search->matched = 0;
    search->is_over = 0;
    ssize_t count;
    while (!is_found && (count = read(file, buffer, sizeof buffer)) > 0)
        is_found = fl_search_finds(search, buffer, (size_t)count);
    close(file);
    return is_found;
}

// getdents64(2): the C library's readdir allocates memory, and another thread may have held that
// lock.
static int is_in_an_environment(const char *text) {
    struct entry {
        uint64_t inode;
        int64_t offset;
        uint16_t length;
        uint8_t kind;
        char name[];
    };
    static char entries[32768] __attribute__((aligned(8)));
    static struct fl_search search;
    const int processes = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (processes < 0 || fl_search_begin(&search, text, strlen(text)) != 0) return 1;
    long count;
    int is_found = 0;
    while (!is_found && (count = syscall(SYS_getdents64, processes, entries, sizeof entries)) > 0)
        for (long start = 0; !is_found && start < count;) {
            const struct entry *entry = (const struct entry *)(entries + start);
            start += entry->length;
            if (entry->name[0] < '1' || entry->name[0] > '9') continue;
            char path[280];
            strcpy(path, entry->name);
            strcat(path, "/environ");
            is_found = file_holds(processes, path, &search);
        }
    close(processes);
    return is_found;
}

void fl_display_leave(const struct fl_display *display, int is_linked) {
    if (!is_in_an_environment(display->own)) remove_both(display->own);
    else if (!is_linked) (void)fl_display_link(display);
}

// MARK: The recorder's side

int fl_display_start(const struct fl_display *display, int *control) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return -errno;
    for (int side = 0; side < 2; side++) sockets[side] = fl_moved(sockets[side]);
    const struct fl_display_setting setting = {*display, sockets[1]};
    const int error = sockets[0] >= 0 && sockets[1] >= 0
                          ? fl_start_apart(fl_become_display_relay, &setting)
                          : -EMFILE;
    fl_close_if_open(sockets[1]);
    if (error != 0) {
        fl_close_if_open(sockets[0]);
        return error;
    }
    fl_close_if_open(display->listener);
    fl_close_if_open(display->program);
    fl_close_if_open(display->server);
    *control = sockets[0];
    return 0;
}

int fl_display_began(int control, pid_t program) {
    return send(control, &program, sizeof program, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof program
               ? 0
               : -errno;
}
