/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP as handlers see it: a request that was read, checked and authorized, and one reply.
 *
 * A route is a row: method, path, its parameters and replies, its handler. Routing, the checking of
 * parameters, /openapi.json and the documentation are made from the rows. A handler is a straight line in its
 * connection's own thread: it may block, reads what the request has, and replies once. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/service/service.h"
#include "policy/principal.h"
#include "tools/table.h"

#define HTTP_PATH_PARAMETERS 4 /* maximum in one route */

struct operation;
struct reservation;
struct http_request;

enum http_route_flags {
  HTTP_OPEN = 1 << 0,      /* needs no authentication (health, signed URLs) */
  HTTP_RAW_BODY = 1 << 1,  /* the handler reads the body as bytes, any type */
  HTTP_MULTIPART = 1 << 2, /* multipart/form-data: each part is in an unnamed file */
  HTTP_DECIDES = 1 << 3,   /* speaks for a person: principal.may_decide */
  HTTP_STREAMS = 1 << 4,   /* may answer with an event stream: text/event-stream in /openapi.json */
  HTTP_RANGES = 1 << 6,    /* supports ranges and conditions: 206, 304, 412, 416 */
  HTTP_LOOKS = 1 << 5,     /* also for read-only principals; GET and HEAD always are */
  HTTP_NO_COOKIE = 1 << 7, /* never for a browser's cookie */
  HTTP_ANY_PAGE = 1 << 8,  /* also for pages of other origins: the reply is the same for everybody */
  HTTP_SIGNS_IN = 1 << 9,  /* open, and identifies the caller itself: 401, 403 */
};

struct http_route {
  const char *method;                 /* "POST" */
  const char *path;                   /* "/v1/sessions/{session}/cells" */
  const char *operation;              /* operationId: "runCell" */
  const char *tag;                    /* "sessions" */
  const char *title;                  /* a few words */
  const char *text;                   /* a sentence or more */
  enum role role;                     /* the lowest role allowed */
  guint flags;                        /* of enum http_route_flags */
  const struct field *parameters;     /* of the path; NULL: none */
  const struct field *query;          /* NULL: none */
  const struct field *body;           /* of a JSON body; NULL: none */
  const struct field *const *replies; /* of a successful JSON reply, as of a tool; NULL: none */
  int status;                         /* of success: 200 */
  /* Of a reply other than JSON: "text/plain"; several: separated by blanks; any: the star. NULL: JSON. */
  const char *reply_type;
  void (*handle) (struct http_request *request);
  const struct operation *called; /* by http_operations.c; NULL: the handler does it itself */
};

/* The tables of routes, one file each; each ends with a row without a path. */
extern const struct http_route http_routes_meta[];    /* /healthz /readyz /metrics /openapi.json */
extern const struct http_route http_routes_sign_in[]; /* /v1/sign-in */
extern const struct http_route http_routes_web[];     /* the page */
extern const struct http_route http_routes_files[], http_routes_tools[], http_routes_records[],
    http_routes_runs[], http_routes_mcp[], http_routes_oauth[], http_routes_node[];

/* Routes of operations, made from their rows by the first call; a server makes it. */
#define HTTP_OPERATIONS_MAX 200
extern struct http_route http_routes_operations[HTTP_OPERATIONS_MAX + 1];
void http_operations_fill (void);

/* ---- the request: all of it is the request's own, valid until the handler returns ---- */

struct service *http_service (struct http_request *request);
/* The caller; NULL only on an HTTP_OPEN route. */
const struct principal *http_who (struct http_request *request);
const struct http_route *http_route (struct http_request *request);
/* A header by its name, whatever its case; NULL: absent. */
const char *http_header (struct http_request *request, const char *name);
/* A parameter of the path, decoded and checked. Never NULL for a name in the route. */
const char *http_parameter (struct http_request *request, const char *name);
/* The query and the body as objects with every field of the route, defaults filled in. */
const json_t *http_query (struct http_request *request);
const json_t *http_body (struct http_request *request);
/* The body's bytes, of a route with HTTP_RAW_BODY. */
const char *http_body_bytes (struct http_request *request, gsize *ret_length);
/* The memory reserved for the body, may be NULL: code that keeps a part beyond the handler holds a reference
 * for as long (service/quota.h). */
struct reservation *http_reservation (struct http_request *request);
/* The client's socket, for adder_request_set_watch and similar: it hangs up when the client goes. -1:
 * none. */
int http_watch_fd (struct http_request *request);

/* The parts of a multipart body, in order. */
struct http_part {
  const char *name;     /* of the field */
  const char *filename; /* as the client sent it, unsanitized; NULL: it is no file */
  const char *type;     /* NULL: absent */
  int fd;               /* to read its bytes from the start; the request's */
  guint64 bytes;
};
const struct http_part *http_parts (struct http_request *request, gsize *ret_count);

/* Whether others may read what goes over the connection: TCP without TLS, from another machine. */
gboolean http_is_exposed (struct http_request *request);

/* Gives ASKED the id of the run that REQUEST asks for, if it came from the queue of a cluster. */
void http_set_queued (struct http_request *request, AdderRequest *asked);

/* When the request's first line came, as of g_get_monotonic_time. */
gint64 http_begun_us (struct http_request *request);
/* The path as it was sent, without the query. */
const char *http_path (struct http_request *request);

/* A header for the coming reply; NAME and VALUE are copied. Before the reply. */
void http_set_header (struct http_request *request, const char *name, const char *value);

/* ---- replies: one of these, once ---- */

/* VALUE is taken. */
void http_reply_json (struct http_request *request, int status, json_t *value);
/* JSON text from the library, which is taken (g_free); NULL: PROBLEM, as a problem document. */
void http_reply_text (struct http_request *request, int status, char *text, const GError *problem);
void http_reply_bytes (struct http_request *request, int status, const char *type, const void *data,
                       gsize length);
/* No body. */
void http_reply_status (struct http_request *request, int status);
/* RFC 9457, with the status that belongs to the error's code: INVALID 400, NOT_FOUND 404, REFUSED 403,
 * APPROVAL 403, BUSY 429 with Retry-After if waiting helps, EXISTS 409, ENDED 410, TIMEOUT 504, UNSUPPORTED
 * 422, CANCELLED 499, FAILED 500. */
void http_reply_problem (struct http_request *request, const GError *problem);
/* The same with a status of its own. */
void http_reply_problem_status (struct http_request *request, int status, const GError *problem);
/* LENGTH bytes of FD, which is taken, from OFFSET on; the caller handles Range (http_range.h). */
void http_reply_file (struct http_request *request, int status, const char *type, int fd, guint64 offset,
                      guint64 length);
/* Calls RELEASE with DATA when the reply was sent or the client has gone; once for each request. */
void http_free_after (struct http_request *request, gpointer data, GDestroyNotify release);

/* ---- streams of events (text/event-stream) ---- */

struct http_stream;

/* Answers with a stream, which any thread may write to from now on until http_stream_end. The handler
 * returns, and the connection's thread sends what is written, with comments in between to keep it alive. The
 * caller has a reference, given back with http_stream_unref. */
struct http_stream *http_reply_stream (struct http_request *request);
/* The same, written to by PRODUCE in a thread of its own, which ends the stream when it returns. RELEASE
 * (may be NULL) frees DATA. */
void http_reply_produced (struct http_request *request,
                          void (*produce) (struct http_stream *stream, gpointer data), gpointer data,
                          GDestroyNotify release);

/* Bytes of another TYPE as they come, with http_stream_write instead of events. */
struct http_stream *http_reply_chunks (struct http_request *request, int status, const char *type);
/* The same, written to in a thread of its own, as http_reply_produced does it. */
void http_reply_produced_chunks (struct http_request *request, int status, const char *type,
                                 void (*produce) (struct http_stream *stream, gpointer data), gpointer data,
                                 GDestroyNotify release);
/* As http_stream_send, for bytes of any kind. */
gboolean http_stream_write (struct http_stream *stream, const void *data, gsize length);

/* Before any event: its id, and the client's reconnection time (0: none). */
gboolean http_stream_prime (struct http_stream *stream, const char *id, guint retry_ms);
/* Whether sending would block now: for writers to many streams. */
gboolean http_stream_is_full (struct http_stream *stream);

/* One event; NAME and ID may be NULL, DATA is lines of text. Waits while the client is slow and the buffer
 * full. FALSE when it is gone: nothing more will reach it. */
gboolean http_stream_send (struct http_stream *stream, const char *name, const char *id, const char *data);
/* A socket that hangs up when the client goes, for adder_request_set_watch; the stream's. */
int http_stream_watch_fd (struct http_stream *stream);
gboolean http_stream_is_gone (struct http_stream *stream);
void http_stream_end (struct http_stream *stream);
struct http_stream *http_stream_ref (struct http_stream *stream);
void http_stream_unref (struct http_stream *stream);

/* ---- shared by handlers ---- */

/* Whether another machine's command line asks, which identifies itself: a person reads the answer. */
gboolean http_at_terminal (struct http_request *request);

/* A tool_caller for tool calls and, by its members, for requests of the library: owner, role, profiles, front
 * end, watch of REQUEST's principal. CONVERSATION may be NULL. Everything in it is the request's. */
void http_caller (struct http_request *request, const char *conversation, struct tool_caller *ret_caller);
