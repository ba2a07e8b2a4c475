/* SPDX-License-Identifier: Apache-2.0 */
/* Legacy sessions over HTTP: found by an unguessable id, and used only by the principal that began them. */
#pragma once

#include "interfaces/mcp/http_stream.h"
#include "interfaces/mcp/inflight.h"
#include "interfaces/mcp/mcp.h"

struct mcp_http_sessions;

struct mcp_http_session {
  gint references;
  struct mcp_session *session;
  struct mcp_streams *streams;
  struct mcp_stream *general; /* for messages outside requests */
  struct mcp_inflight *inflight;
  gint active;    /* active requests, atomic */
  gint64 used_us; /* with the lock of the table */
};

struct mcp_http_sessions *mcp_http_sessions_new (const struct config *config);
/* Ends all of them. Call when no request is active. NULL is allowed. */
void mcp_http_sessions_free (struct mcp_http_sessions *sessions);
/* Ends all of them, cancels active requests, and refuses new ones. */
void mcp_http_sessions_end (struct mcp_http_sessions *sessions);

/* A session for OWNER, not yet in the table. With a reference. */
struct mcp_http_session *mcp_http_session_new (struct mcp_http_sessions *sessions, const char *owner);
/* Puts SESSION into the table. At the limit, per owner or in all, the session idle longest ends;
 * ADDER_ERROR_BUSY when none is idle. */
gboolean mcp_http_session_add (struct mcp_http_sessions *sessions, struct mcp_http_session *session,
                               GError **error);
/* The session ID of OWNER, with a reference; NULL: it does not exist, or is another owner's. */
struct mcp_http_session *mcp_http_session_find (struct mcp_http_sessions *sessions, const char *id,
                                                const char *owner);
/* OWNER's active requests in their sessions, whether the client waits for them or not. */
guint mcp_http_sessions_at_work (struct mcp_http_sessions *sessions, const char *owner);
/* A request begins in SESSION, which is not idle until it ends. */
void mcp_http_session_enter (struct mcp_http_session *session);
void mcp_http_session_leave (struct mcp_http_sessions *sessions, struct mcp_http_session *session);
/* Takes it out of the table, cancels its active requests, and hangs up. */
void mcp_http_session_end (struct mcp_http_sessions *sessions, struct mcp_http_session *session);
struct mcp_http_session *mcp_http_session_ref (struct mcp_http_session *session);
void mcp_http_session_unref (struct mcp_http_session *session);
