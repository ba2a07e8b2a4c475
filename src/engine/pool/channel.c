/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on a sandbox's socket, without blocking. */
#include "engine/pool/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"

/* The first step of a frame's buffer, and the largest one: a sandbox gets memory for what it sends, not what
 * it announces. */
#define IN_FIRST_BYTES ((gsize)4096)
#define IN_STEP_BYTES  ((gsize)1 << 20)

void
channel_init (struct channel *channel, int socket_fd)
{
  *channel = (struct channel){.socket_fd = socket_fd, .out_fd = -1, .in_fd = -1};
}

void
channel_clear (struct channel *channel)
{
  g_clear_pointer (&channel->out, g_free);
  g_clear_pointer (&channel->in, g_free);
  fd_close (&channel->out_fd);
  fd_close (&channel->in_fd);
}

gboolean
channel_is_sending (const struct channel *channel)
{
  return channel->out != NULL;
}

/* sendmsg with the descriptor on the first byte. Returns the bytes sent, or a negative errno; -EAGAIN is
 * 0. */
static gssize
send_some (struct channel *channel)
{
  struct iovec part = {channel->out + channel->out_sent, channel->out_length - channel->out_sent};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (channel->out_fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *cmsg = CMSG_FIRSTHDR (&message);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN (sizeof (int));
    memcpy (CMSG_DATA (cmsg), &channel->out_fd, sizeof (int));
  }
  gssize sent;
  do
    sent = sendmsg (channel->socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0)
    return errno == EAGAIN ? 0 : -errno;
  return sent;
}

int
channel_flush (struct channel *channel)
{
  while (channel->out) {
    gssize sent = send_some (channel);
    if (sent < 0)
      return (int)sent;
    if (sent == 0)
      return 0;
    fd_close (&channel->out_fd);
    channel->out_sent += (gsize)sent;
    if (channel->out_sent == channel->out_length)
      g_clear_pointer (&channel->out, g_free);
  }
  return 0;
}

void
channel_send (struct channel *channel, uint32_t kind, const char *text, gsize length, int fd)
{
  struct frame_header header = {.kind = kind, .length = (uint32_t)length};
  /* From an earlier frame that was answered before it was read completely. */
  g_clear_pointer (&channel->out, g_free);
  fd_close (&channel->out_fd);
  channel->out_length = sizeof header + length;
  channel->out_sent = 0;
  channel->out_fd = fd;
  channel->out = g_malloc (channel->out_length);
  memcpy (channel->out, &header, sizeof header);
  memcpy (channel->out + sizeof header, text, length);
}

/* ---- in ---- */

/* Reads at most SIZE bytes. Returns CHANNEL_FRAME when some came. */
static enum channel_state
receive_some (struct channel *channel, void *data, gsize size, gsize *ret_got)
{
  gssize got;
  gsize count = 0;
  do
    if (channel->takes_fd && channel->in_fd < 0) {
      got = fd_receive_flags (channel->socket_fd, data, size, MSG_DONTWAIT, &channel->in_fd, 1, &count);
      errno = got < 0 ? (int)-got : 0;
    } else {
      got = recv (channel->socket_fd, data, size, MSG_DONTWAIT);
    }
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    *ret_got = (gsize)got;
    return CHANNEL_FRAME;
  }
  /* Any other failure on our own socket, such as a reset, means that the peer is gone. */
  return got < 0 && errno == EAGAIN ? CHANNEL_WAIT : CHANNEL_END;
}

static void
channel_make_room (struct channel *channel)
{
  gsize want = MAX (IN_FIRST_BYTES, channel->in_room + MIN (channel->in_room, IN_STEP_BYTES));
  channel->in_room = MIN (want, (gsize)channel->header.length);
  channel->in = g_realloc (channel->in, channel->in_room + 1);
}

enum channel_state
channel_receive (struct channel *channel, channel_bound bound, uint32_t *ret_kind, char **ret_data,
                 gsize *ret_length)
{
  gsize got;
  while (channel->header_got < sizeof channel->header) {
    enum channel_state state = receive_some (channel, (char *)&channel->header + channel->header_got,
                                             sizeof channel->header - channel->header_got, &got);
    if (state != CHANNEL_FRAME)
      return state;
    channel->header_got += got;
  }
  if ((gint64)channel->header.length > bound (channel->header.kind))
    return CHANNEL_BAD;

  while (channel->in_got < channel->header.length || !channel->in) {
    if (channel->in_got == channel->in_room || !channel->in)
      channel_make_room (channel);
    if (channel->in_room == 0)
      break;
    enum channel_state state =
        receive_some (channel, channel->in + channel->in_got, channel->in_room - channel->in_got, &got);
    if (state != CHANNEL_FRAME)
      return state;
    channel->in_got += got;
  }

  channel->in[channel->in_got] = '\0';
  *ret_kind = channel->header.kind;
  *ret_length = channel->in_got;
  *ret_data = g_steal_pointer (&channel->in);
  channel->header_got = channel->in_got = channel->in_room = 0;
  return CHANNEL_FRAME;
}
