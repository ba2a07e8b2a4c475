/* SPDX-License-Identifier: Apache-2.0 */
/* The local socket's protocol: frames of base/frame.h, most of them JSON, with descriptors beside them.
 *
 *     client                                   daemon
 *     HELLO {protocol, version, built}    ->
 *                                         <-   HELLO {protocol, version, built, pid, running, by_command}
 *     RUN {...} + descriptors             ->
 *     CODE bytes                          ->
 *                                         <-   STARTED, then STDOUT and STDERR bytes, DISPLAY {...} and
 *                                              PROGRESS {text, done, of} as they come
 *                                         <-   SAVED {error}       when a directory came with RUN
 *                                         <-   RESULT
 *     OPERATION {operation, params} + a descriptor ->
 *                                         <-   ANSWER {...}        operations/ says what is in them; a
 *                                                                  descriptor may come with it
 *     SESSION {op, ...} + descriptors     ->
 *                                         <-   ANSWER {...}        server_session.c says what is in them
 *                                         <-   STARTED ... RESULT  of each cell, after {op: replay}
 *                                         <-   ANSWER {...}        and what came of it
 *     CALL {tool, ...} + descriptor       ->
 *                                         <-   PROGRESS {text, done, of} as it comes, where CALL asked for it
 *                                         <-   ANSWER {...}        server_tools.h says what is in them
 *     MCP {toolset, ...} + descriptor       ->
 *                                         <-   ANSWER {}           server_mcp.h says what is in MCP; lines of
 *                                                                  MCP follow, both ways, to the end
 *     STOP {only_idle, keep_sessions}     ->
 *                                         <-   STOPPING {stopping, running, sessions, approvals}
 *
 * Requests follow each other on one connection; each has one answer, in which REFUSED {code, message} may
 * stand for any of it. Output and code are bytes and not JSON: so a picture written to standard output stays
 * whole, and code that is not UTF-8 reaches the library, which says so in a result like any other.
 *
 * A client cancels its run by shutting down its writing half (which a signal handler could do); the result
 * still comes. HELLO, STOP, STOPPING and REFUSED keep their numbers and fields in all versions, so that a
 * newer command line can always end an older daemon; they may get more fields. Numbers are those of the
 * machine: both ends are on one.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "interfaces/service/submission.h"

#define PROTOCOL_VERSION 10

enum protocol_kind {
  PROTOCOL_HELLO = 1,
  PROTOCOL_REFUSED,
  PROTOCOL_STOP,
  PROTOCOL_STOPPING,
  PROTOCOL_RUN,
  PROTOCOL_CODE,
  PROTOCOL_STARTED,
  PROTOCOL_STDOUT,
  PROTOCOL_STDERR,
  PROTOCOL_DISPLAY,
  PROTOCOL_SAVED,
  PROTOCOL_RESULT, /* struct protocol_result, then the result as JSON text */
  PROTOCOL_SESSION,
  PROTOCOL_ANSWER,
  PROTOCOL_CALL,
  PROTOCOL_MCP,
  PROTOCOL_PROGRESS,
  PROTOCOL_OPERATION,
};

struct protocol_result {
  gint32 exit_code; /* as adder_result_exit_code says */
  guint32 outcome;  /* AdderOutcome */
};

/* What a receiver waits for. A frame that is not legal then, too long or with descriptors too many ends the
 * connection. */
enum protocol_state {
  PROTOCOL_AWAIT_HELLO,   /* daemon: nothing was said yet; client: the answer to it */
  PROTOCOL_AWAIT_REQUEST, /* daemon */
  PROTOCOL_AWAIT_CODE,    /* daemon: after RUN */
  PROTOCOL_AWAIT_ANSWER,  /* client: to OPERATION, SESSION, CALL, MCP or STOP */
  PROTOCOL_AWAIT_EVENT,   /* client: after CODE */
};

#define PROTOCOL_FDS_MAX SUBMISSION_FDS_MAX /* of one RUN, the message with most of them */
#define PROTOCOL_CODE_MAX                                                                                    \
  (16u << 20) /* more than the limit code_bytes may be, so that the library can say how long it was */

struct protocol_message {
  enum protocol_kind kind;
  char *data; /* a zero byte follows */
  gsize length;
  int fds[PROTOCOL_FDS_MAX]; /* owned, CLOEXEC; -1 where taken */
  gsize fd_count;
};

/* The longest that a frame may take once it has begun, and the longest that a peer may not read what it is
 * sent. */
#define PROTOCOL_FRAME_MS 10000
#define PROTOCOL_STALL_MS (10 * 60 * 1000)

/* Receives one frame that is legal in STATE, waiting TIMEOUT_MS (-1: for ever) for all of it. The message is
 * the caller's. At the end of the stream ERROR is ADDER_ERROR_CANCELLED. */
gboolean protocol_receive (int socket, enum protocol_state state, int timeout_ms,
                           struct protocol_message *ret_message, GError **error);
void protocol_message_clear (struct protocol_message *message);

/* Sends one frame with COUNT descriptors, which the caller keeps. Fails when the peer takes nothing for
 * PROTOCOL_STALL_MS, and with ADDER_ERROR_CANCELLED when it is gone. */
gboolean protocol_send (int socket, enum protocol_kind kind, const void *data, gsize length, const int *fds,
                        gsize count, GError **error);
gboolean protocol_send_json (int socket, enum protocol_kind kind, const json_t *value, GError **error);
/* REFUSED, from ERROR; and the way back. */
gboolean protocol_send_refused (int socket, const GError *refusal, GError **error);
void protocol_take_refusal (const struct protocol_message *message, GError **error);
/* Who speaks: versions are compared by number, equal ones by the time at which the program was built, so that
 * a rebuilt command line counts as newer. */
struct protocol_hello {
  guint protocol;
  char version[32];
  gint64 built_us;
  /* Of a daemon only. */
  gint64 pid;
  guint running;
  gboolean started_by_command; /* one that needed a daemon: nobody asked for this very one */
};

/* This program's own; pid and running are left 0. */
void protocol_hello_own (struct protocol_hello *ret_hello);
json_t *protocol_hello_to_json (const struct protocol_hello *hello);
gboolean protocol_hello_from_message (const struct protocol_message *message,
                                      struct protocol_hello *ret_hello, GError **error);
/* Below, at or above 0 as LEFT is older than, the same as or newer than RIGHT. */
int protocol_hello_compare (const struct protocol_hello *left, const struct protocol_hello *right);
