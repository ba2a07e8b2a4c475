/* SPDX-License-Identifier: Apache-2.0 */
/* Taking files out of a workspace. The tree was made by hostile code, which in a session is still at it:
 * every open is beneath the workspace and follows nothing, only regular files count, and number, bytes and
 * depth have limits. Files are not copied: they stay where they are for as long as the workspace's descriptor
 * is open.
 */
#pragma once

#include <glib.h>

#include "engine/host/interrupt.h"
#include "sandbox/limits.h"

struct artifact {
  char *name; /* for people and for saving: valid UTF-8, relative to /work, or "tmp/..." for what lies below
                 /tmp; unique */
  char *path; /* where it is below the workspace's root, as the sandbox wrote it */
  guint64 bytes;
  gint64 changed_ns;
  char *sha256; /* hexadecimal */
  const char *mime;
  char *file_id, *url; /* where it is kept (engine/request/run_summary.h); NULL: it is not */
  gboolean is_table;   /* the runner says that it is one that the code showed */
};
void artifact_free (struct artifact *artifact);

/* All files below work/ and tmp/ that are new or not as KNOWN (struct workspace_file by path) says: an array
 * of struct artifact in order of their names, work/ first, freed with it. What is left out, and why, is added
 * to WARNINGS as one line for each reason. Caches (directories that begin with a dot, byte code,
 * matplotlib's) are left out without a word. Stops early when the caller goes away. SEEN, unless it is NULL,
 * gets all that is there, to be known the next time. */
GPtrArray *artifact_collect (int root_fd, GHashTable *known, GHashTable *seen, const struct limits *limits,
                             GPtrArray *warnings, struct interrupt *interrupt);

/* Opens ARTIFACT for reading. Returns the descriptor, the caller's, or -1 with ERROR: also when a session,
 * whose workspace goes on, has changed or removed the file since. */
int artifact_open (int root_fd, const struct artifact *artifact, GError **error);

/* NAME, or with a number before its ending where it is a key of NAMES. Takes NAME; the caller's. */
char *artifact_unique_name (GHashTable *names, char *name);
