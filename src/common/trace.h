/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: what a request went through, as spans that are sent to a collector of OpenTelemetry (OTLP over
 * HTTP, JSON), where [tracing] names one. The context is that of W3C Trace Context: a caller's `traceparent`
 * is continued, and says whether the trace is sampled.
 *
 * A span is its maker's until trace_end, which copies it into a bounded queue; a thread sends the queue. When
 * the collector is away spans are lost, never runs. Without trace_start nothing is sampled. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"

#define TRACE_PARENT_BYTES 56 /* of a traceparent, with its end */

enum trace_kind { TRACE_INTERNAL = 1, TRACE_SERVER = 2, TRACE_CLIENT = 3 }; /* as OTLP numbers them */

struct trace_span {
  char trace[33], span[17], parent[17]; /* hexadecimal; PARENT may be "" */
  gboolean sampled;
  gint64 start_us; /* since 1970 */
};

/* Sends to the collector of CONFIG, if it names one, until trace_stop. NODE is this daemon. FALSE with ERROR:
 * it cannot. */
gboolean trace_start (const struct config *config, const char *node, GError **error);
/* Sends what is left, for two seconds at most. */
void trace_stop (void);

/* Whether TEXT, which may be NULL, is a traceparent of version 00. */
gboolean trace_is_parent (const char *text);

/* Begins a span at START_US (since 1970; 0: now) within PARENT, a traceparent, or without one (NULL) a trace.
 */
void trace_begin (struct trace_span *span, const char *parent, gint64 start_us);
/* The traceparent for what happens within SPAN. */
void trace_parent_of (const struct trace_span *span, char ret_parent[TRACE_PARENT_BYTES]);
/* It ended at END_US (0: now). ATTRIBUTES, an object of texts, numbers and booleans, is taken and may be
 * NULL. FAILURE: what went wrong; NULL: nothing did. */
void trace_end (const struct trace_span *span, const char *name, enum trace_kind kind, gint64 end_us,
                json_t *attributes, const char *failure);

/* The traceparent that requests made in this thread from now on belong to; "": none. */
void trace_set_current (const char *parent);
/* NULL: none. Valid until the next trace_set_current of this thread. */
const char *trace_current (void);
