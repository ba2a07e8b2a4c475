/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: released by scope, sent over sockets, read and written whole. */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's own bound (SCM_MAX_FD). */
#define FD_MESSAGE_MAX 253

/* The highest number that one can have; gVisor's close_range knows no higher one. */
#define FD_LAST ((unsigned int)INT_MAX)

/* Closes *FD when it is open and sets it to -1; errno is kept. */
void fd_close (int *fd);

/* The same, and gives its lock (flock) up at once: a child that another thread is starting has a copy until
 * exec, which would keep it. */
void fd_unlock (int *fd);

/* `autoclose int fd = open (...)`: closed at the end of its scope unless given away with fd_steal. */
#define autoclose __attribute__ ((cleanup (fd_close)))

/* Gives *FD away: returns it and leaves -1. */
int fd_steal (int *fd);

/* Reads or writes exactly SIZE bytes, going on after EINTR, EAGAIN and short counts. Both return 0 or a
 * negative errno; an end of file before SIZE bytes is -EPIPE. fd_write_all never raises SIGPIPE on a socket.
 */
int fd_read_all (int fd, void *data, size_t size);
int fd_write_all (int fd, const void *data, size_t size);

/* A file in memory that has SIZE bytes of DATA, at its beginning; NAME is seen in /proc. The caller's, or a
 * negative errno. */
int fd_memory (const char *name, const void *data, size_t size);

/* The names in the directory that DIRECTORY_FD (O_PATH will do) refers to, from the first on; for closedir().
 * NULL with errno. */
DIR *fd_list (int directory_fd);

/* The next name but "." and "..", LIST's until the next call. NULL at the end, with errno 0, and where the
 * directory cannot be read on, with errno: not all names were seen then. */
const char *fd_next_name (DIR *list);

/* Renames FROM to NAME, both relative to DIRECTORY_FD, which must not be there. Returns 0 or a negative
 * errno; -EEXIST: it is. */
int fd_rename_new (int directory_fd, const char *from, const char *name);

/* Sends SIZE bytes (at least one) and COUNT descriptors as one message. Returns 0 or a negative errno. The
 * caller keeps its descriptors. On a stream socket what sendmsg left over is sent after the descriptors. */
int fd_send (int socket, const void *data, size_t size, const int *fds, size_t count);

/* The same for bytes that lie in PARTS pieces; the pieces are used up. */
int fd_send_parts (int socket, struct iovec *part, size_t parts, const int *fds, size_t count);

/* Receives at most SIZE bytes with at most MOST descriptors, all of them CLOEXEC; descriptors beyond MOST are
 * closed and give -EMSGSIZE, and so does a cut packet. FLAGS are those of recvmsg (MSG_DONTWAIT) or 0.
 * Returns the number of bytes, 0 at the end of the stream, or a negative errno; *RET_COUNT descriptors are in
 * FDS and are the caller's. */
ssize_t fd_receive_flags (int socket, void *data, size_t size, int flags, int *fds, size_t most,
                          size_t *ret_count);
ssize_t fd_receive (int socket, void *data, size_t size, int *fds, size_t most, size_t *ret_count);
