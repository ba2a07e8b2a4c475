/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for a node in a queue of JetStream, on the disks of the NATS servers. Nodes pull as many
 * as they have room for. A message stays until a node says that it is done; one of which nobody says anything
 * for some seconds is pulled again, by another node. So a message only tells that there may be work: whether
 * it is to be done, who does it says (store/queued.h).
 *
 * The stream is `adder-runs`, with the subjects adder.1.queue.ID, and nodes share its consumer nodes-ID. ID
 * is from the secret of the cluster: a node that has another one takes no message that it could not verify,
 * and would throw away. A message is as the first one of a tunnel (signed_request.h), so nobody who lacks the
 * secret can make one; what they recorded, and send again, is work that is over. */
#pragma once

#include "cluster/cluster.h"

#define WORK_BODY_BYTES (512 * 1024) /* of a request that can be queued */

/* TRUE once the servers have stored it. HEAD, which is changed, says what the request is; ID tells it from
 * others. ADDER_ERROR_BUSY: the queue is full; ADDER_ERROR_UNAVAILABLE: it may have been stored nevertheless.
 */
gboolean work_queue_put (struct cluster *cluster, const char *id, json_t *head, const char *body,
                         gsize length, GError **error);

/* A message that was pulled. */
struct work {
  const json_t *head;
  const char *body;
  gsize length;
};

/* To be said every second while it is worked on. */
void work_say_busy (struct work *work);

#define WORK_DONE 0 /* it leaves the queue */

struct work_host_options {
  guint room;                            /* at once */
  gboolean (*is_closed) (gpointer data); /* whether none is pulled now */
  /* Does WORK, in a thread of its own. Returns WORK_DONE, or after how many ms it is pulled again. */
  guint64 (*work) (gpointer data, struct work *work);
  void (*tick) (gpointer data); /* now and then */
  gpointer data;
};

struct work_host;
struct work_host *work_host_new (struct cluster *cluster, const struct work_host_options *options);
/* Pulls no more. */
void work_host_close (struct work_host *host);
/* And waits for the work that is under way. NULL is allowed. */
void work_host_free (struct work_host *host);
