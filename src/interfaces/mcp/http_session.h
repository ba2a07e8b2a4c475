/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the legacy era over HTTP: found by an id that nobody can guess, and used only by the principal
 * that began them. */
#pragma once

#include "interfaces/mcp/http_stream.h"
#include "interfaces/mcp/inflight.h"
#include "interfaces/mcp/mcp.h"

struct mcp_http_sessions;

struct mcp_http_session {
  gint references;
  struct mcp_session *session;
  struct mcp_streams *streams;
  struct mcp_stream *general; /* for what belongs to no request */
  struct mcp_inflight *inflight;
  gint active;    /* requests under way, atomically */
  gint64 used_us; /* with the lock of the table */
};

struct mcp_http_sessions *mcp_http_sessions_new (const struct config *config);
/* Ends all of them. When no request is under way any more. NULL is allowed. */
void mcp_http_sessions_free (struct mcp_http_sessions *sessions);
/* Ends all of them, cancels what is under way, and lets none begin. */
void mcp_http_sessions_end (struct mcp_http_sessions *sessions);

/* A session for OWNER that is not in the table yet. With a reference. */
struct mcp_http_session *mcp_http_session_new (struct mcp_http_sessions *sessions, const char *owner);
/* Puts SESSION into the table. Where its owner, or everybody together, has as many as may be, the one that
 * was idle longest is ended; ADDER_ERROR_BUSY when none is. */
gboolean mcp_http_session_add (struct mcp_http_sessions *sessions, struct mcp_http_session *session,
                               GError **error);
/* The session ID of OWNER, with a reference; NULL: there is none, or it is another's. */
struct mcp_http_session *mcp_http_session_find (struct mcp_http_sessions *sessions, const char *id,
                                                const char *owner);
/* Requests that OWNER has under way in their sessions, whether they wait for them or not. */
guint mcp_http_sessions_at_work (struct mcp_http_sessions *sessions, const char *owner);
/* A request begins in SESSION, which is not idle until it ends. */
void mcp_http_session_enter (struct mcp_http_session *session);
void mcp_http_session_leave (struct mcp_http_sessions *sessions, struct mcp_http_session *session);
/* Takes it out of the table, cancels what is under way in it, and hangs up. */
void mcp_http_session_end (struct mcp_http_sessions *sessions, struct mcp_http_session *session);
struct mcp_http_session *mcp_http_session_ref (struct mcp_http_session *session);
void mcp_http_session_unref (struct mcp_http_session *session);
