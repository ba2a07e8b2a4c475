/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server share: the server, its connections, and a request with its reply. */
#pragma once

#include <pthread.h>

#include "common/guarded.h"
#include "common/local_socket.h"
#include "interfaces/http/http_problem.h"
#include "interfaces/http/http_server.h"
#include "interfaces/http/identify.h"
#include "interfaces/http/wire.h"
#include "interfaces/service/quota.h"

/* A socket that a connection and its stream share: it stays open until both are done with it. */
struct http_socket {
  gint references;
  int fd;
};
struct http_socket *http_socket_ref (struct http_socket *socket);
void http_socket_unref (struct http_socket *socket);

/* Shared by the server and the connections that came by it. */
struct http_listener {
  gint references;
  char *address; /* as it was asked for */
  char *url;     /* for people */
  gboolean tcp, tls, loopback;
  struct local_socket socket; /* its descriptor alone is used where it is TCP */
};

LOCK_CLASS (http_server);
LOCK_CLASS (http_opening);

struct http_server {
  struct service *service;
  const struct config *config;
  const struct http_route *const *tables;
  struct identify *identify;
  const struct wire_binding *wire; /* from http_server_load_wire on; atomic */
  char *socket; /* address of its own socket, which stays when others are closed; NULL: it has none */
  pthread_t acceptor;
  gboolean accepting;
  gint64 told_us;    /* the acceptor's own: when the log was last told of who was turned away */
  guint turned_away; /* the same: since then */
  int wake_fd;       /* an eventfd: `listeners` is another array */
  gint64 closed_us;  /* when the end began; 0: it has not */
  void (*changed) (gpointer data);
  gpointer data;
  guint max_connections;
  struct quota *memory; /* that bodies take */
  struct quota *disk;   /* that parts of uploads take before they are files */

  MUTEX (http_opening) opening; /* held by who changes the listeners */

  MUTEX (http_server) lock;
  GCond ended;
  GUARDED_BY (http_opening) char *tls_digest;        /* of the certificate and key that were read last */
  GUARDED_BY (http_server) struct wire_tls *tls;     /* of new connections; NULL: there is no certificate */
  GUARDED_BY (http_server) GPtrArray *old_tls;       /* of others, which may use them to the end */
  GCond seen;                                        /* the acceptor waits for other listeners */
  GUARDED_BY (http_server) GPtrArray *listeners;     /* of struct http_listener; replaced, never changed */
  GUARDED_BY (http_server) gconstpointer accepts_on; /* the array that the acceptor waits for */
  GUARDED_BY (http_server) GHashTable *connections;  /* of struct http_connection, as a set */
  GUARDED_BY (http_server) GHashTable *peers;        /* who they come from -> how many */
  GUARDED_BY (http_server) guint producers;          /* threads that write streams */
  GUARDED_BY (http_server) gboolean ending;
  GUARDED_BY (http_server) char *openapi; /* made when it is first asked for */
};

enum http_phase {
  PHASE_IDLE,  /* nothing of a next request is there */
  PHASE_HEAD,  /* its headers come */
  PHASE_BODY,  /* its body comes */
  PHASE_REPLY, /* its reply goes */
  PHASE_OVER   /* nothing more is read */
};

struct http_connection {
  struct http_server *server;
  struct http_listener *listener;
  struct http_socket *socket;
  char *peer; /* of whom connections are counted: an address, a user id */
  struct wire *wire;
  enum http_phase phase;
  gint64 deadline_us;
  guint64 requests;
  struct http_request *request; /* NULL between them */
};

/* A header of a reply. */
struct http_header {
  char *name, *value;
};

struct http_request {
  struct http_connection *connection;
  struct http_server *server;
  const struct http_route *route; /* NULL until it is found */
  struct identity identity;
  gboolean identified;
  char *target; /* as it was sent */
  char *method, *path;
  gboolean head_only, old_version; /* HEAD; HTTP/1.0 */
  GPtrArray *headers;              /* of struct http_header, as they came */
  GHashTable *parameters;          /* of the path: name -> text */
  char *query_text;
  json_t *query, *body;
  gint64 begun_us, body_begun_us;
  guint64 body_most;          /* bytes */
  guint64 body_read;          /* as it came */
  guint64 body_taken;         /* unpacked */
  struct wire_gunzip *gunzip; /* of a body that comes as gzip; NULL: it does not */
  struct reservation *memory; /* of what came and of what it becomes; NULL: nothing */
  struct reservation *disk;
  GByteArray *bytes;
  struct http_multipart *multipart;
  GArray *parts; /* of struct http_part */
  GPtrArray *reply_headers;
  struct http_stream *stream;
  gpointer kept; /* until the reply has left */
  GDestroyNotify free_kept;
  int status; /* of the reply; 0: there is none yet */
  gboolean close_after;
  guint64 left_body; /* the client is still sending: what they send is read and dropped for a while */
};

/* http_connection.c */
void http_connection_start (struct http_server *server, struct http_listener *listener, int fd, char *peer);

/* http_request.c */
struct http_request *http_request_new (struct http_connection *connection, const char *target);
void http_request_free (struct http_request *request);

/* http_head.c: what can be said of a request by its headers alone. Replies where it is at fault; TRUE: its
 * body may be read. */
gboolean http_head_check (struct http_request *request, const char *method, const char *version);

/* http_body.c: a part of the body; and, when all of it is there, query and body as the route has them.
 * Replies where something is wrong. */
void http_body_add (struct http_request *request, const char *bytes, gsize length);
gboolean http_body_check (struct http_request *request);
/* It is gone, and what it held is given back. */
void http_body_release (struct http_request *request);

/* http_coding.c: what the body is packed with. FALSE: by something that is not understood. */
gboolean http_coding_begin (struct http_request *request);
void http_coding_end (struct http_request *request);
/* Packs REPLY, of TYPE, where that is of use and the client takes it; and says that it depends on that. */
void http_coding_pack (struct http_request *request, const char *type, struct wire_reply *reply);

/* http_query.c: the query as an object of the route's fields, its texts made what the fields are. NULL with
 * ERROR. */
json_t *http_query_parse (const struct http_route *route, const char *text, GError **error);
/* TEXT up to LENGTH with its %XX decoded; PLUS: + is a blank. NULL: it cannot be, or is no UTF-8, or has a
 * zero. The caller's. */
char *http_decode (const char *text, gsize length, gboolean plus);

/* http_route.c */
/* The row for METHOD and PATH ("/v1/a%20b"), with the parameters of its path. NULL: none; *RET_ALLOW, the
 * caller's, then names the methods that there are for PATH, or is NULL. */
const struct http_route *http_route_find (const struct http_route *const *tables, const char *method,
                                          const char *path, GHashTable **ret_parameters, char **ret_allow);

/* http_problem.c: a problem document with that status. */
void http_reply_fault (struct http_request *request, int status, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* http_reply.c: the one way in which replies go. REPLY's body is taken. */
void http_reply_send (struct http_request *request, int status, const char *type, struct wire_reply *reply);

/* http_stream.c */
/* The connection is over: nothing more reaches the client. */
void http_stream_cut (struct http_stream *stream);

/* http_listen.c */
/* Listens on ADDRESS: "127.0.0.1:7117", "[::1]:7117", "https://0.0.0.0:443", "unix:/path". */
struct http_listener *http_listen (const char *address, gboolean has_tls, GError **error);
/* Whether ADDRESS could be listened on, as far as its text tells; *RET_LOOPBACK: by this machine alone. */
gboolean http_listen_check (const char *address, gboolean has_tls, gboolean *ret_loopback, GError **error);
/* Whether http_listen makes a listener of ADDRESS that speaks TLS. */
gboolean http_listener_tls (const char *address, gboolean has_tls);
/* Whether it is TCP and one of the addresses WORDS is one of its port. */
gboolean http_listener_has_port (const struct http_listener *listener, const GPtrArray *words);
/* Nobody can connect any more: to be called when nobody waits for its descriptor. */
void http_listener_close (struct http_listener *listener);
struct http_listener *http_listener_ref (struct http_listener *listener);
void http_listener_unref (struct http_listener *listener); /* closes it, when it is the last */
/* Whom a connection that was accepted counts as; NULL: they may not connect. The caller's. */
char *http_listener_peer (const struct http_listener *listener, int fd);

/* http_server.c: has the module that speaks HTTP there, which loads libraries of some megabytes: before the
 * first connection and not at the start. */
gboolean http_server_load_wire (struct http_server *server, GError **error);
/* Shuts down connections as shutdown(2) does: those that came by LISTENER, or all. */
REQUIRES (http_server)
void http_connections_shut (struct http_server *server, const struct http_listener *listener, int how);

/* http_listeners.c: the thread that accepts; and its end, after which nobody accepts anything. */
gboolean http_listeners_start (struct http_server *server, GError **error);
void http_listeners_end (struct http_server *server);

/* openapi.c: the document. The caller's. */
json_t *http_openapi (const struct http_route *const *tables);
/* The same as text; the server's. */
const char *http_server_openapi (struct http_server *server);
struct http_server *http_server_of (struct http_request *request);
