/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon on another machine: its address, and what it is asked over HTTP. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/http_client.h"
#include "interfaces/service/submission.h"
#include "models/sse.h"

/* URL in place of ADDER_URL: "http://HOST:PORT", "https://HOST" or "unix:/PATH", perhaps with a path before
 * /v1. An empty one is this machine. NULL: what the environment says. */
void remote_set_url (const char *url);

/* Whether another machine is meant, and what is said where --no-daemon is given as well. */
gboolean remote_is_set (void);
#define REMOTE_OR_NO_DAEMON "--no-daemon runs in this process: leave it out, or --url and ADDER_URL"

/* One request. The answer's status is 2xx, or the reply is FALSE with what the daemon says as ERROR.
 * ASKED->url is a path ("/v1/runs"); address and token are added, and TYPE, that of its body (NULL: it has
 * none). CANCEL_FD as http_client_perform has it. */
gboolean remote_request (const struct http_client_request *asked, const char *type, int cancel_fd,
                         struct http_response *ret_response, GError **error);

/* BODY, or nothing where it is NULL, by METHOD to PATH; the answer, one of REPLIES as remote_check has them
 * (NULL: any object), is the caller's. */
struct field;
json_t *remote_ask (const char *method, const char *path, const json_t *body,
                    const struct field *const *replies, int cancel_fd, GError **error);

/* The same, where its answer is not waited for longer than seconds. Whether it came. */
gboolean remote_ask_soon (const char *method, const char *path, const json_t *body);

/* Whether ANSWER is one of REPLIES (field_fits; ends with NULL); what is not is ADDER_ERROR_FAILED. */
gboolean remote_check (const json_t *answer, const struct field *const *replies, GError **error);

/* POSTs BODY to PATH, and tells EVENT what comes. TRUE: all of it came. */
gboolean remote_stream (const char *path, const json_t *body, int cancel_fd, sse_event_f event, gpointer data,
                        GError **error);

/* Writes what GET PATH answers to the descriptor TO. */
struct remote_content {
  guint64 bytes, lines; /* lines as CSV counts them */
  char sha256[65];
};
gboolean remote_download (const char *path, int to, struct remote_content *ret_content, GError **error);

/* Does OPERATION (operations/operation.h) there, as client_call_with. PARAMS are taken. */
json_t *remote_call (const char *operation, json_t *params, int fd, int *ret_fd, GError **error);

/* The body over HTTP of a run, or of a session's options where it has no code, that REQUEST asks for.
 * ADDER_ERROR_UNSUPPORTED: it names what is of this machine. The caller's. */
json_t *remote_body (const struct submission *request, GError **error);

/* Where the events of REQUEST's run there come from. REQUEST must live as long. */
struct event_source *remote_run (const struct submission *request, GError **error);

/* The same of a replay: as event_source_replay. */
struct event_source *remote_replay (const json_t *question, const struct submission *options,
                                    json_t **ret_answer, GError **error);

/* A call of a tool: QUESTION and the answer are as on the local socket (server_tools.h). SAW (NULL: nobody)
 * is told how far it is. */
struct tool_progress;
json_t *remote_tool (const json_t *question,
                     void (*saw) (gpointer data, const struct tool_progress *progress), gpointer data,
                     int cancel_fd, GError **error);
