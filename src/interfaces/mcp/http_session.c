/* SPDX-License-Identifier: Apache-2.0 */
/* No timer waits for sessions to expire: lookups in the table sweep it from time to time. */
#include "interfaces/mcp/http_session.h"

#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/guarded.h"
#include "common/random_bytes.h"
#include "engine/host/id.h"

#define ID_RANDOM_BYTES 16
#define SWEEP_US        (10 * G_USEC_PER_SEC)

LOCK_CLASS (mcp_http_sessions);

struct mcp_http_sessions {
  const struct config *config;
  MUTEX (mcp_http_sessions) lock;
  GUARDED_BY (mcp_http_sessions) GHashTable *by_id; /* each has a reference */
  GUARDED_BY (mcp_http_sessions) gint64 swept_us;
  GUARDED_BY (mcp_http_sessions) gboolean ended;
};

static void
session_release (gpointer data)
{
  mcp_http_session_unref (data);
}

struct mcp_http_sessions *
mcp_http_sessions_new (const struct config *config)
{
  struct mcp_http_sessions *sessions = g_new0 (struct mcp_http_sessions, 1);

  sessions->config = config;
  g_mutex_init (&sessions->lock);
  sessions->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, session_release);
  return sessions;
}

void
mcp_http_sessions_free (struct mcp_http_sessions *sessions)
{
  if (sessions == NULL)
    return;
  mcp_http_sessions_end (sessions);
  UNSHARED (mcp_http_sessions);
  g_hash_table_unref (sessions->by_id);
  g_mutex_clear (&sessions->lock);
  g_free (sessions);
}

struct mcp_http_session *
mcp_http_session_ref (struct mcp_http_session *session)
{
  g_atomic_int_inc (&session->references);
  return session;
}

void
mcp_http_session_unref (struct mcp_http_session *session)
{
  if (session == NULL || !g_atomic_int_dec_and_test (&session->references))
    return;
  mcp_session_end (session->session); /* of one that never entered the table */
  mcp_streams_end (session->streams);
  mcp_session_unref (session->session);
  mcp_stream_unref (session->general);
  mcp_streams_unref (session->streams);
  mcp_inflight_free (session->inflight);
  g_free (session);
}

/* Messages outside requests go to the stream for those; it must not block. */
static gboolean
send_beside (gpointer data, const json_t *message)
{
  mcp_stream_send (data, message, FALSE);
  return TRUE;
}

static char *
make_id (void)
{
  char random[2 * ID_RANDOM_BYTES + 1], node[7];
  random_digits (random, ID_RANDOM_BYTES);
  id_digits (node);
  return g_strconcat (random, node, NULL);
}

struct mcp_http_session *
mcp_http_session_new (struct mcp_http_sessions *sessions, const char *owner)
{
  const struct config *config = sessions->config;
  struct mcp_http_session *session = g_new0 (struct mcp_http_session, 1);
  g_autofree char *id = make_id ();

  session->references = 1;
  session->streams = mcp_streams_new (config->mcp_replay_bytes, (guint)config->mcp_retry_ms);
  session->general = mcp_stream_general (session->streams);
  session->inflight = mcp_inflight_new ((guint)config->max_mcp_requests);
  session->session = mcp_session_new (id, owner, send_beside, session->general);
  session->used_us = g_get_monotonic_time ();
  return session;
}

/* ---- the table ---- */

static void
http_session_hang_up (struct mcp_http_session *session)
{
  mcp_session_end (session->session);
  mcp_inflight_cancel_all (session->inflight);
  mcp_streams_end (session->streams);
}

static void
hang_up_on (GPtrArray *over)
{
  for (guint i = 0; i < over->len; i++)
    http_session_hang_up (g_ptr_array_index (over, i));
}

static gboolean
is_idle (struct mcp_http_session *session)
{
  return g_atomic_int_get (&session->active) == 0 && !mcp_streams_are_open (session->streams);
}

/* Takes SESSION out; the caller hangs up on those in OVER after releasing the lock. */
REQUIRES (mcp_http_sessions)
static void
take_out (struct mcp_http_sessions *sessions, struct mcp_http_session *session, GPtrArray *over)
{
  g_ptr_array_add (over, mcp_http_session_ref (session));
  g_hash_table_remove (sessions->by_id, session->session->id);
}

/* Takes out sessions that were idle for too long. */
REQUIRES (mcp_http_sessions)
static void
http_session_sweep (struct mcp_http_sessions *sessions, gint64 now, GPtrArray *over)
{
  GHashTableIter iter;
  gpointer value;

  if (now - sessions->swept_us < SWEEP_US)
    return;
  sessions->swept_us = now;
  g_hash_table_iter_init (&iter, sessions->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct mcp_http_session *session = value;
    if (now - session->used_us < (gint64)sessions->config->mcp_session_idle_ms * 1000)
      continue;
    if (!is_idle (session)) {
      session->used_us = now;
      continue;
    }
    g_ptr_array_add (over, mcp_http_session_ref (session));
    g_hash_table_iter_remove (&iter);
  }
}

/* Makes room for one more of OWNER (NULL: of everybody), with a maximum of MOST. FALSE: all are at work. */
REQUIRES (mcp_http_sessions)
static gboolean
http_session_make_room (struct mcp_http_sessions *sessions, const char *owner, guint64 most, GPtrArray *over)
{
  struct mcp_http_session *oldest = NULL;
  guint64 count = 0;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, sessions->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct mcp_http_session *session = value;
    if (owner != NULL && strcmp (session->session->owner, owner) != 0)
      continue;
    count++;
    if ((oldest == NULL || session->used_us < oldest->used_us) && is_idle (session))
      oldest = session;
  }
  if (count < most)
    return TRUE;
  if (oldest == NULL)
    return FALSE;
  take_out (sessions, oldest, over);
  return TRUE;
}

gboolean
mcp_http_session_add (struct mcp_http_sessions *sessions, struct mcp_http_session *session, GError **error)
{
  const struct config *config = sessions->config;
  g_autoptr (GPtrArray) over = g_ptr_array_new_with_free_func (session_release);
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&sessions->lock);
  http_session_sweep (sessions, now, over);
  gboolean has_room =
      !sessions->ended &&
      http_session_make_room (sessions, session->session->owner, config->max_mcp_sessions_owner, over) &&
      http_session_make_room (sessions, NULL, config->max_mcp_sessions, over);
  if (has_room)
    g_hash_table_insert (sessions->by_id, session->session->id, mcp_http_session_ref (session));
  g_mutex_unlock (&sessions->lock);
  hang_up_on (over);
  if (!has_room)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "there are as many MCP sessions as may be, and all are at work");
  return has_room;
}

struct mcp_http_session *
mcp_http_session_find (struct mcp_http_sessions *sessions, const char *id, const char *owner)
{
  g_autoptr (GPtrArray) over = g_ptr_array_new_with_free_func (session_release);
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&sessions->lock);
  http_session_sweep (sessions, now, over);
  struct mcp_http_session *session = g_hash_table_lookup (sessions->by_id, id);
  if (session != NULL && strcmp (session->session->owner, owner) != 0)
    session = NULL;
  if (session != NULL) {
    session->used_us = now;
    mcp_http_session_ref (session);
  }
  g_mutex_unlock (&sessions->lock);
  hang_up_on (over);
  return session;
}

guint
mcp_http_sessions_at_work (struct mcp_http_sessions *sessions, const char *owner)
{
  guint count = 0;
  GHashTableIter iter;
  gpointer value;

  g_mutex_lock (&sessions->lock);
  g_hash_table_iter_init (&iter, sessions->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct mcp_http_session *session = value;
    if (strcmp (session->session->owner, owner) == 0)
      count += (guint)g_atomic_int_get (&session->active);
  }
  g_mutex_unlock (&sessions->lock);
  return count;
}

void
mcp_http_session_enter (struct mcp_http_session *session)
{
  g_atomic_int_inc (&session->active);
}

void
mcp_http_session_leave (struct mcp_http_sessions *sessions, struct mcp_http_session *session)
{
  g_mutex_lock (&sessions->lock);
  session->used_us = g_get_monotonic_time ();
  g_mutex_unlock (&sessions->lock);
  g_atomic_int_add (&session->active, -1);
}

void
mcp_http_session_end (struct mcp_http_sessions *sessions, struct mcp_http_session *session)
{
  g_mutex_lock (&sessions->lock);
  g_hash_table_remove (sessions->by_id, session->session->id);
  g_mutex_unlock (&sessions->lock);
  http_session_hang_up (session);
}

void
mcp_http_sessions_end (struct mcp_http_sessions *sessions)
{
  g_autoptr (GPtrArray) over = g_ptr_array_new_with_free_func (session_release);
  GHashTableIter iter;
  gpointer value;

  g_mutex_lock (&sessions->lock);
  sessions->ended = TRUE;
  g_hash_table_iter_init (&iter, sessions->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    g_ptr_array_add (over, mcp_http_session_ref (value));
    g_hash_table_iter_remove (&iter);
  }
  g_mutex_unlock (&sessions->lock);
  hang_up_on (over);
}
