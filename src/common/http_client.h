/* SPDX-License-Identifier: Apache-2.0 */
/* Requests over HTTP to others. One policy holds for all: http and https alone, no redirect is followed (a
 * key would go wherever it leads), and compression is refused unless it was asked for, so that nothing
 * unpacks to more than was counted. libcurl carries them, in the module adder-http-client
 * (http_client_curl.c): what sends no request need not load it. */
#pragma once

#include <glib.h>

/* For an answer that is not 2xx, how much is kept where `took` takes the others. */
#define HTTP_REFUSAL_BYTES (64 * 1024)

/* What the reader of an answer wants next. */
enum http_want {
  HTTP_MORE,
  HTTP_NOTHING, /* complete: only wait for the end so that the connection can be reused */
  HTTP_STOP,
};

enum http_end {
  HTTP_NONE,        /* it is active, or was given up */
  HTTP_ARRIVED,     /* the whole answer, whatever its status is */
  HTTP_STOPPED,     /* its reader wanted no more */
  HTTP_UNREACHABLE, /* no connection */
  HTTP_UNTRUSTED,   /* TLS */
  HTTP_REFUSED,     /* only_public, and the address is not */
  HTTP_BROKEN,      /* a connection that broke off, or is not HTTP */
  HTTP_SLOW,        /* no connection within connect_ms, or less than slow_bytes */
  HTTP_IDLE,
  HTTP_STALLED,
  HTTP_LATE,      /* the deadline */
  HTTP_CANCELLED, /* by the descriptor that http_client_perform watches */
  HTTP_LONG,      /* more than answer_bytes */
  HTTP_PACKED,    /* compressed without being asked for */
  HTTP_UNFIT,     /* the request is impossible: a URL, a file of certificates, a proxy */
};

/* More of HTTP_UNREACHABLE, HTTP_UNTRUSTED, HTTP_BROKEN and HTTP_UNFIT, if known. */
enum http_cause {
  HTTP_CAUSE_UNKNOWN,
  HTTP_NO_HOST, /* its name cannot be resolved */
  HTTP_NO_PROXY,
  HTTP_NO_SERVER, /* nothing listens there */
  HTTP_NO_TRUST,  /* in its certificate */
  HTTP_NO_TLS,
  HTTP_NO_CA_FILE,
  HTTP_NO_ANSWER, /* the connection ended before it */
  HTTP_CUT,
  HTTP_ALIEN, /* it is not HTTP */
};

/* The result of a request. Zeroed before its first use; cleared by http_response_clear. */
struct http_response {
  enum http_end end;
  enum http_cause cause;
  long status;        /* 0: none came */
  gint64 again_ms;    /* when the server allows a retry; -1: it does not say */
  gint64 length;      /* of the body, as the server announced it; -1: it did not */
  char *location;     /* where it sends one, or NULL */
  GString *body;      /* what `took` did not take */
  int err;            /* HTTP_UNREACHABLE: an errno, or 0 */
  const char *reason; /* why there is no answer, in the library's words; static */
  gpointer data;      /* the request's */
  gpointer exchange;  /* the client's */
};
void http_response_clear (struct http_response *response);
typedef struct http_response http_response_t;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (http_response_t, http_response_clear)

static inline gboolean
http_response_is_yes (const struct http_response *response)
{
  return response->status >= 200 && response->status <= 299;
}

struct http_client_request {
  const char *url;
  const char *method;         /* NULL: POST where there is a body, else GET */
  const char *const *headers; /* "Name: value"; ends with NULL. NULL: none */
  gpointer data;              /* passed to the callbacks */

  /* The body: LENGTH bytes of BODY; or what GIVE puts at TO, LENGTH bytes (-1: until it has no more) of at
   * most MOST at a time. A negative number ends the request. REWIND makes GIVE start over; NULL: it
   * cannot. */
  const char *body;
  gint64 length;
  gssize (*give) (gpointer data, char *to, gsize most);
  void (*rewind) (gpointer data);
  guint64 go_on_ms; /* how long to ask the server whether it wants the body; 0: do not ask */

  /* The way. */
  const char *unix_socket, *ca_file; /* or NULL */
  const char *proxy;                 /* NULL: the environment's; "": none. To a socket there is none */
  gboolean only_public;              /* only to public addresses */
  gboolean is_old;                   /* HTTP/1.1 and no newer one */
  const char *user, *password;       /* or NULL */
  const char *sigv4;                 /* how they sign it, as CURLOPT_AWS_SIGV4 says; NULL: they are sent */

  /* Times; 0: none, except for connect_ms: libcurl's. */
  guint64 connect_ms;
  guint64 idle_ms;    /* between two pieces of an answer, once it has begun */
  guint64 stall_ms;   /* without a byte received by the other side or for `took`, from the beginning on */
  gint64 deadline_us; /* of g_get_monotonic_time */
  guint slow_bytes;   /* less than so many a second ... */
  guint64 slow_s;     /* ... for so long end it */

  /* The answer. */
  gboolean unpacks;                                               /* it may be compressed */
  guint64 answer_bytes;                                           /* at most, once it is unpacked */
  void (*header) (gpointer data, const char *line, gsize length); /* NULL: nobody reads them */
  /* Takes the body of an answer 2xx; NULL: it is kept in the response. */
  enum http_want (*took) (gpointer data, const struct http_response *response, const char *bytes,
                          gsize length);
};

/* Connections are kept for the next request. For one thread at a time. */
struct http_client {
  const struct http_client_class *class;
  gboolean signs; /* its libcurl is new enough for `sigv4` */
};

/* Whether the module is there: ADDER_ERROR_UNSUPPORTED says what is not installed. */
gboolean http_client_load (GError **error);
/* The caller's; NULL with ERROR as http_client_load. */
struct http_client *http_client_new (GError **error);
/* Nothing may be active. NULL is allowed. */
void http_client_free (struct http_client *client);

/* Carries out one request: returns its end, which is also in RET_RESPONSE. CANCEL_FD ends it when readable;
 * -1: none. */
enum http_end http_client_perform (struct http_client *client, const struct http_client_request *request,
                                   int cancel_fd, struct http_response *ret_response);

/* Many at once: starts REQUEST. It and RESPONSE must live until it is done, or stopped. */
void http_client_start (struct http_client *client, const struct http_client_request *request,
                        struct http_response *response);
/* Stops it if it is active. */
void http_client_stop (struct http_client *client, struct http_response *response);
/* One that is done; NULL: none by UNTIL_US, or CANCEL_FD (-1: none) became readable. */
struct http_response *http_client_wait (struct http_client *client, gint64 until_us, int cancel_fd);

/* ---- the module ---- */

#define HTTP_CLIENT_MODULE "adder-http-client"
#define HTTP_CLIENT_SYMBOL "adder_http_client"

struct http_client_class {
  struct http_client *(*open) (void);
  void (*close) (struct http_client *client);
  void (*start) (struct http_client *client, const struct http_client_request *request,
                 struct http_response *response);
  void (*stop) (struct http_response *response);
  struct http_response *(*wait) (struct http_client *client, gint64 until_us, int cancel_fd);
};
