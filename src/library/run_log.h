/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one run, numbered from 1, for any number of followers that come and go. It holds a bounded
 * number of bytes: the writer never waits, and a follower that is too slow learns how many events it has
 * missed. */
#pragma once

#include <glib.h>

struct run_log;

/* MOST: bytes that it holds; the last event is held whatever its size. The caller's reference. */
struct run_log *run_log_new (guint64 most);
struct run_log *run_log_ref (struct run_log *log);
/* NULL is allowed. */
void run_log_unref (struct run_log *log);

/* The event NAME with TEXT is the last. */
void run_log_add (struct run_log *log, const char *name, const char *text);
/* Nothing more will come. */
void run_log_end (struct run_log *log);
/* What it holds now. */
guint64 run_log_bytes (struct run_log *log);

struct run_logged {
  guint64 number;
  char *name, *text;
};
struct run_logged *run_logged_ref (struct run_logged *event);
void run_logged_unref (struct run_logged *event);

enum run_log_found {
  RUN_LOG_EVENT,  /* *RET_EVENT, the caller's reference */
  RUN_LOG_MISSED, /* *RET_MISSED events after AFTER are gone */
  RUN_LOG_ENDED,  /* nothing comes after AFTER, now or later */
  RUN_LOG_GONE,   /* the peer of WATCH_FD hung up, or waiting is impossible */
};

/* The first event after the number AFTER: waits for it, or until the peer of the socket WATCH_FD (-1: none)
 * hangs up. */
enum run_log_found run_log_next (struct run_log *log, guint64 after, int watch_fd,
                                 struct run_logged **ret_event, guint64 *ret_missed);
