/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for a node in a queue of JetStream, on the disks of the NATS servers. Nodes pull as many
 * as they have room for. A message stays until a node says that it is done; if its node says nothing for some
 * seconds, another node pulls it. So a message only says that there may be work. The run's row decides
 * whether it may begin (store/queued.h).
 *
 * The stream is `adder-runs`, with the subjects adder.1.queue.ID, and nodes share its consumer nodes-ID. ID
 * is derived from the secret of the cluster, so that a node with another secret does not take, and discard,
 * messages that it cannot verify. A message has the form of a tunnel's first one (signed_request.h): nobody
 * can make one without the secret, and a recorded message that is sent again is about work that is over. */
#pragma once

#include "cluster/cluster.h"

#define WORK_BODY_BYTES (512 * 1024) /* of a request that can be queued */

/* Returns TRUE once the servers have stored the request with this HEAD, which is changed; ID identifies it.
 * ADDER_ERROR_BUSY: the queue is full. ADDER_ERROR_UNAVAILABLE: it may have been stored all the same. */
gboolean work_queue_put (struct cluster *cluster, const char *id, json_t *head, const char *body,
                         gsize length, GError **error);

/* A message that was pulled. */
struct work {
  const json_t *head;
  const char *body;
  gsize length;
};

/* To be called every second while WORK is under way. */
void work_say_busy (struct work *work);

#define WORK_DONE 0 /* it leaves the queue */

struct work_host_options {
  guint room;                            /* at once */
  gboolean (*is_closed) (gpointer data); /* TRUE: pull none now */
  /* Does WORK, in its own thread. Returns WORK_DONE, or the ms after which it is delivered again. */
  guint64 (*work) (gpointer data, struct work *work);
  void (*tick) (gpointer data); /* now and then */
  gpointer data;
};

struct work_host;
struct work_host *work_host_new (struct cluster *cluster, const struct work_host_options *options);
/* Stops pulling. */
void work_host_close (struct work_host *host);
/* Waits for the work that is under way and frees HOST, which may be NULL. */
void work_host_free (struct work_host *host);
