/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as replies: a result, a stream of events, or a run in the background. */
#pragma once

#include "interfaces/http/http.h"

struct run_log;

/* Runs ASKED, which is taken, as BODY's `stream`, `background` and `detach` say, and replies. */
void run_reply (struct http_request *request, AdderRequest *asked, const json_t *body);

/* Replies with the events in LOG, whose reference is taken, after the number AFTER, as they come. */
void run_follow (struct http_request *request, struct run_log *log, guint64 after);

/* Sends the events of a run to STREAM (NUMBERED: with ids from 1 on) or to LOG; the other is NULL. FALSE: the
 * client is gone. */
struct run_events;
struct run_events *run_events_new (struct http_stream *stream, gboolean numbered, struct run_log *log);
void run_events_free (struct run_events *events);
gboolean run_events_send (struct run_events *events, AdderRun *run, const AdderEvent *event);
/* The bytes held back because a character was incomplete; and the same with RESULT, the last, after it. */
gboolean run_events_flush (struct run_events *events);
gboolean run_events_end (struct run_events *events, const AdderResult *result);

/* VALUE, which is taken, as the event NAME. FALSE: the client is gone. */
gboolean run_events_tell (struct http_stream *stream, const char *name, json_t *value);
