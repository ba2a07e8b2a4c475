/* SPDX-License-Identifier: Apache-2.0 */
/* One question over a unix socket: what carries it is the module adder-containers, which knows libcurl. Other
 * commands need not load it. */
#pragma once

#include <glib.h>

#define CONTAINER_TRANSPORT_MODULE "adder-containers"
#define CONTAINER_TRANSPORT_SYMBOL "adder_containers_transport"

struct container_question {
  const char *socket, *method;
  const char *path; /* with its query */
  const char *type; /* of what is sent; NULL: nothing is */
  const char *body; /* NULL: what can be read from BODY_FD */
  gsize length;
  int body_fd;
  guint64 timeout_ms; /* for all of it */
  /* Told what comes, and whether it belongs to a yes. FALSE ends it. */
  gboolean (*took) (gpointer data, gboolean yes, const char *bytes, gsize length);
  gpointer took_data;
};

enum container_end {
  CONTAINER_ANSWERED,    /* whatever the status is */
  CONTAINER_STOPPED,     /* by TOOK */
  CONTAINER_UNREACHABLE, /* no connection */
  CONTAINER_LATE,
  CONTAINER_BROKEN, /* a connection that broke off, or what is not HTTP */
};

struct container_answer {
  enum container_end end;
  long status;        /* 0: none came */
  int err;            /* CONTAINER_UNREACHABLE: an errno, or 0 */
  const char *reason; /* in the library's words; static */
};

struct container_transport;
struct container_transport_class {
  struct container_transport *(*open) (void);
  void (*close) (struct container_transport *transport);
  /* From one thread at a time. Connections are kept for the next. */
  struct container_answer (*ask) (struct container_transport *transport,
                                  const struct container_question *question);
};
