/* SPDX-License-Identifier: Apache-2.0 */
/* MCP for providers and for transports.
 *
 * Two eras are spoken on every transport. In the modern one (2026-07-28) each request states its version and
 * its client's capabilities, and nothing is remembered. In the legacy one (2025-11-25 and before) a client
 * begins with `initialize`, which makes a session: its version, its capabilities, its subscriptions.
 *
 * A transport parses a message (mcp_message_parse), makes a request of it (mcp_request_new), runs it in any
 * thread (mcp_request_run), and sends the result. Meanwhile the transport is its link: it sends notifications
 * and, in the legacy era, questions to the client.
 *
 * Providers, tables of functions, offer tools, resources and prompts. Ours are the tool table, files and
 * output as resources, prompts; a test program adds one of its own. A provider's function runs in the
 * request's thread: it may block, and it replies once. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/guarded.h"
#include "common/trace.h"
#include "interfaces/service/service.h"
#include "policy/principal.h"
#include "tools/tools.h"

/* ---- words of the wire ---- */

#define MCP_MODERN_VERSION  "2026-07-28"
#define MCP_LEGACY_VERSION  "2025-11-25" /* the newest of that era */
#define MCP_BATCH_VERSION   "2025-03-26" /* the only one that has batches; what HTTP without a header means */
#define MCP_TITLES_VERSION  "2025-06-18" /* titles, structured content, links, _meta of results */
#define MCP_META_PREFIX     "io.modelcontextprotocol/"
#define MCP_META_VERSION    MCP_META_PREFIX "protocolVersion"
#define MCP_META_CLIENT     MCP_META_PREFIX "clientInfo"
#define MCP_META_CAN        MCP_META_PREFIX "clientCapabilities"
#define MCP_META_LOG        MCP_META_PREFIX "logLevel"
#define MCP_META_SERVER     MCP_META_PREFIX "serverInfo"
#define MCP_META_LISTEN     MCP_META_PREFIX "subscriptionId"
#define MCP_META_TALK       "adder/conversation" /* of a request: the conversation that it belongs to */
#define MCP_EXTENSION_TASKS MCP_META_PREFIX "tasks"

enum mcp_error {
  MCP_PARSE_ERROR = -32700,
  MCP_INVALID_REQUEST = -32600,
  MCP_METHOD_NOT_FOUND = -32601,
  MCP_INVALID_PARAMS = -32602,
  MCP_INTERNAL_ERROR = -32603,
  MCP_RESOURCE_NOT_FOUND = -32002, /* legacy; mcp_problem makes MCP_INVALID_PARAMS of it in the modern era */
  MCP_HEADER_MISMATCH = -32020,
  MCP_MISSING_CAPABILITY = -32021,
  MCP_UNSUPPORTED_VERSION = -32022,
};

enum mcp_era { MCP_LEGACY = 1 << 0, MCP_MODERN = 1 << 1 };

/* As in syslog, the least severe first. */
enum mcp_level {
  MCP_LEVEL_DEBUG,
  MCP_LEVEL_INFO,
  MCP_LEVEL_NOTICE,
  MCP_LEVEL_WARNING,
  MCP_LEVEL_ERROR,
  MCP_LEVEL_CRITICAL,
  MCP_LEVEL_ALERT,
  MCP_LEVEL_EMERGENCY,
  MCP_LEVEL_NONE, /* nothing is logged */
};

/* ---- messages (jsonrpc.c) ---- */

enum mcp_kind { MCP_KIND_REQUEST, MCP_KIND_NOTIFICATION, MCP_KIND_RESPONSE, MCP_KIND_BATCH };

struct mcp_message {
  enum mcp_kind kind;
  json_t *value;      /* the whole message; owned, and contains the rest */
  json_t *id;         /* text or integer; of a request and of a response */
  const char *method; /* of a request and of a notification */
  json_t *params;     /* an object, or NULL */
  json_t *result;     /* of a response: one of the two */
  json_t *error;
};

struct mcp_reply {
  json_t *message; /* the response; NULL: send nothing. Owned */
  int status;      /* its HTTP status: 200, 202, 400, 404 */
};
void mcp_reply_clear (struct mcp_reply *reply);

/* Parses LENGTH bytes of TEXT. FALSE with the error response as *RET_REPLY. The items of a batch are not
 * parsed: each goes to mcp_message_take. */
gboolean mcp_message_parse (const char *text, gsize length, struct mcp_message *ret_message,
                            struct mcp_reply *ret_reply);
/* The same for a parsed value, which is taken. */
gboolean mcp_message_take (json_t *value, struct mcp_message *ret_message, struct mcp_reply *ret_reply);
void mcp_message_clear (struct mcp_message *message);

/* An error response; ID may be NULL if unknown, DATA (taken) as well. The caller's. */
json_t *mcp_error_message (json_t *id, int code, const char *text, json_t *data);

/* ---- callers ---- */

LOCK_CLASS (mcp_caller_files);

enum mcp_switch { MCP_SWITCH_ANY, MCP_SWITCH_ON, MCP_SWITCH_OFF };

/* What a transport knows of its peer; shared by the peer's requests, never changed. */
struct mcp_caller {
  gint references;
  struct principal *principal;
  const char *front_end; /* "mcp", "mcp-http": for the record; static */
  char *toolset;         /* their toolset, unless their principal has one; NULL: the first */
  gboolean is_whole;     /* all of its tools are offered, not only the basic ones */
  /* Their output settings (output.h): enum mcp_links, and two switches. */
  guint links;
  enum mcp_switch structured, schemas;
  char *conversation; /* the default for requests; or NULL */
  int directory_fd;   /* where they work, for tools that work there too; -1: nowhere */
  char *directory;
  json_t *variables;                          /* {NAME: text}, or NULL */
  char *python;                               /* the interpreter of their own environment, or NULL */
  MUTEX (mcp_caller_files) files_lock;        /* held while a question is sent */
  GUARDED_BY (mcp_caller_files) int files_fd; /* the channel of local_files.h; -1: none */
};
/* With one reference; takes PRINCIPAL. */
struct mcp_caller *mcp_caller_new (struct principal *principal, const char *front_end);
struct mcp_caller *mcp_caller_ref (struct mcp_caller *caller);
void mcp_caller_unref (struct mcp_caller *caller);

/* ---- sessions of the legacy era (session.c) ---- */

/* Sends MESSAGE to the client outside any request, on stdio or on HTTP's stream for that. May be called from
 * any thread. FALSE when the client is gone. */
typedef gboolean (*mcp_session_send) (gpointer data, const json_t *message);

LOCK_CLASS (mcp_session_sending);

LOCK_CLASS (mcp_session);

struct mcp_session {
  gint references;
  char *id;                                               /* on HTTP; NULL on stdio */
  char *owner;                                            /* only its principal may use it */
  MUTEX (mcp_session_sending) sending;                    /* held while SEND is called */
  GUARDED_BY (mcp_session_sending) mcp_session_send send; /* NULL: nothing can be sent outside requests */
  gpointer data;
  MUTEX (mcp_session) lock;
  GUARDED_BY (mcp_session) const char *version;  /* NULL until initialize */
  GUARDED_BY (mcp_session) gboolean ready;       /* notifications/initialized came */
  GUARDED_BY (mcp_session) json_t *capabilities; /* the client's; set once, with the version */
  GUARDED_BY (mcp_session) json_t *client;       /* its name and version; likewise */
  GUARDED_BY (mcp_session) enum mcp_level level; /* of messages to it */
  GUARDED_BY (mcp_session)
  GHashTable *questions; /* open questions to the client: struct mcp_question by id */
  GUARDED_BY (mcp_session) gint64 next_question;
  guint32 tag; /* part of question ids: an answer for an earlier session never matches this one */
  GUARDED_BY (mcp_session) gboolean ended;
  gpointer listener; /* of subscriptions.c; atomic */
};
struct mcp_session *mcp_session_new (const char *id, const char *owner, mcp_session_send send, gpointer data);
struct mcp_session *mcp_session_ref (struct mcp_session *session);
void mcp_session_unref (struct mcp_session *session);
/* Whether its version has batches. */
gboolean mcp_session_has_batches (struct mcp_session *session);
/* Sends nothing more; waiters get no answer. */
void mcp_session_end (struct mcp_session *session);
/* Takes the client's answer to a question, with the value of RESPONSE; an unexpected one is dropped. */
void mcp_session_answer (struct mcp_session *session, struct mcp_message *response);
/* METHOD with PARAMS (taken; may be NULL) outside any request. */
void mcp_session_notify (struct mcp_session *session, const char *method, json_t *params);

/* ---- requests ---- */

struct reservation;
struct mcp_server;
struct mcp_request;
struct mcp_method;

/* The transport, during one request. */
struct mcp_link {
  /* Sends MESSAGE on the request's stream, before its response. FALSE when the client is gone. */
  gboolean (*send) (struct mcp_request *request, const json_t *message);
};

struct mcp_request {
  struct mcp_server *server;
  const struct mcp_link *link; /* NULL: only the response can be sent */
  gpointer link_data;          /* the transport's */
  struct mcp_caller *caller;
  struct mcp_session *session; /* NULL in the modern era */

  enum mcp_era era;
  const char *version;
  const struct mcp_method *method;
  json_t *message;                /* owned: contains the rest */
  json_t *id;                     /* NULL: a notification */
  json_t *params;                 /* an object; never NULL */
  const json_t *meta;             /* an object; never NULL */
  const json_t *capabilities;     /* the client's; an object, never NULL */
  const json_t *client;           /* {name, version}, or NULL */
  const json_t *token;            /* of progress, or NULL */
  const char *conversation;       /* or NULL */
  char trace[TRACE_PARENT_BYTES]; /* the traceparent that it belongs to, or "" */
  enum mcp_level level;           /* the minimum for notifications/message */
  int watch_fd;                   /* hangs up when the client cancels or goes; the transport's; -1: never */

  /* What the handler replied. */
  json_t *result;
  json_t *error;
  /* Of the library's own. */
  double progress;                 /* that was sent last */
  gpointer input;                  /* of input.c */
  struct reservation *reservation; /* the reservation for its message, the transport's; or NULL */
  json_t *held;                    /* data that lives as long as the request; or NULL */
};

/* A request of MESSAGE, which is taken. SESSION is the connection's, or NULL; HEADER is HTTP's version
 * header, or NULL. NULL with *RET_REPLY if it cannot be carried out. A notification is a request without an
 * id and without a reply. */
struct mcp_request *mcp_request_new (struct mcp_server *server, struct mcp_message *message,
                                     struct mcp_caller *caller, struct mcp_session *session,
                                     const char *header, struct mcp_reply *ret_reply);
void mcp_request_free (struct mcp_request *request);
/* Whether it takes no time and keeps order: a transport runs it before reading on. */
gboolean mcp_request_is_quick (const struct mcp_request *request);
/* Whether it lasts as long as the client likes: it gets a thread that is counted separately. */
gboolean mcp_request_is_long (const struct mcp_request *request);
/* Carries it out. */
void mcp_request_run (struct mcp_request *request, struct mcp_reply *ret_reply);

/* ---- what providers call ---- */

/* The result, which is taken: a function replies by this or by mcp_problem, once. resultType, serverInfo and
 * cache hints are added as required. */
void mcp_result (struct mcp_request *request, json_t *result);
/* An error of the protocol. DATA is taken and may be NULL. */
void mcp_problem (struct mcp_request *request, int code, json_t *data, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* The client lacks CAPABILITIES, such as {"sampling": {}}, which are taken: MCP_MISSING_CAPABILITY. */
void mcp_problem_capability (struct mcp_request *request, json_t *capabilities);
/* Whether a reply was made. */
gboolean mcp_is_replied (const struct mcp_request *request);

/* Whether the request's version of the protocol is VERSION or later. */
gboolean mcp_speaks (const struct mcp_request *request, const char *version);
/* Whether the client declared the capability NAME, such as "elicitation", or the extension NAME. */
gboolean mcp_client_can (const struct mcp_request *request, const char *name);
gboolean mcp_client_extends (const struct mcp_request *request, const char *name);
/* Whether the client cancelled it or is gone. */
gboolean mcp_is_cancelled (const struct mcp_request *request);

/* METHOD with PARAMS (taken; may be NULL) on the request's stream. FALSE when the client is gone. */
gboolean mcp_notify (struct mcp_request *request, const char *method, json_t *params);
/* Its progress, if the client requested it: only increases are sent. TOTAL below 0: unknown; TEXT may be
 * NULL. */
void mcp_progress (struct mcp_request *request, double progress, double total, const char *text);
/* notifications/message, if the client wants that level. DATA is taken. */
void mcp_log (struct mcp_request *request, enum mcp_level level, const char *logger, json_t *data);

/* Fills in a caller for the tool table, and for requests of the library by its members; everything in it is
 * the request's. */
void mcp_tool_caller (struct mcp_request *request, struct tool_caller *ret_caller);
/* Their owner, for the functions of include/adder.h. */
const char *mcp_owner (const struct mcp_request *request);

/* ---- asking the client for input (input.c) ---- */

enum mcp_input {
  MCP_INPUT_HAVE,   /* every answer is there */
  MCP_INPUT_LATER,  /* a reply was made: return. The client comes back with answers, or is gone */
  MCP_INPUT_UNABLE, /* the client cannot answer this; nothing was replied */
};

struct mcp_ask {
  const char *key;    /* identifies the answer */
  const char *method; /* "elicitation/create", "sampling/createMessage", "roots/list" */
  json_t *params;     /* taken; may be NULL */
  json_t *answer;     /* on MCP_INPUT_HAVE: the client's result; the request's */
};

/* Asks the client for COUNT things at once. In the legacy era it waits for the answers; in the modern era the
 * reply lists the questions, and the client's next try brings the answers, and STATE (taken; any JSON, or
 * NULL), signed and unchanged. */
enum mcp_input mcp_input (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state);
/* The STATE of the previous try, or NULL: this is the first. The request's. */
const json_t *mcp_state (const struct mcp_request *request);

/* ---- tasks (tasks.c): tool calls that are answered before they end ---- */

/* When a tool's call becomes a task, if the client supports tasks. */
enum mcp_tasking {
  MCP_TASK_NEVER,
  MCP_TASK_LATE, /* after [mcp] task_after_ms */
  MCP_TASK_AT_ONCE,
  MCP_TASK_REQUIRED, /* the same, and clients without tasks may not call it */
  MCP_TASK_BY_TOOL,  /* the same, but when the tool decides, by mcp_become_task */
};

/* Makes the call a task: its request is answered. FALSE: it is none and never will be. */
gboolean mcp_become_task (struct mcp_request *request);

/* ---- providers ---- */

/* A page of a list: an array (the caller's) of at most MOST rows from CURSOR (NULL: the beginning) on, in a
 * stable order. *RET_CURSOR: for the next page, g_free; left NULL at the end. NULL with a reply by
 * mcp_problem when CURSOR is invalid. */
typedef json_t *(*mcp_list) (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor);

/* An argument of a tool that an HTTP header repeats, Mcp-Param-HEADER: "x-mcp-header" of its schema. */
struct mcp_mirror {
  const char *parameter, *header;
};

/* All functions may be NULL. Those for one name return FALSE, without a reply, if it is not theirs. */
struct mcp_provider {
  const char *name;
  mcp_list list_tools; /* rows as the wire has them: {name, description, inputSchema, ...} */
  gboolean (*call_tool) (struct mcp_request *request, const char *name, json_t *arguments);
  /* Of the tool NAME; MCP_TASK_NEVER for one that is not theirs. */
  enum mcp_tasking (*tasking) (struct mcp_request *request, const char *name);
  /* The header arguments of TOOL, texts, numbers and booleans; ends with a row without a parameter. NULL:
   * none. */
  const struct mcp_mirror *(*mirrors) (const char *tool);
  mcp_list list_resources, list_templates;
  gboolean (*read_resource) (struct mcp_request *request, const char *uri);
  mcp_list list_prompts;
  gboolean (*get_prompt) (struct mcp_request *request, const char *name, json_t *arguments);
  /* REF is {type, name or uri}, ARGUMENT the argument's name, VALUE the text typed so far, KNOWN {argument:
   * text} or NULL. Replies with mcp_completion. */
  gboolean (*complete) (struct mcp_request *request, const json_t *ref, const char *argument,
                        const char *value, const json_t *known);
  /* The server's capabilities in the request's era: {"tools": {...}, "extensions": {...}}, merged with the
   * other providers'. The caller's. */
  json_t *(*capabilities) (struct mcp_request *request);
};

/* A page of WHOLE (taken): for short lists. */
json_t *mcp_page (struct mcp_request *request, json_t *whole, const char *cursor, guint most,
                  char **ret_cursor);
/* Replies to completion/complete with those of VALUES (taken; texts) that fit on the wire. */
void mcp_completion (struct mcp_request *request, json_t *values);

/* ---- content of results (content.c); all the caller's ---- */

json_t *mcp_text (const char *text);
/* BASE64 of TYPE: "image/png", "audio/wav". */
json_t *mcp_image (const char *base64, const char *type);
json_t *mcp_audio (const char *base64, const char *type);
/* TYPE, TEXT may be NULL; BYTES below 0: unknown. */
json_t *mcp_resource_link (const char *uri, const char *name, const char *text, const char *type,
                           gint64 bytes);
/* {uri, mimeType, text or blob}: for embedded resources and resources/read. Either TEXT or BASE64. */
json_t *mcp_contents (const char *uri, const char *type, const char *text, const char *base64);
json_t *mcp_embedded (json_t *contents);
/* A tool's result of CONTENT (taken), and STRUCTURED (taken; may be NULL). */
json_t *mcp_tool_result (json_t *content, json_t *structured, gboolean is_error);

/* ---- the server ---- */

/* Calls the tool NAME of any provider. FALSE: none has it, and nothing was replied. */
gboolean mcp_server_call_tool (struct mcp_request *request, const char *name, json_t *arguments);

/* With the built-in providers. One for a daemon; SERVICE must outlive it. */
struct mcp_server *mcp_server_new (struct service *service);
void mcp_server_free (struct mcp_server *server);
/* Before serving begins. PROVIDER must outlive the server. */
void mcp_server_add (struct mcp_server *server, const struct mcp_provider *provider);
struct service *mcp_server_service (struct mcp_server *server);
/* Its state for HTTP (mcp_http.h); the server's. */
struct mcp_http;
struct mcp_http *mcp_server_http (struct mcp_server *server);

enum mcp_change { MCP_CHANGE_TOOLS, MCP_CHANGE_PROMPTS, MCP_CHANGE_RESOURCES, MCP_CHANGE_RESOURCE };
/* Tells listeners that a list or the resource URI changed. OWNER NULL: everybody. */
void mcp_server_changed (struct mcp_server *server, const char *owner, enum mcp_change change,
                         const char *uri);

/* ---- methods: the rows of server.c ---- */

enum mcp_method_flags {
  MCP_QUICK = 1 << 0,    /* takes no time: in order, before the next message is read */
  MCP_LONG = 1 << 1,     /* lasts for as long as the client likes */
  MCP_CACHED = 1 << 2,   /* its result has cache hints in the modern era */
  MCP_NOTICE = 1 << 3,   /* a notification */
  MCP_WORK = 1 << 4,     /* counts as a run: keeps a daemon from ending as idle */
  MCP_INPUTS = 1 << 5,   /* may ask for input */
  MCP_FLEETING = 1 << 6, /* cached, but with no lifetime: it changes with each run */
};

struct mcp_method {
  const char *name;
  guint eras; /* of enum mcp_era */
  guint flags;
  void (*handle) (struct mcp_request *request);
};
