/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces as directories of the host, for sandboxes that have no mounts of their own (isolation level 1
 * and 0). One directory of this process below the temporary one, with one for each sandbox. They are removed
 * when no longer needed; those of a killed daemon by the next one of the same user. Any thread may call. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* The owner of files in workspaces. A root daemon's own ids do not exist in a workspace (creating a file is
 * EOVERFLOW), so it takes on the sandbox's while it makes one. */
struct workspace_owner {
  gboolean assume;
  uid_t uid;
  gid_t gid;
};

struct scratch;

/* Makes the directory of this process, for directories of OWNER. */
struct scratch *scratch_new (const struct workspace_owner *owner, GError **error);

/* Drops a reference; the directory goes with the last one. NULL is allowed. */
void scratch_unref (struct scratch *scratch);

/* The same for its creator, after everything given back so far is removed. Later ones are removed at once. */
void scratch_close (struct scratch *scratch);

/* A directory in it for zygotes' temporary files. */
const char *scratch_home (const struct scratch *scratch);

/* The directory itself, in which only this process's user makes anything. */
const char *scratch_path (const struct scratch *scratch);

/* Removes NAME of the directory PARENT, a tree that a sandbox made, with all its contents; the walk uses one
 * descriptor, however deep it is. */
void scratch_remove_tree (int parent, const char *name);

struct scratch_place;

/* Makes a workspace, with work, tmp and tmp/output; *RET_FD is its directory, the caller's. */
struct scratch_place *scratch_make (struct scratch *scratch, int *ret_fd, GError **error);

/* Removes it with all its contents, perhaps after this call. Its sandbox must have no living process. NULL is
 * allowed. */
void scratch_place_free (struct scratch_place *place);
