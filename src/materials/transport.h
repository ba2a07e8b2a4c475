/* SPDX-License-Identifier: Apache-2.0 */
/* GETs, many at once, in one thread. What carries them is the module adder-materials, which knows libcurl:
 * other commands need not load it. */
#pragma once

#include <glib.h>

#define MATERIALS_MODULE "adder-materials"
#define MATERIALS_SYMBOL "adder_materials_transport"

enum get_end {
  GET_NONE,    /* it is under way, or was given up */
  GET_ARRIVED, /* the whole answer, whatever its status is */
  GET_UNREACHABLE,
  GET_UNTRUSTED, /* TLS */
  GET_BROKEN,    /* a connection that broke off, or no HTTP */
  GET_LATE,      /* the deadline */
  GET_LONG,      /* more than answer_bytes */
  GET_REFUSED,   /* only_public, and it is not */
};

/* Why one ended as GET_REFUSED, with its reason in it. */
#define GET_REFUSAL "its host has %s, and only the index names it"

/* One GET; must live until it is done. */
struct get {
  const char *url;
  const char *key;      /* sent as X-API-KEY, to that URL alone; NULL: none */
  gboolean only_public; /* its host is named by others: nothing is sent to an address that is not public */
  gint64 deadline_us;   /* of g_get_monotonic_time */
  guint64 answer_bytes; /* at most, once it is unpacked */
  gpointer data;        /* the caller's */
  /* What came of it, once it is done. */
  enum get_end end;
  long status;        /* 0: none came */
  gint64 again_ms;    /* when the server says that one may ask again; -1: it does not */
  GString *body;      /* the caller's, by get_clear */
  char *location;     /* where it sends one, or NULL; redirects are not followed */
  const char *reason; /* why there is no answer, in the library's words; static */
  gpointer carrier;   /* the module's */
};
/* Makes it one that was not begun. */
void get_clear (struct get *get);

struct materials_transport;
struct materials_transport_class {
  struct materials_transport *(*open) (void);
  /* Nothing may be under way. */
  void (*close) (struct materials_transport *transport);
  /* GET is under way from now on. */
  void (*start) (struct materials_transport *transport, struct get *get);
  /* GET, where it is under way, is no longer. */
  void (*stop) (struct materials_transport *transport, struct get *get);
  /* One that is done; NULL: none was by UNTIL_US, or CANCEL_FD (-1: none) could be read. */
  struct get *(*wait) (struct materials_transport *transport, gint64 until_us, int cancel_fd);
};
