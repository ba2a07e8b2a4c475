/* SPDX-License-Identifier: Apache-2.0 */
/* One question over HTTP: bytes out, bytes in. What carries them is the module adder-models, which knows
 * libcurl: other commands need not load it. */
#pragma once

#include <glib.h>

#define TRANSPORT_MODULE "adder-models"
#define TRANSPORT_SYMBOL "adder_models_transport"

/* Of an answer that is no yes, so much is kept. */
#define TRANSPORT_REFUSAL_BYTES (64 * 1024)

/* What who reads an answer wants next. */
enum transport_want {
  TRANSPORT_MORE,
  TRANSPORT_NOTHING, /* all is there: the end is only waited for so that the connection can be used again */
  TRANSPORT_STOP,
};

struct transport_request {
  const char *url;
  const char *const *headers; /* "Name: value"; ends with NULL. They hold the key */
  const char *body;           /* NULL: it is a GET */
  gsize length;
  const char *content_type;                  /* of the body; NULL: JSON */
  const char *unix_socket, *proxy, *ca_file; /* or NULL */
  gboolean is_local;                         /* no proxy of the environment's */
  guint64 connect_ms;
  guint64 idle_ms;      /* between two pieces of an answer, once it has begun */
  gint64 deadline_us;   /* of g_get_monotonic_time */
  guint64 answer_bytes; /* at most */
  int cancel_fd;        /* it ends when this can be read; -1: none */
  enum transport_want (*took) (gpointer data, const char *bytes, gsize length); /* of an answer 2xx */
  gpointer took_data;
};

enum transport_end {
  TRANSPORT_ARRIVED,     /* the whole answer, whatever its status is */
  TRANSPORT_STOPPED,     /* who read it wanted no more */
  TRANSPORT_UNREACHABLE, /* no connection */
  TRANSPORT_UNTRUSTED,   /* TLS */
  TRANSPORT_BROKEN,      /* a connection that broke off */
  TRANSPORT_IDLE,
  TRANSPORT_LATE,      /* the deadline */
  TRANSPORT_CANCELLED, /* by cancel_fd */
  TRANSPORT_LONG,      /* more than answer_bytes */
  TRANSPORT_PACKED,    /* compressed, which nobody asked for */
  TRANSPORT_UNFIT,     /* what was asked for cannot be: a file of certificates, a proxy */
};

struct transport_reply {
  long status;        /* 0: none came */
  gint64 again_ms;    /* when the server says that one may ask again; -1: it does not */
  char *location;     /* where it sends one, or NULL */
  GString *refusal;   /* the body of an answer that is not 2xx */
  const char *reason; /* why there is no answer, in the library's words; static */
};
void transport_reply_clear (struct transport_reply *reply);

struct transport;
struct transport_class {
  struct transport *(*open) (void);
  void (*close) (struct transport *transport);
  /* POSTs, or GETs. Connections are kept for the next. From one thread at a time. *RET_REPLY is always set,
   * and cleared by the caller. */
  enum transport_end (*post) (struct transport *transport, const struct transport_request *request,
                              struct transport_reply *ret_reply);
};
