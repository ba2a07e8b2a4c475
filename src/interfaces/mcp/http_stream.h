/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of events of one session of the legacy era, which a client that lost one can take up again where
 * they were: what was sent is kept, for all streams of the session together up to one number of bytes, the
 * oldest going first. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/http/http.h"

struct mcp_streams;
struct mcp_stream;

/* Those of one session, which keeps MOST bytes of events; RETRY_MS is how long a client is asked to wait
 * before it comes again. With one reference. */
struct mcp_streams *mcp_streams_new (gsize most, guint retry_ms);
void mcp_streams_unref (struct mcp_streams *streams);
/* Hangs up on all of them; nothing is sent any more. */
void mcp_streams_end (struct mcp_streams *streams);
/* Whether a client is connected to one of them. */
gboolean mcp_streams_are_open (struct mcp_streams *streams);

/* A new stream, for the messages of one request. With one reference. */
struct mcp_stream *mcp_stream_new (struct mcp_streams *streams);
/* The stream for what belongs to no request: there is one. With a reference. */
struct mcp_stream *mcp_stream_general (struct mcp_streams *streams);
struct mcp_stream *mcp_stream_ref (struct mcp_stream *stream);
void mcp_stream_unref (struct mcp_stream *stream);

#define MCP_STREAM_UNSENT G_MAXUINT64

/* Connects OUT, which is taken, in the place of one that was there before: the client is told how to come
 * again, gets what came after event AFTER (MCP_STREAM_UNSENT: what nobody got yet), and what comes from now
 * on. May wait while the client is slow, so not in the thread of its connection. */
void mcp_stream_attach (struct mcp_stream *stream, struct http_stream *out, guint64 after);
/* What the id EVENT of an event, as a client has it, stands for: with a reference. NULL: none of this
 * session. */
struct mcp_stream *mcp_stream_find (struct mcp_streams *streams, const char *event, guint64 *ret_after);

/* Sends MESSAGE, now or when the client comes back. With WAIT it waits while the client is slow; without, a
 * client that is too slow is hung up on. */
void mcp_stream_send (struct mcp_stream *stream, const json_t *message, gboolean wait);
/* Hangs up on the client, who comes back for the rest. */
void mcp_stream_pause (struct mcp_stream *stream);
/* That was all. */
void mcp_stream_done (struct mcp_stream *stream);
