/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a cluster: daemons that a NATS server connects. Each has a name, which is that of its records,
 * and a tag, a number that its ids contain (engine/host/id.h). It tells the others once a second what it is
 * and does; one that is silent for three seconds is gone.
 *
 * The entry of a node is an object with "node", "tag", "instance", "version", "protocol", "started", "state"
 * and what its daemon adds. It is under the tag in a bucket of JetStream, where a tag is claimed and programs
 * outside can read it; who wants to know more sooner subscribes to the subject that JetStream stores. What
 * others believe of it is told in cluster_entry.h. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"

#define CLUSTER_PROTOCOL  1 /* changes when nodes of before could not work with those of after */
#define CLUSTER_BEAT_MS   1000
#define CLUSTER_SILENT_MS 3000

struct cluster;

struct cluster_options {
  const struct config *config; /* must outlive it */
  const char *node;
  /* What the daemon adds to the entry; in the cluster's thread. The caller's. */
  json_t *(*describe) (gpointer data);
  /* TAG is this node's from now on; in any thread. */
  void (*tagged) (guint32 tag);
  gpointer data;
};

/* Joins in the background, again and again. NULL with ERROR where [cluster] is wrong, or the module is
 * missing. */
struct cluster *cluster_new (const struct cluster_options *options, GError **error);
/* Leaves: the others know at once. NULL is allowed. */
void cluster_free (struct cluster *cluster);

/* The tag of this node. */
guint32 cluster_own_tag (const struct cluster *cluster);

/* What PROBLEM is for callers who may not know the names of servers; NULL: it is not about the cluster. */
const char *cluster_told (const GError *problem);

/* Sessions that have moved are at another node than the one whose tag their ids have: its entry lists them as
 * "guests". RET_TAG is the tag of the node that has ID so; FALSE: none is known to. */
gboolean cluster_find_guest (struct cluster *cluster, const char *id, char ret_tag[8]);
/* Whether the node TAG has it, or tells so within MS. */
gboolean cluster_await_guest (struct cluster *cluster, const char *id, const char *tag, guint64 ms);

/* How many sessions OWNER has on other nodes, as their entries said last. */
guint cluster_count_sessions (struct cluster *cluster, const char *owner);

/* Tells the others at once what this node does. NULL is allowed. */
void cluster_announce (struct cluster *cluster);

/* What tells this process from others, before it and elsewhere. The cluster's. */
const char *cluster_instance (const struct cluster *cluster);

/* Whether the process INSTANCE has been heard of lately, with the secret of the cluster. */
gboolean cluster_is_alive (struct cluster *cluster, const char *instance);

/* Whether this process has heard the cluster for so long, without a gap, that a node it does not know is
 * gone; and the others know this one. */
gboolean cluster_view_is_complete (struct cluster *cluster);

/* How many daemons take requests of callers: the gateways, and this one; without gateways, all. At least 1.
 */
guint cluster_count_gateways (struct cluster *cluster);

/* Adds the requests that wait here for a node that has room to "waiting" of STATUS, what an engine or a node
 * tells. */
void cluster_add_waiting (struct cluster *cluster, json_t *status);

/* {"connected", "problem": text or null, "nodes": [entry with "signed": whether it has the secret,
 * "here": whether it is this one, and "seen_ms": how long ago]}, by name. The caller's. */
json_t *cluster_list (struct cluster *cluster);

/* The entry of NODE, a name or a tag, as in cluster_list. The caller's; NULL with ADDER_ERROR_NOT_FOUND. */
json_t *cluster_show (struct cluster *cluster, const char *node, GError **error);
