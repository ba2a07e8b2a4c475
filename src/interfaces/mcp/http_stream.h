/* SPDX-License-Identifier: Apache-2.0 */
/* Event streams of one legacy session, which a client that lost one can resume: sent events are kept, up to a
 * number of bytes for all streams of the session together, dropping the oldest first. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/http/http.h"

struct mcp_streams;
struct mcp_stream;

/* Those of one session, which keeps MOST bytes of events; RETRY_MS is the client's reconnection delay. With
 * one reference. */
struct mcp_streams *mcp_streams_new (gsize most, guint retry_ms);
void mcp_streams_unref (struct mcp_streams *streams);
/* Hangs up on all of them; nothing is sent any more. */
void mcp_streams_end (struct mcp_streams *streams);
/* Whether a client is connected to one of them. */
gboolean mcp_streams_are_open (struct mcp_streams *streams);

/* A new stream, for the messages of one request. With one reference. */
struct mcp_stream *mcp_stream_new (struct mcp_streams *streams);
/* The stream for messages outside requests: there is one. With a reference. */
struct mcp_stream *mcp_stream_general (struct mcp_streams *streams);
struct mcp_stream *mcp_stream_ref (struct mcp_stream *stream);
void mcp_stream_unref (struct mcp_stream *stream);

#define MCP_STREAM_UNSENT G_MAXUINT64

/* Connects OUT, which is taken, replacing an earlier one: the client is told how to reconnect, gets the
 * events after AFTER (MCP_STREAM_UNSENT: those nobody got yet), and all later ones. May wait while the client
 * is slow, so not in its connection's thread. */
void mcp_stream_attach (struct mcp_stream *stream, struct http_stream *out, guint64 after);
/* The stream and number for the id EVENT of a client: with a reference. NULL: none of this session. */
struct mcp_stream *mcp_stream_find (struct mcp_streams *streams, const char *event, guint64 *ret_after);

/* Sends MESSAGE, now or when the client comes back. With WAIT it waits while the client is slow; without, it
 * hangs up on a slow client. */
void mcp_stream_send (struct mcp_stream *stream, const json_t *message, gboolean wait);
/* Hangs up on the client, who comes back for the rest. */
void mcp_stream_pause (struct mcp_stream *stream);
/* The stream is complete. */
void mcp_stream_done (struct mcp_stream *stream);
