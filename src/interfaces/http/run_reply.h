/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as replies: a result, a stream of events, or a run in the background. */
#pragma once

#include "interfaces/http/http.h"

/* Runs ASKED, which is taken, as BODY's `stream` and `background` say, and replies. */
void run_reply (struct http_request *request, AdderRequest *asked, const json_t *body);

/* Sends the events of a run, but for its result, to STREAM. FALSE: the client is gone. */
struct run_events;
struct run_events *run_events_new (struct http_stream *stream);
void run_events_free (struct run_events *events);
gboolean run_events_send (struct run_events *events, AdderRun *run, const AdderEvent *event);
/* What was held back of them since a character was not whole. */
gboolean run_events_flush (struct run_events *events);

/* VALUE, which is taken, as the event NAME. FALSE: the client is gone. */
gboolean run_events_tell (struct http_stream *stream, const char *name, json_t *value);
