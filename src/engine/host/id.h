/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that are globally unique and sort by the microsecond of their creation: UUID version 7 (RFC 9562,
 * section 5.7). */
#pragma once

#include <glib.h>

#define ID_BYTES 37 /* with the zero byte */

#define ID_NODES 0x1000000 /* numbers of nodes */

/* The last six digits of ids from now on are NODE, below ID_NODES; without it they are random as well. The
 * other random bits, 38, and the microsecond still tell the ids of one node apart. */
void id_set_node (guint32 node);

/* The node of ID, made by a node; ID_NODES where it is no id. */
guint32 id_node (const char *id);

/* The same for other texts that end as ids do: the six digits of this node, "" without one; and the node
 * whose digits TEXT ends with, ID_NODES where it ends otherwise. */
void id_digits (char ret_digits[7]);
guint32 id_ending (const char *text);

void id_make (char ret_id[ID_BYTES]);

/* No node's number: ids of runs in the queue of a cluster, which any node may run. */
#define ID_QUEUED 0
/* An id with that number. */
void id_make_queued (char ret_id[ID_BYTES]);
gboolean id_is_queued (const char *id);
