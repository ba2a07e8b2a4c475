/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a sandbox in a kernel of its own (sandbox->apart), whose workspace the host does not see:
 * those of a run are sent before its request, and what the code leaves is sent back before its result. What
 * crosses is bytes and paths; descriptors go in alone, of regular files and to be read. On this side is a
 * directory of the daemon's, in which nobody else makes anything. */
#pragma once

#include "engine/files/workspace.h"
#include "engine/pool/sandbox.h"

/* Sends FILES (struct workspace_file by path), which are in SANDBOX's place. */
gboolean ferry_put (struct sandbox *sandbox, GHashTable *files, const struct limits *limits,
                    gint64 deadline_us, GError **error);

/* What came back. */
struct ferry {
  int fd;        /* of the last file, or -1: it is not kept */
  guint64 bytes; /* of all of them, */
  guint64 files; /* and with the directories that they may have needed */
  guint left;    /* those that are not kept, or not whole */
};

/* Takes a FILE, with LENGTH bytes of DATA; what is more than LIMITS have room for, or has no name that a file
 * may have, is left out. FALSE: it is no such frame. */
gboolean ferry_take (struct ferry *ferry, const struct sandbox *sandbox, const struct workspace_owner *owner,
                     const struct limits *limits, const char *data, gsize length);
