/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/fd.h"

static int64_t
frame_now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until SOCKET has something to read or to say. DEADLINE in ms of the monotonic clock, or -1. */
static int
wait_readable (int socket, int64_t deadline)
{
  for (;;) {
    int left = -1;
    if (deadline >= 0) {
      int64_t ms = deadline - frame_now_ms ();
      left = ms > 0 ? (int)ms : 0;
    }
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    int n = poll (&ready, 1, left);
    if (n > 0)
      return 0;
    if (n == 0)
      return -ETIMEDOUT;
    if (errno != EINTR)
      return -errno;
  }
}

/* Reads exactly SIZE bytes. Descriptors that ride on them are not asked for, so the kernel closes them. */
static int
receive_whole (int socket, void *data, size_t size, int64_t deadline)
{
  char *at = data;
  while (size > 0) {
    ssize_t got = recv (socket, at, size, MSG_DONTWAIT);
    if (got == 0)
      return -EPIPE;
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR)
        return -errno;
      int r = wait_readable (socket, deadline);
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
frame_send (int socket, uint32_t kind, const void *data, size_t length, const int *fds, size_t count)
{
  if (length > UINT32_MAX)
    return -EMSGSIZE;
  struct frame_header header = {.kind = kind, .length = (uint32_t)length};
  struct iovec part[2] = {
      {.iov_base = &header, .iov_len = sizeof header},
      {.iov_base = (void *)(uintptr_t)data, .iov_len = length},
  };
  return fd_send_parts (socket, part, length > 0 ? 2 : 1, fds, count);
}

int
frame_receive (int socket, size_t max, int timeout_ms, struct frame_header *ret_header, char **ret_data,
               int *fds, size_t most, size_t *ret_count)
{
  int64_t deadline = timeout_ms < 0 ? -1 : frame_now_ms () + timeout_ms;
  struct frame_header header;
  size_t count = 0;
  char *data = NULL;
  int r;

  ssize_t got;
  for (;;) {
    got = fd_receive_flags (socket, &header, sizeof header, MSG_DONTWAIT, fds, most, &count);
    if (got != -EAGAIN)
      break;
    r = wait_readable (socket, deadline);
    if (r < 0)
      return r;
  }
  if (got < 0)
    return (int)got;
  if (got == 0) {
    r = -EPIPE;
    goto fail;
  }
  r = receive_whole (socket, (char *)&header + got, sizeof header - (size_t)got, deadline);
  if (r < 0)
    goto fail;
  if (header.length > max) {
    r = -EMSGSIZE;
    goto fail;
  }
  data = malloc ((size_t)header.length + 1);
  if (!data) {
    r = -ENOMEM;
    goto fail;
  }
  r = receive_whole (socket, data, header.length, deadline);
  if (r < 0)
    goto fail;

  data[header.length] = '\0';
  *ret_header = header;
  *ret_data = data;
  if (ret_count)
    *ret_count = count;
  return 0;

fail:
  free (data);
  while (count > 0)
    close (fds[--count]);
  return r;
}
