/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

void
fd_close (int *fd)
{
  if (*fd >= 0) {
    int saved = errno;
    close (*fd);
    errno = saved;
    *fd = -1;
  }
}

void
fd_unlock (int *fd)
{
  int saved = errno;
  if (*fd >= 0)
    flock (*fd, LOCK_UN);
  errno = saved;
  fd_close (fd);
}

int
fd_steal (int *fd)
{
  int given = *fd;
  *fd = -1;
  return given;
}

DIR *
fd_list (int directory_fd)
{
  int fd = openat (directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir (fd);
  if (!list)
    fd_close (&fd);
  return list;
}

const char *
fd_next_name (DIR *list)
{
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir (list);
    if (!entry)
      return NULL;
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      return entry->d_name;
  }
}

int
fd_rename_new (int directory_fd, const char *from, const char *name)
{
  if (renameat2 (directory_fd, from, directory_fd, name, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -errno;
  /* A file system that cannot say so, such as NFS: of files a second link does the same. */
  if (linkat (directory_fd, from, directory_fd, name, 0) == 0)
    return unlinkat (directory_fd, from, 0) < 0 ? -errno : 0;
  if (errno == EEXIST)
    return -EEXIST;
  struct stat st;
  if (fstatat (directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    return -EEXIST;
  if (errno != ENOENT)
    return -errno;
  return renameat (directory_fd, from, directory_fd, name) < 0 ? -errno : 0;
}

/* A descriptor that does not block is waited for, so that "whole" holds for it as well. Returns 0 when the
 * caller shall try again. */
static int
fd_wait_after (int err, int fd, short events)
{
  if (err == EINTR)
    return 0;
  if (err != EAGAIN)
    return -err;
  struct pollfd ready = {.fd = fd, .events = events};
  if (poll (&ready, 1, -1) < 0 && errno != EINTR)
    return -errno;
  return 0;
}

int
fd_read_all (int fd, void *data, size_t size)
{
  char *at = data;
  while (size > 0) {
    ssize_t got = read (fd, at, size);
    if (got == 0)
      return -EPIPE;
    if (got < 0) {
      int r = fd_wait_after (errno, fd, POLLIN);
      if (r < 0)
        return r;
      continue;
    }
    at += got;
    size -= (size_t)got;
  }
  return 0;
}

int
fd_write_all (int fd, const void *data, size_t size)
{
  const char *at = data;
  int is_socket = 1;
  while (size > 0) {
    ssize_t put = is_socket ? send (fd, at, size, MSG_NOSIGNAL) : write (fd, at, size);
    if (put < 0) {
      if (is_socket && errno == ENOTSOCK) {
        is_socket = 0;
        continue;
      }
      int r = fd_wait_after (errno, fd, POLLOUT);
      if (r < 0)
        return r;
      continue;
    }
    at += put;
    size -= (size_t)put;
  }
  return 0;
}

int
fd_memory (const char *name, const void *data, size_t size)
{
  autoclose int fd = memfd_create (name, MFD_CLOEXEC);
  int r = fd < 0 ? -errno : fd_write_all (fd, data, size);
  if (r == 0 && lseek (fd, 0, SEEK_SET) < 0)
    r = -errno;
  return r < 0 ? r : fd_steal (&fd);
}

int
fd_send_parts (int socket, struct iovec *part, size_t parts, const int *fds, size_t count)
{
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE (sizeof (int) * FD_MESSAGE_MAX)];
  } control;
  if (count > FD_MESSAGE_MAX)
    return -EINVAL;

  struct msghdr message = {.msg_iov = part, .msg_iovlen = parts};
  if (count > 0) {
    memset (&control, 0, CMSG_SPACE (sizeof (int) * count));
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE (sizeof (int) * count);
    struct cmsghdr *header = CMSG_FIRSTHDR (&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN (sizeof (int) * count);
    memcpy (CMSG_DATA (header), fds, sizeof (int) * count);
  }

  for (;;) {
    ssize_t put = sendmsg (socket, &message, MSG_NOSIGNAL);
    if (put < 0) {
      int r = fd_wait_after (errno, socket, POLLOUT);
      if (r < 0)
        return r;
      continue;
    }
    /* The descriptors went with the first byte: what is left goes without them. */
    message.msg_control = NULL;
    message.msg_controllen = 0;
    while (message.msg_iovlen > 0 && (size_t)put >= message.msg_iov->iov_len) {
      put -= (ssize_t)message.msg_iov->iov_len;
      message.msg_iov++;
      message.msg_iovlen--;
    }
    if (message.msg_iovlen == 0)
      return 0;
    message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + put;
    message.msg_iov->iov_len -= (size_t)put;
  }
}

int
fd_send (int socket, const void *data, size_t size, const int *fds, size_t count)
{
  struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
  return fd_send_parts (socket, &part, 1, fds, count);
}

ssize_t
fd_receive_flags (int socket, void *data, size_t size, int flags, int *fds, size_t most, size_t *ret_count)
{
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE (sizeof (int) * FD_MESSAGE_MAX)];
  } control;
  struct iovec part = {.iov_base = data, .iov_len = size};
  struct msghdr message = {
      .msg_iov = &part,
      .msg_iovlen = 1,
      .msg_control = control.bytes,
      .msg_controllen = sizeof control,
  };

  ssize_t got;
  do
    got = recvmsg (socket, &message, MSG_CMSG_CLOEXEC | flags);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return -errno;

  size_t count = 0;
  int too_many = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR (&message); header; header = CMSG_NXTHDR (&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
      continue;
    size_t here = (header->cmsg_len - CMSG_LEN (0)) / sizeof (int);
    for (size_t i = 0; i < here; i++) {
      int fd;
      memcpy (&fd, CMSG_DATA (header) + i * sizeof fd, sizeof fd);
      if (count < most) {
        fds[count++] = fd;
      } else {
        close (fd);
        too_many = 1;
      }
    }
  }
  if (too_many) {
    while (count > 0)
      close (fds[--count]);
    return -EMSGSIZE;
  }
  if (ret_count)
    *ret_count = count;
  return got;
}

ssize_t
fd_receive (int socket, void *data, size_t size, int *fds, size_t most, size_t *ret_count)
{
  return fd_receive_flags (socket, data, size, 0, fds, most, ret_count);
}
