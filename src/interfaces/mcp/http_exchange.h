/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from one HTTP request, carried out in a thread of their own while the connection's thread waits
 * for the kind of reply: one JSON value, if nothing is sent before the result, or an event stream. */
#pragma once

#include "interfaces/mcp/http_session.h"
#include "interfaces/mcp/mcp.h"
#include "interfaces/mcp/mcp_http.h"

struct mcp_exchange;

/* Threads, and the number at work. */
struct mcp_workers;
struct mcp_workers *mcp_workers_new (void);
/* Waits until all are done. NULL is allowed. */
void mcp_workers_free (struct mcp_workers *workers);

struct mcp_exchange_terms {
  struct mcp_workers *workers;
  struct mcp_http_sessions *sessions;
  struct mcp_http_session *session; /* of the legacy era; NULL: modern */
  gboolean may_stream;              /* the client accepts an event stream */
  gboolean is_batch;                /* the replies are an array */
  guint stream_after_ms;            /* a stream begins then, even without messages */
};

/* Carries out REQUESTS (of struct mcp_request; taken), and replies to REQUEST, which may end before them. */
void mcp_exchange_serve (const struct mcp_exchange_terms *terms, GPtrArray *requests,
                         struct http_request *request);

/* Connects the client of REQUEST to STREAM, in a thread that may wait for the client. */
void mcp_exchange_resume (const struct mcp_exchange_terms *terms, struct mcp_stream *stream, guint64 after,
                          struct http_request *request);
