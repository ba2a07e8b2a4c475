/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: all tunnels of a cluster, by number, and the frames that came for each. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "cluster/tunnel_frames.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"

#define TAKEN_MS 2000 /* a node takes at once what it receives; one that does not is frozen or gone */
#define RETRY_MS 50   /* where no node has room and none has said that it has */
#define CHECK_MS 500  /* how often a node is looked for that sends nothing */

struct tunnel {
  struct cluster *cluster;
  struct bus_subscription *down;
  char *subject; /* of `down` */
  char *node;    /* the tag of who took it; NULL: nobody yet */
  char *up;      /* where that node hears of it */
  int watch_fd;
  int wake_fd;        /* an eventfd: a frame came */
  guint64 read, told; /* bytes of the reply: read, and of these told to the node */
  gsize offset;       /* in the first of `frames` */
  gboolean is_over;   /* the last frame was read */

  MUTEX (tunnel) lock;
  GUARDED_BY (tunnel) GQueue frames; /* of GBytes: what it is, and bytes */
  GUARDED_BY (tunnel) gboolean nobody;
};

/* ---- what comes ---- */

static void
tunnel_hear (gpointer data, const struct bus_message *message)
{
  struct tunnel *tunnel = data;
  g_mutex_lock (&tunnel->lock);
  if (message->nobody)
    tunnel->nobody = TRUE;
  else if (message->length > 0)
    g_queue_push_tail (&tunnel->frames, g_bytes_new (message->data, message->length));
  g_mutex_unlock (&tunnel->lock);
  (void)eventfd_write (tunnel->wake_fd, 1);
}

/* The first frame, or NULL; the tunnel's until it is dropped. */
static GBytes *
tunnel_first (struct tunnel *tunnel, gboolean *ret_nobody)
{
  g_mutex_lock (&tunnel->lock);
  GBytes *frame = g_queue_peek_head (&tunnel->frames);
  *ret_nobody = tunnel->nobody;
  tunnel->nobody = FALSE;
  g_mutex_unlock (&tunnel->lock);
  return frame;
}

static void
tunnel_drop_first (struct tunnel *tunnel)
{
  g_mutex_lock (&tunnel->lock);
  g_bytes_unref (g_queue_pop_head (&tunnel->frames));
  g_mutex_unlock (&tunnel->lock);
  tunnel->offset = 0;
}

enum tunnel_waited { WAITED_FRAME, WAITED_NOBODY, WAITED_LONG, WAITED_GONE };

/* Waits for a frame, at most MS. */
static enum tunnel_waited
tunnel_wait (struct tunnel *tunnel, guint64 ms)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)ms * 1000;
  struct pollfd fds[] = {{tunnel->wake_fd, POLLIN, 0}, {tunnel->watch_fd, POLLRDHUP, 0}};
  for (;;) {
    gboolean nobody;
    if (tunnel_first (tunnel, &nobody))
      return WAITED_FRAME;
    if (nobody)
      return WAITED_NOBODY;
    gint64 left_us = end_us - g_get_monotonic_time ();
    if (left_us <= 0)
      return WAITED_LONG;
    int n = poll (fds, G_N_ELEMENTS (fds), (int)(left_us / 1000 + 1));
    if (n > 0 && fds[1].revents)
      return WAITED_GONE;
    eventfd_t count;
    if (n > 0)
      (void)eventfd_read (tunnel->wake_fd, &count);
  }
}

static gboolean
tunnel_fail (GError **error, AdderError code, const char *text)
{
  g_set_error_literal (error, ADDER_ERROR, (int)code, text);
  return FALSE;
}

/* The reason of a frame FAILED: a code in digits, a blank, words. */
static gboolean
tunnel_fail_as_told (const char *text, gsize length, GError **error)
{
  g_autofree char *copy = g_strndup (text, length), *told = text_one_line (copy, -1);
  char *words;
  guint64 code = g_ascii_strtoull (told, &words, 10);
  return tunnel_fail (error, code <= ADDER_ERROR_EXISTS ? (AdderError)code : ADDER_ERROR_FAILED,
                      *words == ' ' ? words + 1 : words);
}

/* ---- asking ---- */

/* The line and the body of the first message; the caller's. */
static GByteArray *
tunnel_message (struct cluster *cluster, const struct tunnel_request *request)
{
  gsize first = MIN (request->length, TUNNEL_FIRST_BYTES);
  g_autofree char *digest =
      g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)request->body, first);
  g_autoptr (json_t) head = json_copy (request->head);
  json_object_set_new (head, "asks", json_text_or_null (cluster->instance));
  json_object_set_new (head, "length", json_integer ((json_int_t)request->length));
  json_object_set_new (head, "sha256", json_text_or_null (digest));
  g_autofree char *line = cluster_sign (cluster, head);
  GByteArray *message = g_byte_array_new ();
  g_byte_array_append (message, (const guint8 *)line, (guint)strlen (line));
  g_byte_array_append (message, (const guint8 *)"\n", 1);
  g_byte_array_append (message, (const guint8 *)request->body, (guint)first);
  return message;
}

/* The node has it: from now on frames go to it. */
static gboolean
tunnel_take (struct tunnel *tunnel, GError **error)
{
  gboolean nobody;
  gsize length;
  const char *frame = g_bytes_get_data (tunnel_first (tunnel, &nobody), &length);
  if (frame[0] == FRAME_FAILED)
    return tunnel_fail_as_told (frame + 1, length - 1, error);
  if (frame[0] != FRAME_TAKEN)
    return tunnel_fail (error, ADDER_ERROR_FAILED, "a node answers what is not of the protocol of nodes");
  tunnel->node = g_strndup (frame + 1, length - 1);
  tunnel->up = g_strconcat (TUNNEL_UP, tunnel->subject + strlen (TUNNEL_DOWN), NULL);
  tunnel_drop_first (tunnel);
  return TRUE;
}

#define NODE_LOST "node_lost: the node that has it is gone"
#define NO_ROOM   "every node of the cluster is busy"

/* Sends MESSAGE to SUBJECT, again and again where nobody has room, until a node takes it. */
static gboolean
tunnel_place (struct tunnel *tunnel, const struct tunnel_request *request, const GByteArray *message,
              GError **error)
{
  struct cluster *cluster = tunnel->cluster;
  gint64 end_us = g_get_monotonic_time () + (gint64)request->wait_ms * 1000;
  g_autofree char *subject =
      request->node ? g_strconcat (TUNNEL_NODE, request->node, NULL) : g_strdup (TUNNEL_ANY);
  for (;;) {
    if (!cluster->binding->publish (cluster->bus, subject, tunnel->subject, (const char *)message->data,
                                    message->len, error))
      return FALSE;
    switch (tunnel_wait (tunnel, TAKEN_MS)) {
    case WAITED_FRAME:
      return tunnel_take (tunnel, error);
    case WAITED_GONE:
      return tunnel_fail (error, ADDER_ERROR_CANCELLED, "the client is gone");
    case WAITED_LONG:
      return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, "the node does not answer");
    case WAITED_NOBODY:
    default:
      break;
    }
    if (request->node)
      return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, NODE_LOST);
    if (g_get_monotonic_time () >= end_us)
      return tunnel_fail (error, ADDER_ERROR_BUSY, NO_ROOM);
    cluster_wait_free (cluster, RETRY_MS);
  }
}

static void
tunnel_send (struct tunnel *tunnel, char kind, const char *bytes, gsize length)
{
  g_autofree char *frame = g_malloc (length + 1);
  frame[0] = kind;
  memcpy (frame + 1, bytes, length);
  (void)tunnel->cluster->binding->publish (tunnel->cluster->bus, tunnel->up, NULL, frame, length + 1, NULL);
}

/* What the node has taken of the body, by a frame SEEN; FALSE: what came is the reply. */
static gboolean
tunnel_see (struct tunnel *tunnel, guint64 *ret_seen)
{
  gboolean nobody;
  gsize length;
  const char *frame = g_bytes_get_data (tunnel_first (tunnel, &nobody), &length);
  if (frame[0] != FRAME_SEEN)
    return FALSE;
  g_autofree char *digits = g_strndup (frame + 1, length - 1);
  *ret_seen = g_ascii_strtoull (digits, NULL, 10);
  tunnel_drop_first (tunnel);
  return TRUE;
}

/* Sends the rest of the body, as far as the node wants it. */
static gboolean
tunnel_feed (struct tunnel *tunnel, const struct tunnel_request *request, GError **error)
{
  guint64 seen = 0;
  for (gsize sent = MIN (request->length, TUNNEL_FIRST_BYTES); sent < request->length;) {
    if (sent - MIN (seen, sent) < TUNNEL_WINDOW) {
      gsize part = MIN (request->length - sent, TUNNEL_FRAME_BYTES);
      tunnel_send (tunnel, FRAME_DATA, request->body + sent, part);
      sent += part;
      continue;
    }
    switch (tunnel_wait (tunnel, CHECK_MS)) {
    case WAITED_FRAME:
      if (!tunnel_see (tunnel, &seen))
        return TRUE;
      break;
    case WAITED_GONE:
      return tunnel_fail (error, ADDER_ERROR_CANCELLED, "the client is gone");
    case WAITED_NOBODY:
    case WAITED_LONG:
    default:
      if (!cluster_knows (tunnel->cluster, NULL, tunnel->node))
        return tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, NODE_LOST);
    }
  }
  return TRUE;
}

struct tunnel *
tunnel_open (struct cluster *cluster, const struct tunnel_request *request, GError **error)
{
  static guint numbers; /* atomic */
  struct tunnel *tunnel = g_new0 (struct tunnel, 1);
  tunnel->cluster = cluster;
  tunnel->watch_fd = request->watch_fd;
  tunnel->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  g_mutex_init (&tunnel->lock);
  g_queue_init (&tunnel->frames);
  tunnel->subject =
      g_strdup_printf (TUNNEL_DOWN "%s.%u", cluster->instance, (guint)g_atomic_int_add ((gint *)&numbers, 1));
  tunnel->down =
      cluster->binding->subscribe (cluster->bus, tunnel->subject, NULL, FALSE, tunnel_hear, tunnel, error);
  g_autoptr (GByteArray) message = tunnel_message (cluster, request);
  if (tunnel->down && tunnel_place (tunnel, request, message, error) && tunnel_feed (tunnel, request, error))
    return tunnel;
  tunnel_close (tunnel);
  return NULL;
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
    char digits[24];
    g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, tunnel->read);
    tunnel_send (tunnel, FRAME_SEEN, digits, strlen (digits));
    tunnel->told = tunnel->read;
  }
  return part;
}

/* Reads from the first frame; FALSE: it has none. */
static gboolean
tunnel_read_first (struct tunnel *tunnel, char *buffer, gsize size, gssize *ret_read, GError **error)
{
  gboolean nobody;
  gsize length;
  GBytes *frame = tunnel_first (tunnel, &nobody);
  const char *bytes = frame ? g_bytes_get_data (frame, &length) : NULL;
  if (!bytes)
    return FALSE;
  switch (bytes[0]) {
  case FRAME_DATA:
    *ret_read = (gssize)tunnel_copy (tunnel, frame, buffer, size);
    return TRUE;
  case FRAME_END:
    tunnel->is_over = TRUE;
    *ret_read = 0;
    return TRUE;
  case FRAME_FAILED:
    tunnel->is_over = TRUE;
    tunnel_fail_as_told (bytes + 1, length - 1, error);
    *ret_read = -1;
    return TRUE;
  case FRAME_SEEN:
  default:
    tunnel_drop_first (tunnel);
    return FALSE;
  }
}

gssize
tunnel_read (struct tunnel *tunnel, char *buffer, gsize size, GError **error)
{
  gssize read = 0;
  while (!tunnel->is_over && !tunnel_read_first (tunnel, buffer, size, &read, error))
    switch (tunnel_wait (tunnel, CHECK_MS)) {
    case WAITED_GONE:
      tunnel_fail (error, ADDER_ERROR_CANCELLED, "the client is gone");
      return -1;
    case WAITED_LONG:
      if (cluster_knows (tunnel->cluster, NULL, tunnel->node))
        break;
      tunnel_fail (error, ADDER_ERROR_UNAVAILABLE, NODE_LOST);
      return -1;
    case WAITED_FRAME:
    case WAITED_NOBODY:
    default:
      break;
    }
  return read;
}

void
tunnel_close (struct tunnel *tunnel)
{
  if (!tunnel)
    return;
  if (tunnel->up && !tunnel->is_over)
    tunnel_send (tunnel, FRAME_LEFT, "", 0);
  if (tunnel->down)
    tunnel->cluster->binding->unsubscribe (tunnel->down);
  UNSHARED (tunnel);
  g_queue_clear_full (&tunnel->frames, (GDestroyNotify)g_bytes_unref);
  g_mutex_clear (&tunnel->lock);
  fd_close (&tunnel->wake_fd);
  g_free (tunnel->subject);
  g_free (tunnel->node);
  g_free (tunnel->up);
  g_free (tunnel);
}
