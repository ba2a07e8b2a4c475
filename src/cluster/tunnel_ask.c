/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: each request's own thread waits for its frames. */
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "cluster/signed_request.h"
#include "cluster/tunnel.h"
#include "cluster/tunnel_end.h"
#include "common/json.h"
#include "common/text.h"

#define TAKEN_MS  500  /* a node takes at once what it receives; one that does not is frozen or gone */
#define TRIES     4    /* of nodes that do not answer, at least */
#define RETRY_MS  50   /* where no node has room and none has said that it has */
#define CHECK_MS  1000 /* a node that is silent so long is asked whether it is there, */
#define CHECKS    3    /* so often */
#define NODE_LOST "node_lost: the node that has it is gone"

LOCK_CLASS (tunnel);

struct tunnel {
  struct tunnel_end end; /* the first member */
  int watch_fd;
  int wake_fd;        /* an eventfd: something came */
  gboolean feeds;     /* the body is longer than the first message */
  guint64 read, told; /* bytes of the reply: read, and of these told to the node */
  gsize offset;       /* in the first of `frames` */
  gboolean is_over;   /* the last frame was read */

  MUTEX (tunnel) lock;
  GUARDED_BY (tunnel) GQueue *frames; /* of GBytes: a kind, and bytes */
  GUARDED_BY (tunnel) guint64 seen;   /* bytes of the body that the node has taken */
  GUARDED_BY (tunnel) guint asked;    /* since the last frame */
  GUARDED_BY (tunnel) gboolean nobody, taken, given_up;
};

/* ---- what comes ---- */

/* The first node that takes it in time starts it. */
REQUIRES (tunnel)
static void
tunnel_hear_taken (struct tunnel *tunnel, const struct frame *frame)
{
  const char *blank = memchr (frame->bytes, ' ', frame->length);
  if (tunnel->taken || !blank)
    return;
  g_autofree char *address = g_strndup (blank + 1, (gsize)(frame->bytes + frame->length - blank - 1));
  tunnel->taken = !tunnel->given_up && tunnel_end_bind (&tunnel->end, address);
  if (tunnel->taken)
    tunnel_end_send (&tunnel->end, FRAME_GO, "", 0);
}

static void
tunnel_hear (struct tunnel_end *end, const struct frame *frame)
{
  struct tunnel *tunnel = (struct tunnel *)end;
  gboolean wakes = TRUE;
  g_mutex_lock (&tunnel->lock);
  tunnel->asked = 0;
  if (!frame)
    tunnel->nobody = TRUE;
  else if (frame->kind == FRAME_TAKEN) {
    tunnel_hear_taken (tunnel, frame);
    wakes = tunnel->feeds;
  } else if (frame->kind == FRAME_SEEN)
    wakes = tunnel->feeds && frame_number (frame->bytes, frame->length, G_MAXUINT64, &tunnel->seen);
  else {
    guint8 *copy = g_malloc (1 + frame->length);
    copy[0] = (guint8)frame->kind;
    memcpy (copy + 1, frame->bytes, frame->length);
    g_queue_push_tail (tunnel->frames, g_bytes_new_take (copy, 1 + frame->length));
  }
  g_mutex_unlock (&tunnel->lock);
  if (wakes)
    (void)eventfd_write (tunnel->wake_fd, 1);
}

/* The first frame, or NULL; the tunnel's until it is dropped. */
static GBytes *
tunnel_first (struct tunnel *tunnel)
{
  g_mutex_lock (&tunnel->lock);
  GBytes *frame = g_queue_peek_head (tunnel->frames);
  g_mutex_unlock (&tunnel->lock);
  return frame;
}

static void
tunnel_drop_first (struct tunnel *tunnel)
{
  g_mutex_lock (&tunnel->lock);
  g_bytes_unref (g_queue_pop_head (tunnel->frames));
  g_mutex_unlock (&tunnel->lock);
  tunnel->offset = 0;
}

static gboolean
tunnel_fail (GError **error, AdderError code, const char *text)
{
  g_set_error_literal (error, ADDER_ERROR, (int)code, text);
  return FALSE;
}

/* As a frame FAILED has it. */
static gboolean
tunnel_fail_as_told (const char *text, gsize length, GError **error)
{
  guint64 code;
  const char *blank = memchr (text, ' ', length);
  if (!blank || !frame_number (text, (gsize)(blank - text), ADDER_ERROR_EXISTS, &code))
    return tunnel_fail (error, ADDER_ERROR_FAILED, "a node answers what is not of the protocol of nodes");
  g_autofree char *words = g_strndup (blank + 1, (gsize)(text + length - blank - 1));
  g_autofree char *line = text_one_line (words, -1);
  return tunnel_fail (error, (AdderError)code, line);
}

enum tunnel_waited { WAITED_NEWS, WAITED_LONG, WAITED_GONE };

/* Waits until something comes, or END_US. */
static enum tunnel_waited
tunnel_wait (struct tunnel *tunnel, gint64 end_us)
{
  struct pollfd fds[] = {{tunnel->wake_fd, POLLIN, 0}, {tunnel->watch_fd, POLLRDHUP, 0}};
  gint64 left_us;
  while ((left_us = end_us - g_get_monotonic_time ()) > 0) {
    eventfd_t count;
    if (poll (fds, G_N_ELEMENTS (fds), (int)(left_us / 1000 + 1)) <= 0)
      continue;
    if (fds[1].revents)
      return WAITED_GONE;
    if (fds[0].revents && eventfd_read (tunnel->wake_fd, &count) == 0)
      return WAITED_NEWS;
  }
  return WAITED_LONG;
}

/* Waits for news of a node that has taken the request, and asks it for some. FALSE with ERROR. */
static gboolean
tunnel_await (struct tunnel *tunnel, GError **error)
{
  enum tunnel_waited waited = tunnel_wait (tunnel, g_get_monotonic_time () + CHECK_MS * 1000);
  if (waited == WAITED_GONE)
    return tunnel_fail (error, ADDER_ERROR_CANCELLED, "the client is gone");
  if (waited == WAITED_NEWS)
    return TRUE;
  g_mutex_lock (&tunnel->lock);
  gboolean lost = tunnel->asked++ == CHECKS;
  g_mutex_unlock (&tunnel->lock);
  if (lost)
    return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, NODE_LOST);
  tunnel_end_send (&tunnel->end, FRAME_ASK, "", 0);
  return TRUE;
}

/* ---- asking ---- */

/* Sends the line and the beginning of the body. */
static gboolean
tunnel_send_request (struct tunnel *tunnel, const struct tunnel_request *request, GError **error)
{
  struct cluster *cluster = tunnel->end.cluster;
  gsize first = MIN (request->length, TUNNEL_FIRST_BYTES);
  g_autofree char *reply = g_strconcat (TUNNEL_END, tunnel->end.address, NULL);
  g_autofree char *subject =
      request->node ? g_strconcat (TUNNEL_NODE, request->node, NULL) : g_strdup (TUNNEL_ANY);
  g_autoptr (json_t) head = json_copy (request->head);
  json_object_set_new (head, "to", json_text_or_null (tunnel->end.address));
  g_autoptr (GByteArray) message = signed_request_make (cluster, head, request->body, request->length, first);
  return cluster->binding->publish (cluster->bus, subject, reply, (const char *)message->data, message->len,
                                    error);
}

enum tunnel_placed { PLACED, PLACED_NOBODY, PLACED_SILENT, PLACED_FAILED };

/* What has become of the request, when the wait for a node has WAITED; FALSE: it goes on. */
static gboolean
tunnel_see_placed (struct tunnel *tunnel, enum tunnel_waited waited, enum tunnel_placed *ret_placed)
{
  g_mutex_lock (&tunnel->lock);
  gboolean told = !g_queue_is_empty (tunnel->frames), taken = tunnel->taken, nobody = tunnel->nobody;
  tunnel->given_up = waited == WAITED_LONG && !taken;
  g_mutex_unlock (&tunnel->lock);
  *ret_placed = told || taken ? PLACED : nobody ? PLACED_NOBODY : PLACED_SILENT;
  return told || (taken && tunnel->feeds) || nobody || waited == WAITED_LONG;
}

/* Waits for a node that takes the request. */
static enum tunnel_placed
tunnel_await_placed (struct tunnel *tunnel, gint64 end_us, GError **error)
{
  enum tunnel_waited waited = WAITED_NEWS;
  enum tunnel_placed placed;
  while (!tunnel_see_placed (tunnel, waited, &placed))
    if ((waited = tunnel_wait (tunnel, end_us)) == WAITED_GONE) {
      tunnel_fail (error, ADDER_ERROR_CANCELLED, "the client is gone");
      return PLACED_FAILED;
    }
  return placed;
}

static enum tunnel_placed
tunnel_place (struct tunnel *tunnel, const struct tunnel_request *request, GError **error)
{
  if (!tunnel_send_request (tunnel, request, error))
    return PLACED_FAILED;
  return tunnel_await_placed (tunnel, g_get_monotonic_time () + TAKEN_MS * 1000, error);
}

/* Sends the rest of the body, as far as the node wants it; a reply ends that. */
static gboolean
tunnel_feed (struct tunnel *tunnel, const struct tunnel_request *request, GError **error)
{
  for (gsize sent = MIN (request->length, TUNNEL_FIRST_BYTES);
       sent < request->length && !tunnel_first (tunnel);) {
    g_mutex_lock (&tunnel->lock);
    gsize under_way = sent - MIN (tunnel->seen, sent);
    g_mutex_unlock (&tunnel->lock);
    if (under_way < TUNNEL_WINDOW) {
      gsize part = MIN (request->length - sent, TUNNEL_FRAME_BYTES);
      tunnel_end_send (&tunnel->end, FRAME_DATA, request->body + sent, part);
      sent += part;
    } else if (!tunnel_await (tunnel, error))
      return FALSE;
  }
  return TRUE;
}

static struct tunnel *
tunnel_new (struct cluster *cluster, const struct tunnel_request *request)
{
  struct tunnel *tunnel = g_new0 (struct tunnel, 1);
  tunnel->watch_fd = request->watch_fd;
  tunnel->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  tunnel->feeds = request->length > TUNNEL_FIRST_BYTES;
  g_mutex_init (&tunnel->lock);
  tunnel->frames = g_queue_new ();
  tunnel_end_add (&tunnel->end, cluster, tunnel_hear);
  return tunnel;
}

/* Whether it is sent again, after nodes did not answer SILENT times. */
static gboolean
tunnel_may_retry (struct cluster *cluster, const struct tunnel_request *request, enum tunnel_placed placed,
                  guint silent, gint64 end_us, GError **error)
{
  gboolean late = g_get_monotonic_time () >= end_us;
  if (placed == PLACED_FAILED)
    return FALSE;
  if (placed == PLACED_SILENT && !cluster->binding->is_connected (cluster->bus)) {
    g_autofree char *away = cluster_away (cluster);
    return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, away);
  }
  /* While it is known it may only have to connect again. One that is cut off is silent, as long as the server
   * has not noticed. */
  if (request->node && ((late && placed == PLACED_NOBODY) || !cluster_lists_tag (cluster, request->node)))
    return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, NODE_LOST);
  /* A node that does not answer may have subscribed for several, and get them again. */
  if (placed == PLACED_SILENT && silent >= TRIES && (late || request->node))
    return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, "a node of the cluster does not answer");
  if (placed == PLACED_NOBODY && late)
    return tunnel_fail (error, ADDER_ERROR_BUSY, "every node of the cluster is busy");
  if (placed == PLACED_NOBODY)
    cluster_wait_for_room (cluster, RETRY_MS);
  return TRUE;
}

struct tunnel *
tunnel_open (struct cluster *cluster, const struct tunnel_request *request, GError **error)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)request->wait_ms * 1000;
  enum tunnel_placed placed;
  guint silent = 0;
  do {
    struct tunnel *tunnel = tunnel_new (cluster, request);
    placed = tunnel_place (tunnel, request, error);
    if (placed == PLACED && tunnel_feed (tunnel, request, error))
      return tunnel;
    tunnel_close (tunnel);
    silent += placed == PLACED_SILENT;
  } while (placed != PLACED && tunnel_may_retry (cluster, request, placed, silent, end_us, error));
  return NULL;
}

struct tunnel *
tunnel_begin (struct cluster *cluster, const struct tunnel_request *request, GError **error)
{
  struct tunnel *tunnel = tunnel_new (cluster, request);
  if (tunnel_send_request (tunnel, request, error))
    return tunnel;
  tunnel_close (tunnel);
  return NULL;
}

gboolean
tunnel_is_taken (struct tunnel *tunnel, gint64 end_us)
{
  return tunnel_await_placed (tunnel, end_us, NULL) == PLACED;
}

/* ---- the reply ---- */

/* Copies what the first frame, DATA, has left. */
static gsize
tunnel_copy (struct tunnel *tunnel, GBytes *frame, char *buffer, gsize size)
{
  gsize length;
  const char *bytes = g_bytes_get_data (frame, &length);
  gsize at = 1 + tunnel->offset, part = MIN (size, length - at);
  memcpy (buffer, bytes + at, part);
  tunnel->offset += part;
  tunnel->read += part;
  if (at + part == length)
    tunnel_drop_first (tunnel);
  if (tunnel->read - tunnel->told > TUNNEL_WINDOW / 4) {
    tunnel_end_send_number (&tunnel->end, FRAME_SEEN, tunnel->read);
    tunnel->told = tunnel->read;
  }
  return part;
}

/* Reads from the first frame; 0: it has no bytes, or there is none. */
static gssize
tunnel_read_first (struct tunnel *tunnel, char *buffer, gsize size, GError **error)
{
  gsize length;
  GBytes *frame = tunnel_first (tunnel);
  const char *bytes = frame ? g_bytes_get_data (frame, &length) : NULL;
  if (!bytes)
    return 0;
  switch (bytes[0]) {
  case FRAME_DATA:
    return (gssize)tunnel_copy (tunnel, frame, buffer, size);
  case FRAME_END:
    tunnel->is_over = TRUE;
    return 0;
  case FRAME_FAILED:
    tunnel->is_over = TRUE;
    tunnel_fail_as_told (bytes + 1, length - 1, error);
    return -1;
  default:
    tunnel_drop_first (tunnel);
    return 0;
  }
}

gssize
tunnel_read (struct tunnel *tunnel, char *buffer, gsize size, GError **error)
{
  gssize read;
  while ((read = tunnel_read_first (tunnel, buffer, size, error)) == 0 && !tunnel->is_over)
    if (!tunnel_first (tunnel) && !tunnel_await (tunnel, error))
      return -1;
  return read;
}

void
tunnel_set_whole (struct tunnel *tunnel)
{
  tunnel->is_over = TRUE;
}

void
tunnel_close (struct tunnel *tunnel)
{
  if (!tunnel)
    return;
  if (!tunnel->is_over)
    tunnel_end_send (&tunnel->end, FRAME_LEFT, "", 0);
  tunnel_end_remove (&tunnel->end);
  UNSHARED (tunnel);
  g_queue_free_full (tunnel->frames, (GDestroyNotify)g_bytes_unref);
  g_mutex_clear (&tunnel->lock);
  fd_close (&tunnel->wake_fd);
  g_free (tunnel);
}
