/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a zygote: its file tree as an ordered list of steps, its ids, its environment, the program. The
 * daemon builds it, hands it to the launcher (adder-zygote) as arguments, as bubblewrap does, so that `ps`
 * and a log line show it whole; the launcher reads it back and carries it out in a short loop.
 *
 *     adder-zygote --isolation namespaces --network none --map UID GID --step bind /usr /usr --step link
 * usr/bin /bin ...
 * --env NAME=VALUE ... -- PYTHON ARG...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "sandbox/isolation.h"
#include "sandbox/network.h"

enum plan_kind {
  PLAN_BIND, /* "bind": source, a directory or file of the host, appears read-only, nosuid, nodev, with all
                its sub-mounts */
  PLAN_BIND_MAYBE, /* "bind-maybe": the same; skipped when the source is not there */
  PLAN_BIND_REAL,  /* "bind-real": as "bind", of a source whose path has no symbolic links: one that was put
                      there since is an error */
  PLAN_COPY,   /* "copy": a regular file, at most 1 MiB, is copied; skipped when it is not there (links are
                  followed) */
  PLAN_TREE,   /* "tree": a small directory is copied with its symbolic links as links (/etc/alternatives,
                  /etc/fonts); skipped when it is not there; at most 4096 entries, 8 MiB */
  PLAN_LINK,   /* "link": a symbolic link at target that says source */
  PLAN_TEXT,   /* "text": a regular file at target that holds source */
  PLAN_DEVICE, /* "device": bind of a device node of the host */
};

struct plan_step {
  enum plan_kind kind;
  const char *source;
  const char *target; /* absolute, in the new tree */
};

struct plan {
  enum isolation isolation; /* without namespaces there is no tree: paths are the host's, and no steps */
  enum network network;     /* FULL: the host's network namespace stays */
  uid_t host_uid; /* what uid and gid 0 of the zygote are on the host; the caller's own when it is not root */
  gid_t host_gid;
  struct plan_step *steps;
  size_t step_count;
  const char **environment; /* NAME=VALUE, NULL-terminated: all that the zygote gets */
  const char **program;     /* argv, NULL-terminated, program[0] an absolute path in the new tree */
};

/* The plan as a NULL-terminated argv for adder-zygote, argv[0] included. Strings are shared with PLAN; the
 * array is malloc'ed and the caller's. NULL when memory is short. */
char **plan_to_arguments (const struct plan *plan);

/* The way back. Strings are shared with ARGV. Returns 0 or a negative errno with FAULT saying which argument
 * is wrong. */
int plan_from_arguments (struct plan *ret_plan, int argc, char **argv, struct fault *fault);
void plan_clear (struct plan *plan);
