/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on a stream socket: a kind, a length and that many bytes, with descriptors beside the header. Used
 * between the daemon and a sandbox (runner/wire.h) and on the local socket (interfaces/socket/protocol.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct frame_header {
  uint32_t kind;
  uint32_t length; /* bytes that follow */
};

/* Sends a frame with COUNT descriptors. Blocks until all of it is taken. Returns 0 or a negative errno. */
int frame_send (int socket, uint32_t kind, const void *data, size_t length, const int *fds, size_t count);

/* Receives a frame whose length is at most MAX bytes (a longer one is -EMSGSIZE and nothing more may be read
 * from the socket). *RET_DATA is allocated with malloc, one zero byte follows it, and the caller frees it.
 * Descriptors that came with the frame, at most MOST, are put into FDS and are the caller's; FDS may be NULL
 * when MOST is 0. Blocks, at most TIMEOUT_MS for the whole frame (-1: for ever; -ETIMEDOUT). Returns 0,
 * -EPIPE at the end of the stream, or another negative errno, in which case nothing is left to free or close.
 */
int frame_receive (int socket, size_t max, int timeout_ms, struct frame_header *ret_header, char **ret_data,
                   int *fds, size_t most, size_t *ret_count);
