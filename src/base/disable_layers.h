/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of confinement that can be disabled, for the attack suite alone: an attack that a layer stops must
 * succeed without it, or it proves nothing. Only builds that are made for it (meson -Ddisable_layers=true)
 * can do this; in all others every question is a constant false, and no program holds the names. */
#pragma once

#include <stdbool.h>

#include "build-config.h"

enum layer {
  /* what a zygote is made in */
  LAYER_ENVIRONMENT, /* an empty environment: without it, the daemon's */
  LAYER_TREE,        /* a file tree of chosen parts: without it, all of the host's top-level directories */
  LAYER_READONLY,    /* that tree is read-only */
  LAYER_BIND,        /* overlays of what is bind-mounted: without them, what lies there itself */
  LAYER_NET,         /* a network namespace */
  LAYER_CGROUP_NAMESPACE,
  LAYER_ZYGOTE_PID, /* a pid namespace around those of the sandboxes, which cannot be left out alone */
  LAYER_ZYGOTE_IPC, /* the same for ipc */
  LAYER_UTS,        /* a host name of its own */
  /* a sandbox's own */
  LAYER_PID,         /* a pid namespace of its own */
  LAYER_IPC,         /* an ipc namespace of its own */
  LAYER_PROC,        /* a fresh /proc: without it, the zygote's */
  LAYER_DESCRIPTORS, /* no descriptors but its own: without it, the zygote's as well */
  LAYER_RLIMITS,     /* resource limits, but those below */
  LAYER_NEST,        /* the nested user namespace */
  LAYER_SEAL,        /* no further user namespaces in it */
  LAYER_CAPABILITIES,
  LAYER_DUMPABLE, /* neither the sandbox nor its init can be looked into */
  LAYER_LANDLOCK,
  LAYER_SECCOMP,
  LAYER_INIT, /* the init's own filter and empty capability sets */
  /* limits, however they are held; without it, the most that a run may ask for */
  LAYER_MEMORY,
  LAYER_PIDS,
  LAYER_CPU,
  LAYER_DEADLINE,
  LAYER_OUTPUT,
  LAYER_WORKSPACE, /* size and files of the workspace and /dev/shm, number of terminals */
  /* the daemon's */
  LAYER_CLEANUP, /* what a run leaves running is killed */
  LAYER_LINKS,   /* no link is followed when files are taken out */
  LAYER_FRAMES,  /* bounds on frames, and the end of a run that breaks the protocol */
  LAYERS,
};

#ifdef ADDER_DISABLE_LAYERS
/* Whether the variable ADDER_DISABLE_LAYERS of this process names LAYER: words with commas between them. */
bool layer_is_disabled (enum layer layer);
/* That variable as "NAME=VALUE", to be handed on to processes that get another environment; NULL: unset. */
const char *disable_layers_variable (void);
#else
static inline bool
layer_is_disabled (enum layer layer)
{
  (void)layer;
  return false;
}
static inline const char *
disable_layers_variable (void)
{
  return (const char *)0;
}
#endif
