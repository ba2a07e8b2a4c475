/* SPDX-License-Identifier: Apache-2.0 */
/* What the registry of sessions (sessions.c), its thread (sessions_thread.c) and its accounts
 * (sessions_view.c) share. */
#pragma once

#include "engine/sessions.h"

struct sessions {
  struct host *host;
  struct news *news;
  GMutex lock;
  GThread *thread;
  int epoll_fd, wake_fd;

  /* under the lock */
  gboolean closed;
  guint64 numbers;
  GHashTable *by_id;    /* id -> session; holds the registry's reference */
  GHashTable *by_name;  /* name and owner -> the newest session with them */
  GQueue live, ended;   /* in the order in which they were made, and ended */
  guint64 memory_bytes; /* of all that live */
  gint64 planned_us;    /* when the thread looks next */
  GList *given_up;      /* boxes, to be discarded without the lock */
  GList *forgotten;     /* sessions, the same */
};

const struct host *sessions_host (const struct sessions *sessions);

void sessions_lock (struct sessions *sessions);

/* And does what had to wait for it. */
void sessions_unlock (struct sessions *sessions);

/* ---- with the lock held ---- */

/* Ends SESSION, unless it has ended. Takes REASON. */
void sessions_end_locked (struct session *session, char *reason);

/* Gives up the turn, by who has it: when REASON, which is taken, is not NULL or SESSION has ended, with its
 * box. */
void sessions_leave_locked (struct session *session, char *reason);

/* For who has the turn: SESSION goes on with BOX, and the one that it had is discarded. */
void sessions_replace_box (struct session *session, struct box *box);

/* Of OWNER, or of all where that is NULL; or NULL. */
struct session *sessions_idle_longest (struct sessions *sessions, const char *owner);

/* SESSION is idle from now on, or goes on to be: it is to be looked at in DELAY_US. */
void sessions_plan_look (struct session *session, gint64 delay_us);

/* When it will end if nobody uses it. */
gint64 sessions_expiry_us (const struct session *session);

/* The thread's function; DATA is the registry. */
gpointer sessions_thread (gpointer data);

/* What a session of OWNER with NAME goes by in by_name. The caller's. */
char *sessions_key (const char *owner, const char *name);
