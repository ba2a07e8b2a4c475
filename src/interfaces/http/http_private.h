/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the server: the server, its connections, and a request with its reply. */
#pragma once

#include <pthread.h>

#include "common/guarded.h"
#include "common/local_socket.h"
#include "common/trace.h"
#include "engine/host/id.h"
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
  char *address; /* as configured */
  char *url;     /* for people */
  gboolean tcp, tls, loopback;
  struct local_socket socket; /* for TCP, only its descriptor and whether that is inherited */
};

LOCK_CLASS (http_server);
LOCK_CLASS (http_opening);

struct cluster;

struct http_server {
  struct service *service;
  const struct config *config;
  const struct http_route *const *tables;
  struct identify *identify;
  const struct wire_binding *wire; /* from http_server_load_wire on; atomic */
  char *socket;                    /* address of its own socket, which stays when others close; NULL: none */
  pthread_t acceptor;
  gboolean accepting;
  gint64 told_us;    /* the acceptor's own: when the log last mentioned refused connections */
  guint turned_away; /* the same: their number since then */
  int wake_fd;       /* an eventfd: `listeners` was replaced */
  gint64 closed_us;  /* when the end began; 0: not yet */
  void (*changed) (gpointer data);
  gpointer data;
  guint max_connections;
  struct quota *memory; /* memory of bodies */
  struct quota *disk;   /* disk space of uploaded parts before they are files */

  MUTEX (http_opening) opening; /* held while the listeners change */

  MUTEX (http_server) lock;
  GCond ended;
  GUARDED_BY (http_opening) char *tls_digest;        /* of the certificate and key read last */
  GUARDED_BY (http_server) struct wire_tls *tls;     /* of new connections; NULL: no certificate */
  GUARDED_BY (http_server) GPtrArray *old_tls;       /* of older ones, which use them to the end */
  GCond seen;                                        /* the acceptor has taken other listeners */
  GUARDED_BY (http_server) GPtrArray *listeners;     /* of struct http_listener; replaced, never changed */
  GUARDED_BY (http_server) gconstpointer accepts_on; /* the array that the acceptor waits for */
  GUARDED_BY (http_server) GHashTable *connections;  /* of struct http_connection, as a set */
  GUARDED_BY (http_server) GHashTable *peers;        /* peer -> number of connections */
  GUARDED_BY (http_server) guint producers;          /* threads that write streams */
  GUARDED_BY (http_server) gboolean ending;
  GUARDED_BY (http_server)
  gint64 expires_ms;                      /* since 1970, of the caller's of `connections` whose token
                                           * expires first; 0: none does */
  GUARDED_BY (http_server) char *openapi; /* made on first use */
};

enum http_phase {
  PHASE_IDLE,  /* no byte of a next request yet */
  PHASE_HEAD,  /* reading its headers */
  PHASE_BODY,  /* reading its body */
  PHASE_REPLY, /* sending its reply */
  PHASE_OVER   /* reading nothing more */
};

struct http_connection {
  struct http_server *server;
  struct http_listener *listener;
  struct http_socket *socket;
  char *peer; /* by whom connections are counted: an address, a user id */
  struct wire *wire;
  struct identify_peer account; /* of who connected, over TCP */
  struct principal *vouched;    /* the caller that another node identified; NULL: it is no other node's */
  gboolean vouched_exposed;     /* they came to that node over a network without encryption */
  char run_id[ID_BYTES];        /* of the run that it asks for, from the queue of the cluster; "": none */
  gboolean run_again;           /* that may be run more than once */
  enum http_phase phase;
  gint64 deadline_us;
  guint64 requests;
  struct http_request *request; /* NULL between them */

  /* http_access.c, of the request under way: */
  GUARDED_BY (http_server) struct principal *who; /* its caller; NULL: unknown */
  GUARDED_BY (http_server) gboolean sends;        /* it has a reply that may take long to send */
  GUARDED_BY (http_server) gboolean has_ended;    /* its caller's token has */
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
  char *target; /* as sent */
  char *method, *path;
  gboolean head_only, old_version; /* HEAD; HTTP/1.0 */
  GPtrArray *headers;              /* of struct http_header, as received */
  GHashTable *parameters;          /* of the path: name -> text */
  char *query_text;
  json_t *query, *body;
  gint64 begun_us, body_begun_us;
  struct trace_span span;
  guint64 body_most;          /* bytes */
  guint64 body_read;          /* as received */
  guint64 body_taken;         /* unpacked */
  struct wire_gunzip *gunzip; /* of a gzip body; NULL: not packed */
  struct reservation *memory; /* of the received bytes and the parsed body; NULL: nothing */
  struct reservation *disk;
  GByteArray *bytes;
  struct http_multipart *multipart;
  GArray *parts; /* of struct http_part */
  GPtrArray *reply_headers;
  struct http_stream *stream;
  gpointer kept; /* until the reply was sent */
  GDestroyNotify free_kept;
  int status; /* of the reply; 0: none yet */
  gboolean close_after;
  guint64 left_body; /* the client is still sending: read and drop that for a while */
};

/* http_connection.c */
void http_connection_start (struct http_server *server, struct http_listener *listener, int fd, char *peer);
/* The same for a request of another node, whose caller WHO is taken. */
struct http_vouched {
  struct principal *who;
  gboolean exposed;
  const char *run_id; /* of the run that it asks for; NULL: a new one */
  gboolean run_again;
};
void http_connection_start_vouched (struct http_server *server, int fd, const struct http_vouched *vouched);

/* http_forward.c: has another node of the cluster answer it, if one should. FALSE: this one answers. */
gboolean http_forward (struct http_request *request);
/* The parts of REQUEST that another daemon needs: its head and its body. The caller owns both. */
json_t *http_forward_head (struct http_request *request);
char *http_forward_body (struct http_request *request, gsize *ret_length);
/* Has the node with the TAG answer (NULL: any with room). FALSE: it is gone, and this one can tell instead.
 */
gboolean http_forward_pass (struct http_request *request, struct cluster *cluster, const char *tag);

/* http_queue.c: queues it, if it is for the queue of a cluster whose store is shared. FALSE: it is not. */
gboolean http_queue (struct http_request *request, struct cluster *cluster);
/* http_queued.c: answers what is asked about a run from there. FALSE: it is not about one, or this daemon
 * answers. */
gboolean http_queued (struct http_request *request, struct cluster *cluster);

/* http_request.c */
struct http_request *http_request_new (struct http_connection *connection, const char *target);
void http_request_free (struct http_request *request);

/* http_head.c: checks of a request by its headers alone. Replies on an error; TRUE: its body may be read. */
gboolean http_head_check (struct http_request *request, const char *method, const char *version);
/* What its headers say of the caller; the texts are the request's. */
void http_facts (struct http_request *request, struct identify_facts *ret_facts);
/* What IDENTITY says that any reply has. */
void http_set_identity_headers (struct http_request *request, const struct identity *identity);

/* http_access.c: the request is under way from now on, until it is freed. FALSE: its caller's token has ended
 * meanwhile. */
gboolean http_access_begin (struct http_request *request);
void http_access_end (struct http_request *request);
/* Whether a reply, which takes long to send if it LASTS, may go to the caller: not if the token has ended,
 * and the reply is all that the request is for. */
gboolean http_access_may_reply (struct http_request *request, gboolean lasts);
/* Replies that the token has ended. */
void http_access_refuse (struct http_request *request);
/* How long the thread that accepts may wait before it has to check tokens; -1: forever. */
int http_access_wait_ms (struct http_server *server);

/* http_body.c: a part of the body; and, once complete, query and body as the route's fields. Replies on an
 * error. */
void http_body_add (struct http_request *request, const char *bytes, gsize length);
gboolean http_body_check (struct http_request *request);
/* Frees it and gives back its memory. */
void http_body_release (struct http_request *request);

/* http_coding.c: the body's coding. FALSE: it is not supported. */
gboolean http_coding_begin (struct http_request *request);
void http_coding_end (struct http_request *request);
/* Packs REPLY, of TYPE, if worthwhile and accepted by the client; and says that it varies with that. */
void http_coding_pack (struct http_request *request, const char *type, struct wire_reply *reply);

/* Whether the client prefers gzip. */
gboolean http_coding_accepts_gzip (struct http_request *request);

/* http_query.c: the query as an object of the route's fields, its texts converted to their types. NULL with
 * ERROR. */
json_t *http_query_parse (const struct http_route *route, const char *text, GError **error);
/* TEXT up to LENGTH with its %XX decoded; PLUS: + is a blank. NULL: it is malformed, not UTF-8, or has a zero
 * byte. The caller's. */
char *http_decode (const char *text, gsize length, gboolean plus);

/* http_route.c */
/* The row for METHOD and PATH ("/v1/a%20b"), with the parameters of its path. NULL: none; *RET_ALLOW, the
 * caller's, then names the methods that PATH has, or is NULL. */
const struct http_route *http_route_find (const struct http_route *const *tables, const char *method,
                                          const char *path, GHashTable **ret_parameters, char **ret_allow);

/* http_problem.c: a problem document with that status. */
void http_reply_fault (struct http_request *request, int status, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* http_reply.c: the one way to send replies. REPLY's body is taken. */
void http_reply_send (struct http_request *request, int status, const char *type, struct wire_reply *reply);

/* http_stream.c */
/* The connection is over: nothing more reaches the client. */
void http_stream_cut (struct http_stream *stream);

/* http_listen.c */
/* Listens on ADDRESS: "127.0.0.1:7117", "[::1]:7117", "https://0.0.0.0:443", "unix:/path". */
struct http_listener *http_listen (const char *address, gboolean has_tls, GError **error);
/* Whether the peer of the TCP socket FD is on this machine. */
gboolean http_listen_is_near (int fd);
/* Whether ADDRESS is valid as text; *RET_LOOPBACK: only this machine can reach it. */
gboolean http_listen_check (const char *address, gboolean has_tls, gboolean *ret_loopback, GError **error);
/* Whether http_listen would make a TLS listener of ADDRESS. */
gboolean http_listener_tls (const char *address, gboolean has_tls);
/* Whether it is TCP and one of WORDS has the same port. */
gboolean http_listener_has_port (const struct http_listener *listener, const GPtrArray *words);
/* Stops accepting: call when nobody waits for its descriptor. */
void http_listener_close (struct http_listener *listener);
/* By which requests of other nodes come; nothing listens. */
struct http_listener *http_listener_of_nodes (void);
struct http_listener *http_listener_ref (struct http_listener *listener);
void http_listener_unref (struct http_listener *listener); /* closes it, with the last reference */
/* The peer by which an accepted connection is counted; NULL: it is refused. The caller's. */
char *http_listener_peer (const struct http_listener *listener, int fd);

/* http_server.c: loads the module that speaks HTTP, with libraries of some megabytes: before the first
 * connection instead of at the start. */
gboolean http_server_load_wire (struct http_server *server, GError **error);
/* Shuts down connections as shutdown(2) does: those accepted by LISTENER, or all. */
REQUIRES (http_server)
void http_connections_shut (struct http_server *server, const struct http_listener *listener, int how);

/* http_listeners.c: the thread that accepts; and its end, after which nothing is accepted. */
gboolean http_listeners_start (struct http_server *server, GError **error);
void http_listeners_end (struct http_server *server);
/* Has it look at the server again. */
void http_listeners_wake (struct http_server *server);

/* openapi.c: the document. The caller's. */
json_t *http_openapi (const struct http_route *const *tables);
/* The same as text; the server's. */
const char *http_server_openapi (struct http_server *server);
struct http_server *http_server_of (struct http_request *request);
