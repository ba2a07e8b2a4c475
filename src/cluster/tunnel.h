/* SPDX-License-Identifier: Apache-2.0 */
/* A request of HTTP from the node that a client reached to the node that answers it, and the reply's bytes
 * back.
 *
 * Theory of operation. The request is one message: a line of JSON with its head, the caller and a signature
 * by the key that all nodes share, then its body. Its reply, and what follows in both directions, are frames:
 * a byte that says what it is, and bytes. Who sends more than the other has taken waits, so that a slow
 * client holds no more than a window of it in memory.
 *
 *     adder.1.any               requests for any node; each node subscribes once for each run that it could
 * take, so that the server finds no receiver where all are busy adder.1.node.TAG          requests for that
 * node adder.1.free              a node can take requests again adder.1.down.INSTANCE.N   frames to who asked
 *     adder.1.up.INSTANCE.N     frames to who answers */
#pragma once

#include "cluster/cluster.h"

/* ---- who asks ---- */

struct tunnel;

struct tunnel_request {
  const char *node; /* a tag; NULL: any that has room */
  json_t *head;     /* "method", "target", "headers": [[name, value]], and what says who asks */
  const char *body;
  gsize length;
  int watch_fd;    /* the client's socket: it is left when that hangs up; -1: none */
  guint64 wait_ms; /* for a node that has room */
};

/* Sends it, and waits until a node has taken it. HEAD is not changed. NULL with ADDER_ERROR_BUSY: no node had
 * room in time; ADDER_ERROR_UNAVAILABLE: the node is gone, or there is no connection; ADDER_ERROR_CANCELLED:
 * the client is gone. */
struct tunnel *tunnel_open (struct cluster *cluster, const struct tunnel_request *request, GError **error);
/* The next bytes of the reply, at most SIZE; 0 at its end; -1 with ERROR, as above: the node is gone, or the
 * client is. */
gssize tunnel_read (struct tunnel *tunnel, char *buffer, gsize size, GError **error);
/* What is not read yet is left, and the node hears of it. NULL is allowed. */
void tunnel_close (struct tunnel *tunnel);

/* The object that a node replies to REQUEST, whole; the caller's. NULL with ERROR, as above, or what the node
 * says is wrong. */
json_t *tunnel_call (struct cluster *cluster, const struct tunnel_request *request, GError **error);

/* ---- who answers ---- */

struct tunnel_host;

struct tunnel_host_options {
  guint room; /* requests at once for any node */
  /* A connected socket for the request with this HEAD, and what is to be written to it before the body, both
   * the caller's; -1 with ERROR. */
  int (*connect) (gpointer data, const json_t *head, char **ret_text, GError **error);
  gpointer data;
};

struct tunnel_host *tunnel_host_new (struct cluster *cluster, const struct tunnel_host_options *options,
                                     GError **error);
/* Takes no more; what is under way is cut off. NULL is allowed. */
void tunnel_host_free (struct tunnel_host *host);
