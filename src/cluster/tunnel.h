/* SPDX-License-Identifier: Apache-2.0 */
/* A request of HTTP from the node that a client reached to the node that answers it, and the reply's bytes
 * back.
 *
 * Theory of operation. The request is one message: a line of JSON with its head, the caller and a signature
 * by the secret that all nodes share, then its body. What follows in both directions are frames (frame.h).
 * Each end has an address, which is its process and 128 random bits; a frame goes to the address of the
 * other end. Who sends more than the other has taken waits, so that a slow client holds no more than a window
 * of it in memory.
 *
 *     adder.1.any          requests for any node; each node's subscriptions end after as many as it could
 *                          take, so that the server finds no receiver where all are busy
 *     adder.1.node.TAG     requests for that node
 *     adder.1.free         a node can take requests again
 *     adder.1.end.ADDRESS  frames; the process of ADDRESS has one subscription for all its ends
 *
 *     asks                              answers
 *      |---- request, signed ------------->|  opens a connection of its HTTP server,
 *      |<--- TAKEN: its end's address -----|  and writes the request without its last bytes
 *      |---- GO -------------------------->|  writes these: from now on it is under way
 *      |<--- DATA, END --------------------|
 *
 * At most once. A node starts a request when GO comes, and one tunnel sends GO once, to the first node that
 * took it, as long as it waits. So a node that was frozen, and wakes when another one has the request or the
 * client was told of an error, does not start it, and neither does one that somebody sends a recorded request
 * again, even another node than before: its end has a new random address, to which nobody sends GO. This
 * needs no clocks that agree and no memory of what was seen. A deadline in the head would save the way back,
 * but would have to allow for clocks that differ, by more than it takes to give up a silent node, and says
 * nothing to a second node. The way costs less than its length, because the node opens its connection
 * meanwhile, and its server reads and checks what it has of the request: it handles none that is not whole.
 *
 * Who cannot be believed. The servers' permissions should let only nodes publish to and read adder.1.>, which
 * has code and results in clear text. Who can publish nevertheless, and has recorded all messages, but does
 * not know the secret, cannot have anything run, and no byte of theirs arrives: frames are sealed by a key of
 * their end, derived from the secret and its address, and numbered, so that one that is changed, repeated or
 * of another tunnel is ignored. They can only keep nodes busy.
 *
 * What is lost. The servers may drop messages, when they are restarted or a connection is too slow. The next
 * frame's number shows it, and the tunnel fails. Who waits for bytes asks after a second of silence (ASK), so
 * that there is a next frame, and gives up a node that is silent for three. The node looks whether those who
 * ask are in the cluster. */
#pragma once

#include "cluster/cluster.h"

/* Why there is no reply, where its node ends. */
#define NODE_ENDS "node_lost: the node that has it ends"

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

/* Sends it, and waits until a node has taken it; one for any node is sent again where one does not answer.
 * HEAD is not changed. NULL with ADDER_ERROR_BUSY: no node had room in time; ADDER_ERROR_UNAVAILABLE: the
 * node is gone, or there is no connection; ADDER_ERROR_CANCELLED: the client is gone. */
struct tunnel *tunnel_open (struct cluster *cluster, const struct tunnel_request *request, GError **error);
/* The same in two steps, to ask several nodes at once, and without a second try. No body is longer than the
 * first message. */
struct tunnel *tunnel_begin (struct cluster *cluster, const struct tunnel_request *request, GError **error);
gboolean tunnel_is_taken (struct tunnel *tunnel, gint64 end_us);
/* The next bytes of the reply, at most SIZE; 0 at its end; -1 with ERROR, as above: the node is gone, or the
 * client is. */
gssize tunnel_read (struct tunnel *tunnel, char *buffer, gsize size, GError **error);
/* The reader has seen by what it read that the reply is whole: nothing further is of interest. */
void tunnel_set_whole (struct tunnel *tunnel);
/* What is not read yet is left, and the node hears of it. NULL is allowed. */
void tunnel_close (struct tunnel *tunnel);

/* The object that a node replies to REQUEST, whole; the caller's. NULL with ERROR, as above, or what the node
 * says is wrong. */
json_t *tunnel_call (struct cluster *cluster, const struct tunnel_request *request, GError **error);

/* The objects that all nodes reply to REQUEST, asked at once; REQUEST names none. Those that do not answer,
 * or refuse, are left out. The caller's array. */
json_t *tunnel_call_all (struct cluster *cluster, const struct tunnel_request *request);

/* ---- who answers ---- */

struct tunnel_host;

struct tunnel_host_options {
  guint room;                            /* requests at once for any node */
  gboolean (*is_closed) (gpointer data); /* whether it takes none of those any more */
  /* A connected socket for the request with this HEAD, and what is to be written to it before the body, both
   * the caller's; -1 with ERROR. */
  int (*connect) (gpointer data, const json_t *head, char **ret_text, GError **error);
  gpointer data;
};

struct tunnel_host *tunnel_host_new (struct cluster *cluster, const struct tunnel_host_options *options,
                                     GError **error);
/* Takes no more. Replies that are under way have some seconds to end; then they are cut off. The server that
 * answers has been closed before. NULL is allowed. */
void tunnel_host_free (struct tunnel_host *host);
