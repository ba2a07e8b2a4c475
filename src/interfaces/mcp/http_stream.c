/* SPDX-License-Identifier: Apache-2.0 */
/* The id of an event is "STREAM-NUMBER": the stream's, and its own in there. Number 0 is the empty event that
 * begins a stream, so that a client that loses it before anything else came can resume as well.
 *
 * All kept events are in one queue of the session, oldest first. The thread that holds the stream's `sending`
 * sends events; one that finds it held and must not wait leaves its event in the queue, which the holder
 * checks again when done. Lock order: sending, then streams->lock. */
#include "interfaces/mcp/http_stream.h"

#include <string.h>

#include "common/guarded.h"
#include "common/json.h"

#define EVENTS_MAX 4096 /* of a session, however small */

struct event {
  guint64 stream, number;
  gsize bytes;
  guint pins; /* senders not yet done with it */
  char *text;
};

LOCK_CLASS (mcp_streams);

struct mcp_streams {
  gint references;
  gsize most;
  guint retry_ms;
  MUTEX (mcp_streams) lock;
  GUARDED_BY (mcp_streams) GQueue events;
  GUARDED_BY (mcp_streams) gsize bytes;
  GUARDED_BY (mcp_streams) GHashTable *live; /* streams by their numbers; each has a reference */
  GUARDED_BY (mcp_streams) guint64 next;
  GUARDED_BY (mcp_streams) gboolean ended;
};

LOCK_CLASS (mcp_stream);

struct mcp_stream {
  gint references;
  struct mcp_streams *streams;
  guint64 number;
  MUTEX (mcp_stream) sending;
  GUARDED_BY (mcp_stream) struct http_stream *out; /* NULL: no client */
  GUARDED_BY (mcp_stream) guint64 sent;            /* the last event that `out` got */
  GUARDED_BY (mcp_streams) guint64 next;
  GUARDED_BY (mcp_streams) gboolean done;
};

static void
event_free (gpointer data)
{
  struct event *event = data;
  g_free (event->text);
  g_free (event);
}

static struct mcp_streams *
streams_ref (struct mcp_streams *streams)
{
  g_atomic_int_inc (&streams->references);
  return streams;
}

void
mcp_streams_unref (struct mcp_streams *streams)
{
  if (streams == NULL || !g_atomic_int_dec_and_test (&streams->references))
    return;
  g_queue_clear_full (&streams->events, event_free);
  UNSHARED (mcp_streams);
  g_hash_table_unref (streams->live);
  g_mutex_clear (&streams->lock);
  g_free (streams);
}

struct mcp_stream *
mcp_stream_ref (struct mcp_stream *stream)
{
  g_atomic_int_inc (&stream->references);
  return stream;
}

void
mcp_stream_unref (struct mcp_stream *stream)
{
  if (stream == NULL || !g_atomic_int_dec_and_test (&stream->references))
    return;
  g_clear_pointer (&stream->out, http_stream_unref);
  g_mutex_clear (&stream->sending);
  mcp_streams_unref (stream->streams);
  g_free (stream);
}

static void
stream_unref (gpointer data)
{
  mcp_stream_unref (data);
}

struct mcp_streams *
mcp_streams_new (gsize most, guint retry_ms)
{
  struct mcp_streams *streams = g_new0 (struct mcp_streams, 1);

  streams->references = 1;
  streams->most = most;
  streams->retry_ms = retry_ms;
  g_mutex_init (&streams->lock);
  g_queue_init (&streams->events);
  /* A stream has a reference to STREAMS as long as it lives: mcp_streams_end and mcp_stream_done untie them.
   */
  streams->live = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, stream_unref);
  return streams;
}

/* With a reference. */
REQUIRES (mcp_streams)
static struct mcp_stream *
stream_add (struct mcp_streams *streams)
{
  struct mcp_stream *stream = g_new0 (struct mcp_stream, 1);

  stream->references = 1;
  stream->streams = streams_ref (streams);
  g_mutex_init (&stream->sending);
  stream->number = streams->next++;
  stream->next = 1;
  if (!streams->ended)
    g_hash_table_insert (streams->live, &stream->number, mcp_stream_ref (stream));
  return stream;
}

struct mcp_stream *
mcp_stream_general (struct mcp_streams *streams)
{
  static const guint64 general = 0;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&streams->lock);
  struct mcp_stream *stream = g_hash_table_lookup (streams->live, &general);

  /* It is the first that is made, see mcp_stream_new. */
  return stream != NULL ? mcp_stream_ref (stream) : stream_add (streams);
}

struct mcp_stream *
mcp_stream_new (struct mcp_streams *streams)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&streams->lock);

  if (streams->next == 0)
    mcp_stream_unref (stream_add (streams));
  return stream_add (streams);
}

struct mcp_stream *
mcp_stream_find (struct mcp_streams *streams, const char *event, guint64 *ret_after)
{
  g_auto (GStrv) parts = g_strsplit (event, "-", 2);
  guint64 number, after;
  struct mcp_stream *stream;

  if (g_strv_length (parts) != 2 ||
      !g_ascii_string_to_unsigned (parts[0], 10, 0, G_MAXUINT32, &number, NULL) ||
      !g_ascii_string_to_unsigned (parts[1], 10, 0, G_MAXUINT32, &after, NULL))
    return NULL;

  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&streams->lock);
  stream = g_hash_table_lookup (streams->live, &number);
  if (stream == NULL)
    return NULL;
  *ret_after = after;
  return mcp_stream_ref (stream);
}

/* Drops what is over the bound, oldest first, and a finished stream with its last event. */
REQUIRES (mcp_streams)
static void
evict (struct mcp_streams *streams)
{
  GList *link = streams->events.head;

  while (link != NULL && (streams->bytes > streams->most || streams->events.length > EVENTS_MAX)) {
    struct event *event = link->data;
    GList *next = link->next;
    if (event->pins == 0) {
      const struct mcp_stream *stream = g_hash_table_lookup (streams->live, &event->stream);
      streams->bytes -= event->bytes;
      if (stream != NULL && stream->done && event->number + 1 == stream->next)
        g_hash_table_remove (streams->live, &event->stream);
      event_free (event);
      g_queue_delete_link (&streams->events, link);
    }
    link = next;
  }
}

static struct event *
http_stream_keep (struct mcp_stream *stream, const json_t *message)
{
  struct mcp_streams *streams = stream->streams;
  struct event *event = g_new0 (struct event, 1);

  event->stream = stream->number;
  event->text = json_to_text (message);
  event->bytes = strlen (event->text) + sizeof *event;
  event->pins = 1;
  g_mutex_lock (&streams->lock);
  event->number = stream->next++;
  streams->bytes += event->bytes;
  g_queue_push_tail (&streams->events, event);
  evict (streams);
  g_mutex_unlock (&streams->lock);
  return event;
}

static void
unpin (struct mcp_streams *streams, struct event *event)
{
  g_mutex_lock (&streams->lock);
  event->pins--;
  evict (streams);
  g_mutex_unlock (&streams->lock);
}

/* The first event of STREAM after AFTER; NULL: none is kept. */
REQUIRES (mcp_streams)
static struct event *
http_stream_find_event (const struct mcp_stream *stream, guint64 after)
{
  struct event *found = NULL;

  /* Mostly it is among the last. */
  for (GList *link = stream->streams->events.tail; link != NULL; link = link->prev) {
    struct event *event = link->data;
    if (event->stream != stream->number)
      continue;
    if (event->number <= after)
      break;
    found = event;
  }
  return found;
}

/* The same, pinned. */
static struct event *
next_event (struct mcp_stream *stream, guint64 after)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&stream->streams->lock);
  struct event *event = http_stream_find_event (stream, after);

  if (event != NULL)
    event->pins++;
  return event;
}

/* With `sending`. */
REQUIRES (mcp_stream)
static void
http_stream_hang_up (struct mcp_stream *stream)
{
  if (stream->out == NULL)
    return;
  http_stream_end (stream->out);
  g_clear_pointer (&stream->out, http_stream_unref);
}

/* With `sending`: everything that OUT lacks. */
REQUIRES (mcp_stream)
static void
http_stream_flush (struct mcp_stream *stream, gboolean wait)
{
  struct event *event;

  while (stream->out != NULL && (event = next_event (stream, stream->sent)) != NULL) {
    g_autofree char *id =
        g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, stream->number, event->number);
    stream->sent = event->number;
    if ((!wait && http_stream_is_full (stream->out)) ||
        !http_stream_send (stream->out, NULL, id, event->text))
      http_stream_hang_up (stream);
    unpin (stream->streams, event);
  }
}

enum rest { REST_NOTHING, REST_EVENTS, REST_END };

/* Remaining work for STREAM, whose events up to SENT were all sent. */
static enum rest
rest_of (struct mcp_stream *stream, guint64 sent)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&stream->streams->lock);

  if (stream->streams->ended)
    return REST_END;
  if (http_stream_find_event (stream, sent) != NULL)
    return REST_EVENTS;
  return stream->done ? REST_END : REST_NOTHING;
}

static void
let_out (struct mcp_stream *stream, gboolean wait)
{
  gboolean again = TRUE;

  while (again) {
    if (wait)
      g_mutex_lock (&stream->sending);
    else if (!g_mutex_trylock (&stream->sending))
      return; /* the holder checks again */
    http_stream_flush (stream, wait);
    guint64 sent = stream->sent;
    if (stream->out != NULL && rest_of (stream, sent) == REST_END)
      http_stream_hang_up (stream);
    gboolean is_there = stream->out != NULL;
    g_mutex_unlock (&stream->sending);
    /* An event may have been left in the queue while it was held. */
    again = is_there && rest_of (stream, sent) != REST_NOTHING;
  }
}

void
mcp_stream_send (struct mcp_stream *stream, const json_t *message, gboolean wait)
{
  struct event *event = http_stream_keep (stream, message);

  let_out (stream, wait);
  unpin (stream->streams, event);
}

void
mcp_stream_attach (struct mcp_stream *stream, struct http_stream *out, guint64 after)
{
  g_mutex_lock (&stream->sending);
  http_stream_hang_up (stream);
  stream->out = out;
  if (after != MCP_STREAM_UNSENT)
    stream->sent = after;
  g_autofree char *id =
      g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, stream->number, stream->sent);
  if (!http_stream_prime (out, id, stream->streams->retry_ms))
    http_stream_hang_up (stream);
  g_mutex_unlock (&stream->sending);
  let_out (stream, TRUE);
}

void
mcp_stream_pause (struct mcp_stream *stream)
{
  g_mutex_lock (&stream->sending);
  http_stream_hang_up (stream);
  g_mutex_unlock (&stream->sending);
}

void
mcp_stream_done (struct mcp_stream *stream)
{
  g_mutex_lock (&stream->streams->lock);
  stream->done = TRUE;
  if (http_stream_find_event (stream, 0) == NULL)
    g_hash_table_remove (stream->streams->live, &stream->number);
  g_mutex_unlock (&stream->streams->lock);
  let_out (stream, TRUE);
}

void
mcp_streams_end (struct mcp_streams *streams)
{
  g_mutex_lock (&streams->lock);
  streams->ended = TRUE;
  g_autoptr (GHashTable) live = g_steal_pointer (&streams->live);
  streams->live = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, stream_unref);
  g_mutex_unlock (&streams->lock);

  GHashTableIter iter;
  gpointer stream;
  g_hash_table_iter_init (&iter, live);
  while (g_hash_table_iter_next (&iter, NULL, &stream))
    let_out (stream, FALSE);
}

gboolean
mcp_streams_are_open (struct mcp_streams *streams)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&streams->lock);
  gboolean is_open = FALSE;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, streams->live);
  while (!is_open && g_hash_table_iter_next (&iter, NULL, &value)) {
    struct mcp_stream *stream = value;
    /* Against the lock order, so without waiting: a stream being sent on is open. */
    if (!g_mutex_trylock (&stream->sending))
      return TRUE;
    if (stream->out != NULL && http_stream_is_gone (stream->out))
      http_stream_hang_up (stream);
    is_open = stream->out != NULL;
    g_mutex_unlock (&stream->sending);
  }
  return is_open;
}
