/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of a cluster. */
#pragma once

#include "cluster/bus.h"
#include "cluster/cluster.h"
#include "cluster/cluster_entry.h"
#include "common/guarded.h"

LOCK_CLASS (cluster);

struct cluster {
  const struct bus_binding *binding;
  struct bus *bus;
  struct bus_subscription *beats, *room_heard;
  struct tunnel_ends *ends;
  char *secret, *servers; /* as they are shown */
  char *queue_subject, *queue_pullers;
  struct cluster_options options;
  char *node, *instance, *started;
  GThread *thread;
  guint32 had_tag; /* the thread's: that was claimed last; 0: none */

  MUTEX (cluster) lock;
  GCond changed;                            /* the connection, or the end */
  GUARDED_BY (cluster) GHashTable *members; /* key: the tag as text; struct member */
  GUARDED_BY (cluster) GHashTable *guests;  /* sessions that moved: their ids -> the member that told last */
  GUARDED_BY (cluster) struct entry_clock clock;
  GUARDED_BY (cluster) guint32 tag;
  GUARDED_BY (cluster) gboolean claimed, woken, ending;
  GUARDED_BY (cluster) gint64 claimed_us;   /* since when */
  GUARDED_BY (cluster) gint64 own_heard_us; /* when this node last heard itself, */
  GUARDED_BY (cluster) gint64 own_since_us; /* and since when it does without a gap */
  GUARDED_BY (cluster) int tag_fd; /* an eventfd, written to when the tag was claimed or changed; -1: none */
  GUARDED_BY (cluster) char *problem;
  GUARDED_BY (cluster) guint gateways;      /* as they were counted */
  GUARDED_BY (cluster) gint64 gateways_us;  /* then */
  GUARDED_BY (cluster) guint64 room_offers; /* how often a node said that it has room */
  GCond room_changed;
  gint waiting;    /* requests that wait for a node; atomic */
  GCond heard;     /* an entry */
  gint queue_kept; /* atomic: JetStream has the queue of runs */
};

/* This node's tag, as it is written; FALSE: it is not claimed yet, and may still become another. */
gboolean cluster_tag_text (struct cluster *cluster, char ret_text[8]);
/* EVENT_FD is written to when that changes; -1: no more. */
void cluster_watch_tag (struct cluster *cluster, int event_fd);

/* Waits until a node says that it has room, at most MS. */
void cluster_wait_for_room (struct cluster *cluster, guint64 ms);

/* That there is no connection, to which servers, and why; the caller's. */
#define CLUSTER_AWAY "the NATS server is not connected"
char *cluster_away (struct cluster *cluster);

/* ---- cluster_members.c ---- */

void cluster_members_init (struct cluster *cluster);
void cluster_members_clear (struct cluster *cluster);

/* The state of an entry by which a node leaves. */
#define STATE_LEFT "left"

/* TEXT has come under KEY. One without a state only claims the tag: it is heard even where JetStream refuses
 * it, and means nothing here. */
void cluster_receive_entry (struct cluster *cluster, const char *key, const char *text, gsize length);

/* Forgets those that are silent. */
REQUIRES (cluster)
void cluster_prune (struct cluster *cluster);

/* Whether the list has the process INSTANCE, or the node with the tag TAG, also by an entry that is not
 * signed: at worst a request waits longer for a node that is not there, or is finished for one that is gone.
 */
gboolean cluster_lists_instance (struct cluster *cluster, const char *instance);
gboolean cluster_lists_tag (struct cluster *cluster, const char *tag);

/* How many daemons are known; at least 1. */
guint cluster_size (struct cluster *cluster);

/* ---- cluster_sign.c ---- */

/* HEAD as it is sent, with its signature; the caller's. */
char *cluster_sign (struct cluster *cluster, const json_t *head);
/* TEXT of LENGTH bytes, as cluster_sign made it here or elsewhere. The caller's; NULL with
 * ADDER_ERROR_REFUSED. */
json_t *cluster_verify (struct cluster *cluster, const char *text, gsize length, GError **error);

/* work_queue.c: names the queue of those who have the secret. */
void work_queue_name (struct cluster *cluster);

/* tunnel_end.c: the ends of all tunnels here. */
struct tunnel_ends *tunnel_ends_new (struct cluster *cluster, GError **error);
void tunnel_ends_free (struct tunnel_ends *ends);
