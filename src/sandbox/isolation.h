/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of isolation: what a sandbox is made of. Levels (README.md) say how far one came. */
#pragma once

enum isolation {
  ISOLATION_AUTO,    /* the best that the host offers; never NONE */
  ISOLATION_NONE,    /* level 0: a plain process */
  ISOLATION_PROCESS, /* level 1: a process in the host's namespaces, held by landlock, seccomp and rlimits */
  ISOLATION_NAMESPACES, /* level 2; with a control group, 3 */
  ISOLATION_CONTAINER,  /* within a container of Docker or Podman, which has the namespaces and the group; in
                           it  landlock, seccomp and rlimits as for PROCESS */
  ISOLATIONS,
};

/* "auto", "none", "process", "namespaces", "container"; then NULL. */
extern const char *const isolation_names[];

/* The kind called NAME, or -1. */
int isolation_find (const char *name);
