/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a sandbox in a kernel of its own (sandbox->apart), whose workspace the host does not see:
 * those of a run are sent before its request, and the files that the code leaves are sent back before its
 * result. Bytes and paths cross; descriptors only go in, and only of regular files, read-only. On this side
 * they are in a directory that only the daemon writes to. */
#pragma once

#include "engine/files/workspace.h"
#include "engine/pool/sandbox.h"

/* Sends FILES (struct workspace_file by path) from SANDBOX's place. */
gboolean ferry_put (struct sandbox *sandbox, GHashTable *files, const struct limits *limits,
                    gint64 deadline_us, GError **error);

/* The files that came back. */
struct ferry {
  int fd;        /* of the last file, or -1: discarded */
  guint64 bytes; /* of all of them, */
  guint64 files; /* including directories they may have needed */
  guint left;    /* those discarded or truncated */
};

/* Takes a FILE frame, with LENGTH bytes of DATA; files beyond LIMITS or with an invalid name are left out.
 * FALSE: the frame is malformed. */
gboolean ferry_take (struct ferry *ferry, const struct sandbox *sandbox, const struct workspace_owner *owner,
                     const struct limits *limits, const char *data, gsize length);
