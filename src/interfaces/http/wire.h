/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 on one connection: between the server, which knows routes, and the module adder-http, which knows
 * libmicrohttpd. The library and its TLS would cost every start of Adder milliseconds, so they are loaded
 * when a server listens.
 *
 * Each connection has a thread of its own, with an instance of the library for this connection alone that
 * never waits: the thread polls, lets it work, and gets callbacks. So the server measures each phase of a
 * request, and replaces the library's own HTML errors. */
#pragma once

#include <glib.h>

/* The symbol of the module: a struct wire_binding. */
#define WIRE_MODULE "adder-http"
#define WIRE_SYMBOL "adder_http_wire"

struct wire;
struct wire_tls;
struct wire_gunzip;

/* How a reply's body is made. */
struct wire_reply {
  int status;
  const char *const *headers; /* name, value, ..., NULL; copied */
  gboolean last;              /* closes the connection afterwards */
  char *text;                 /* LENGTH bytes, taken (g_free); or NULL */
  gsize length;
  int fd; /* or LENGTH bytes from OFFSET of a file, taken; -1: none */
  guint64 offset;
  /* or what READ produces, which may wait: the number of bytes put into BUFFER, 0 at the end, -1 to break off
   * the connection. NULL: none. */
  gssize (*read) (gpointer data, char *buffer, gsize size);
  gpointer read_data;
};

/* Callbacks, in the thread that is in `work`. Text is valid until `done`. */
struct wire_calls {
  /* The request's first line was read; TARGET as sent. */
  void (*line) (gpointer data, const char *target);
  /* Its headers are complete. After an immediate reply its body is not read. */
  void (*head) (gpointer data, const char *method, const char *version);
  /* A part of its body; likewise. */
  void (*body) (gpointer data, const char *bytes, gsize length);
  /* The request is complete: a reply must be given. */
  void (*whole) (gpointer data);
  /* The reply was sent, or cannot be. */
  void (*done) (gpointer data);
  /* The library is about to answer itself with STATUS, since the input is no HTTP or too long. */
  void (*bad) (gpointer data, int status);
};

struct wire_binding {
  /* The library's version, for the log. */
  const char *(*version) (void);

  /* A certificate with its chain and key, PEM. NULL with ERROR, which says what is wrong. */
  struct wire_tls *(*tls_new) (const char *certificate, gsize certificate_length, const char *key,
                               gsize key_length, GError **error);
  void (*tls_free) (struct wire_tls *tls);

  /* For the connected socket FD, which is taken even on failure. MEMORY: bytes for a request's headers, and
   * for the read and write buffers. TLS, which must outlive it, may be NULL. */
  struct wire *(*open) (int fd, gsize memory, struct wire_tls *tls, const struct wire_calls *calls,
                        gpointer data, GError **error);
  /* Readable when there is something to do. */
  int (*event_fd) (struct wire *wire);
  /* Works as far as possible without waiting. FALSE: the connection is over. */
  gboolean (*work) (struct wire *wire);
  /* From within `head`, `body` or `whole`. In `body`, whose rest is not read, only a reply with `text` can be
   * given, and the connection ends with it. */
  void (*reply) (struct wire *wire, struct wire_reply *reply);
  /* Sends TEXT, bypassing the library, which must have nothing pending, without waiting; nothing can be sent
   * after it. */
  void (*say) (struct wire *wire, const char *text, gsize length);
  /* Each header of the request in turn, including duplicates. */
  void (*each_header) (struct wire *wire, void (*see) (gpointer data, const char *name, const char *value),
                       gpointer data);
  /* Whether other readers may see a different request: its head has a folded header, a zero byte, or a line
   * that does not end with CR LF. */
  gboolean (*is_ambiguous) (struct wire *wire);
  /* Closes what is still open. */
  void (*free) (struct wire *wire);

  /* LENGTH bytes of TEXT as gzip, *RET_LENGTH of them, the caller's (g_free); NULL: that would not be
   * shorter. */
  char *(*gzip) (const char *text, gsize length, gsize *ret_length);
  /* A gzip unpacker for streamed input; NULL: out of memory. */
  struct wire_gunzip *(*gunzip_new) (void);
  /* Unpacks BYTES in pieces of bounded size, which TAKE gets until it returns FALSE. FALSE: they are no
   * gzip. */
  gboolean (*gunzip_add) (struct wire_gunzip *gunzip, const char *bytes, gsize length,
                          gboolean (*take) (gpointer data, const char *bytes, gsize length), gpointer data);
  /* Whether the added input is complete. */
  gboolean (*gunzip_is_whole) (const struct wire_gunzip *gunzip);
  void (*gunzip_free) (struct wire_gunzip *gunzip);
};
