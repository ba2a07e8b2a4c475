/* SPDX-License-Identifier: Apache-2.0 */
/* The local socket's protocol. One table says which frame is legal when, how long it may be and what may come
 * with it. */
#include "interfaces/socket/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/frame.h"
#include "common/error.h"
#include "common/json.h"

#define KIB 1024u
#define MIB (1024u * KIB)

struct frame_row {
  enum protocol_kind kind;
  guint states; /* bits of enum protocol_state */
  gsize max_bytes;
  gsize max_fds;
};

#define IN(state) (1u << PROTOCOL_AWAIT_##state)

static const struct frame_row frame_table[] = {
    {PROTOCOL_HELLO, IN (HELLO), 4 * KIB, 0},
    {PROTOCOL_REFUSED, IN (HELLO) | IN (ANSWER) | IN (EVENT), 64 * KIB, 0},
    {PROTOCOL_STOP, IN (REQUEST), 4 * KIB, 0},
    {PROTOCOL_STOPPING, IN (ANSWER), 4 * KIB, 0},
    {PROTOCOL_RUN, IN (REQUEST), 8 * MIB, PROTOCOL_FDS_MAX},
    {PROTOCOL_CODE, IN (CODE), PROTOCOL_CODE_MAX, 0},
    {PROTOCOL_STARTED, IN (EVENT), 0, 0},
    {PROTOCOL_STDOUT, IN (EVENT), 4 * MIB, 0},
    {PROTOCOL_STDERR, IN (EVENT), 4 * MIB, 0},
    {PROTOCOL_DISPLAY, IN (EVENT), 64 * MIB, 0},
    {PROTOCOL_SAVED, IN (EVENT), 64 * MIB, 0},
    {PROTOCOL_RESULT, IN (EVENT), 1024 * MIB, 0},
    {PROTOCOL_OPERATION, IN (REQUEST), 8 * MIB, 1},
    {PROTOCOL_SESSION, IN (REQUEST), 8 * MIB, PROTOCOL_FDS_MAX},
    {PROTOCOL_ANSWER, IN (ANSWER), 256 * MIB, 1},
    {PROTOCOL_CALL, IN (REQUEST), 8 * MIB, 1},
    {PROTOCOL_MCP, IN (REQUEST), 8 * MIB, 2},
    {PROTOCOL_PROGRESS, IN (ANSWER) | IN (EVENT), 4 * KIB, 0},
};

/* The row of KIND when it is legal in STATE. */
static const struct frame_row *
protocol_find_row (guint32 kind, enum protocol_state state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (frame_table); i++)
    if (frame_table[i].kind == kind && (frame_table[i].states & (1u << state)))
      return &frame_table[i];
  return NULL;
}

/* The most that any frame may have that is legal in STATE. */
static void
find_bounds (enum protocol_state state, gsize *ret_bytes, gsize *ret_fds)
{
  gsize bytes = 0, fds = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (frame_table); i++)
    if (frame_table[i].states & (1u << state)) {
      bytes = MAX (bytes, frame_table[i].max_bytes);
      fds = MAX (fds, frame_table[i].max_fds);
    }
  *ret_bytes = bytes;
  *ret_fds = fds;
}

/* ---- frames ---- */

static gboolean
protocol_is_gone (int err)
{
  return err == EPIPE || err == ECONNRESET;
}

static gboolean
fail_transport (int err, const char *what, GError **error)
{
  if (protocol_is_gone (err)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the other end of the local socket is gone");
    return FALSE;
  }
  return error_from_errno (error, err, "cannot %s the local socket", what);
}

gboolean
protocol_receive (int socket, enum protocol_state state, int timeout_ms, struct protocol_message *ret_message,
                  GError **error)
{
  struct protocol_message message = {0};
  struct frame_header header;
  gsize most_bytes, most_fds;
  find_bounds (state, &most_bytes, &most_fds);
  int r = frame_receive (socket, most_bytes, timeout_ms, &header, &message.data, message.fds, most_fds,
                         &message.fd_count);
  if (r < 0)
    return fail_transport (-r, "read from", error);

  message.length = header.length;
  message.kind = (enum protocol_kind)header.kind;
  const struct frame_row *row = protocol_find_row (header.kind, state);
  if (!row || header.length > row->max_bytes || message.fd_count > row->max_fds) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "a frame of kind %u with %u bytes and %zu descriptors is not legal on the local socket now",
                 header.kind, header.length, message.fd_count);
    protocol_message_clear (&message);
    return FALSE;
  }
  *ret_message = message;
  return TRUE;
}

void
protocol_message_clear (struct protocol_message *message)
{
  free (message->data);
  message->data = NULL;
  for (gsize i = 0; i < message->fd_count; i++)
    fd_close (&message->fds[i]);
  message->fd_count = 0;
}

/* Not frame_send: that one waits for ever, and a client that was stopped must not hold a thread of the
 * daemon. */
static int
send_whole (int socket, struct iovec *part, gsize parts, const int *fds, gsize count)
{
  union {
    char bytes[CMSG_SPACE (sizeof (int) * PROTOCOL_FDS_MAX)];
    struct cmsghdr header;
  } control;
  struct msghdr message = {.msg_iov = part, .msg_iovlen = parts};
  if (count > PROTOCOL_FDS_MAX)
    return -EMSGSIZE;
  if (count > 0) {
    memset (&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE (sizeof (int) * count);
    struct cmsghdr *rights = CMSG_FIRSTHDR (&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN (sizeof (int) * count);
    memcpy (CMSG_DATA (rights), fds, sizeof (int) * count);
  }

  while (message.msg_iovlen > 0) {
    ssize_t sent = sendmsg (socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR)
        continue;
      if (errno != EAGAIN)
        return -errno;
      struct pollfd ready = {.fd = socket, .events = POLLOUT};
      int n = poll (&ready, 1, PROTOCOL_STALL_MS);
      if (n == 0)
        return -ETIMEDOUT;
      if (n < 0 && errno != EINTR)
        return -errno;
      continue;
    }
    /* The descriptors went with the first byte. */
    message.msg_control = NULL;
    message.msg_controllen = 0;
    gsize left = (gsize)sent;
    while (message.msg_iovlen > 0 && left >= message.msg_iov->iov_len) {
      left -= message.msg_iov->iov_len;
      message.msg_iov++;
      message.msg_iovlen--;
    }
    if (message.msg_iovlen > 0) {
      message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + left;
      message.msg_iov->iov_len -= left;
    }
  }
  return 0;
}

/* The other end would hang up on a frame that is too long, and nobody would know why. */
static gboolean
protocol_check_length (enum protocol_kind kind, gsize length, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (frame_table); i++)
    if (frame_table[i].kind == kind && length > frame_table[i].max_bytes) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "%zu bytes are too long for one message on the local socket: it has %zu at most", length,
                   frame_table[i].max_bytes);
      return FALSE;
    }
  return TRUE;
}

gboolean
protocol_send (int socket, enum protocol_kind kind, const void *data, gsize length, const int *fds,
               gsize count, GError **error)
{
  struct frame_header header = {.kind = kind, .length = (guint32)length};
  struct iovec part[] = {{&header, sizeof header}, {(void *)(uintptr_t)data, length}};
  if (!protocol_check_length (kind, length, error))
    return FALSE;
  int r = send_whole (socket, part, length > 0 ? 2 : 1, fds, count);
  return r == 0 || fail_transport (-r, "write to", error);
}

gboolean
protocol_send_json (int socket, enum protocol_kind kind, const json_t *value, GError **error)
{
  g_autofree char *text = json_to_text (value);
  return protocol_send (socket, kind, text, strlen (text), NULL, 0, error);
}

/* ---- refusals ---- */

gboolean
protocol_send_refused (int socket, const GError *refusal, GError **error)
{
  int code = refusal->domain == ADDER_ERROR ? refusal->code : ADDER_ERROR_FAILED;
  g_autoptr (json_t) value =
      json_pack ("{s:i, s:o}", "code", code, "message", json_text_or_null (refusal->message));
  return protocol_send_json (socket, PROTOCOL_REFUSED, value, error);
}

void
protocol_take_refusal (const struct protocol_message *message, GError **error)
{
  int code = ADDER_ERROR_FAILED;
  const char *text = "the daemon refused without a reason";
  g_autoptr (json_t) value = json_parse_object (message->data, message->length, "the daemon's refusal", NULL);
  if (value)
    (void)json_unpack (value, "{s:i, s:s}", "code", &code, "message", &text);
  g_set_error_literal (error, ADDER_ERROR, code, text);
}

/* ---- hello ---- */

void
protocol_hello_own (struct protocol_hello *ret_hello)
{
  struct protocol_hello hello = {.protocol = PROTOCOL_VERSION};
  struct stat st;
  g_strlcpy (hello.version, adder_version (), sizeof hello.version);
  if (stat ("/proc/self/exe", &st) == 0)
    hello.built_us = (gint64)st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
  *ret_hello = hello;
}

json_t *
protocol_hello_to_json (const struct protocol_hello *hello)
{
  return json_pack ("{s:i, s:s, s:I, s:I, s:i, s:b}", "protocol", (int)hello->protocol, "version",
                    hello->version, "built", (json_int_t)hello->built_us, "pid", (json_int_t)hello->pid,
                    "running", (int)hello->running, "by_command", hello->started_by_command);
}

gboolean
protocol_hello_from_message (const struct protocol_message *message, struct protocol_hello *ret_hello,
                             GError **error)
{
  struct protocol_hello hello = {0};
  json_int_t protocol = 0, built = 0, pid = 0, running = 0;
  int by_command = 0;
  const char *version;
  g_autoptr (json_t) value =
      json_parse_object (message->data, message->length, "the greeting on the local socket", error);
  if (!value)
    return FALSE;
  if (json_unpack (value, "{s:I, s:s, s?I, s?I, s?I, s?b}", "protocol", &protocol, "version", &version,
                   "built", &built, "pid", &pid, "running", &running, "by_command", &by_command) < 0 ||
      protocol < 1 || protocol > G_MAXINT || running < 0 || running > G_MAXINT) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the greeting on the local socket lacks protocol and version");
    return FALSE;
  }
  hello.protocol = (guint)protocol;
  hello.built_us = built;
  hello.pid = pid;
  hello.running = (guint)running;
  hello.started_by_command = by_command;
  g_strlcpy (hello.version, version, sizeof hello.version);
  *ret_hello = hello;
  return TRUE;
}

/* "0.10.2" is above "0.9": number by number; what follows the numbers does not count. */
static int
compare_versions (const char *left, const char *right)
{
  for (int i = 0; i < 4; i++) {
    char *left_end, *right_end;
    guint64 a = g_ascii_strtoull (left, &left_end, 10);
    guint64 b = g_ascii_strtoull (right, &right_end, 10);
    if (a != b)
      return a < b ? -1 : 1;
    left = *left_end == '.' ? left_end + 1 : "";
    right = *right_end == '.' ? right_end + 1 : "";
  }
  return 0;
}

int
protocol_hello_compare (const struct protocol_hello *left, const struct protocol_hello *right)
{
  if (left->protocol != right->protocol)
    return left->protocol < right->protocol ? -1 : 1;
  int order = compare_versions (left->version, right->version);
  if (order != 0)
    return order;
  return (left->built_us > right->built_us) - (left->built_us < right->built_us);
}
