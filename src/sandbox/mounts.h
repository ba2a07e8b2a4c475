/* SPDX-License-Identifier: Apache-2.0 */
/* What a sandbox mounts over its zygote's read-only tree: its workspace, its shared memory, its
 * terminals, its /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "sandbox/limits.h"

/* Directories and links that a zygote's tree must have so that sandboxes can mount; the tree is made with
 * them. */
struct mount_point {
  const char *path; /* below the root, without a leading slash */
  const char *link; /* what it says when it is a symbolic link, else NULL */
};
extern const struct mount_point mount_points[];
extern const size_t mount_points_count;

/* Where in a workspace the overlay of a work directory keeps what was changed. */
#define MOUNTS_UPPER "upper"

/* How many single files may be bind-mounted into a sandbox. */
#define MOUNTS_FILES 8

/* What may be bind-mounted into a sandbox, each a detached mount (directory.h). */
enum mounts_bind {
  MOUNTS_DIRECTORY,   /* a directory of the host that becomes /work */
  MOUNTS_INPUTS_WORK, /* files in /work: the workspace gets changes to them */
  MOUNTS_INPUTS_TMP,  /* the same for /tmp */
  MOUNTS_PLACES,
  MOUNTS_FILE = MOUNTS_PLACES, /* from here on: single files (file.h) */
  MOUNTS_BINDS = MOUNTS_FILE + MOUNTS_FILES,
};

/* A detached tmpfs: at most SIZE bytes and INODES files; ATTRIBUTES are MOUNT_ATTR_*. */
int mounts_tmpfs (uint64_t size, uint64_t inodes, uint64_t attributes, int *ret_fd, struct fault *fault);

/* Puts the detached mount FD at PATH of the caller's tree (or, DIRECTORY not AT_FDCWD, beneath that
 * directory). */
int mounts_attach (int fd, int directory, const char *path, struct fault *fault);

/* A detached overlay. Without an upper layer the kernel wants two lower ones. Extended attributes are in the
 * user's name space, because this is no root of the host's. WHAT it is of is for people; ATTRIBUTES are
 * MOUNT_ATTR_*. */
struct mounts_overlay {
  const char *what;
  const char *lower;       /* paths with a colon between them */
  const char *upper, *own; /* NULL: without */
  unsigned attributes;
};
int mounts_make_overlay (const struct mounts_overlay *overlay, int *ret_fd, struct fault *fault);

/* Makes the directories above PATH, which is relative to ROOT. */
int mounts_make_parents (int root, const char *path, struct fault *fault);

/* Makes the tmpfs for a sandbox's /dev/shm, detached. */
int mounts_shm (const struct limits *limits, int *ret_fd, struct fault *fault);

/* Makes the workspace of a sandbox: a detached tmpfs with the directories work, tmp and tmp/output, and more
 * for what it is OF (bits), owned by the caller's user. It is gone when the last mount and descriptor are. */
enum mounts_workspace_of {
  MOUNTS_OF_SESSION = 1 << 0,     /* branches */
  MOUNTS_OF_OVERLAY = 1 << 1,     /* upper, which gets what is changed, and the overlay's own directory */
  MOUNTS_OF_INPUTS_WORK = 1 << 2, /* the overlay's own directory: work itself gets what is changed */
  MOUNTS_OF_INPUTS_TMP = 1 << 3,
  MOUNTS_INERT = 1 << 4, /* nothing in it can be executed, nor mapped as code */
};
int mounts_make_workspace (const struct limits *limits, unsigned of, int *ret_fd, struct fault *fault);

/* What a sandbox's mounts are made of. */
struct mounts_given {
  int workspace_fd;
  int bind_fd[MOUNTS_BINDS];           /* -1: not there */
  const char *file_path[MOUNTS_FILES]; /* of each single file: "work/data.csv", "tmp/data.csv" */
  const char *own_path;                /* an additional path for the directory (own_path.h); NULL: none */
  bool overlay;                        /* changes in the directory stay in the workspace */
  bool read_only;                      /* the directory is read-only */
  bool inert;                          /* overlays are MOUNTS_INERT, as the workspace was made */
};

/* Carries out the table of sandbox mounts. In the sandbox's own mount namespace, before its user namespace is
 * nested. *RET_FRESH_PROC says whether there is a new /proc; where the host masks its own the sandbox has
 * none at all. */
int mounts_enter (const struct limits *limits, const struct mounts_given *given, bool *ret_fresh_proc,
                  struct fault *fault);
