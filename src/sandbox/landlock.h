/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: a second opinion on the file tree. The mount tree decides what can be seen; these rules hold even
 * if a mount was forgotten or a descriptor leads out, and they scope what the file tree cannot: abstract
 * sockets (the network namespace is shared by a zygote's sandboxes), signals, TCP. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* The kernel's Landlock version, or 0 when it has none or was started without it. */
int landlock_abi (void);

enum landlock_right {
  LANDLOCK_READ,   /* and execute */
  LANDLOCK_WRITE,  /* to files that are there, after READ: devices, /proc */
  LANDLOCK_CHANGE, /* files and directories in it, after READ */
  LANDLOCK_LIST,   /* names alone */
  LANDLOCK_DEVICE, /* WRITE, and what is particular to devices (ioctl), as terminals need it */

  LANDLOCK_INERT = 1 << 4, /* beside one of those: nothing there can be executed */
};

/* The rights on PATH, a file or a directory with everything below it. */
struct landlock_rule {
  const char *path;
  unsigned right; /* enum landlock_right */
  bool optional;  /* it may be missing */
};

/* The rules of a sandbox that has a file tree of its own: read and execute everywhere, write below /work,
 * /tmp and /dev/shm. */
extern const struct landlock_rule landlock_tree_rules[];
extern const size_t landlock_tree_rules_count;

/* The same for a session (places.h): write in its places, but not beside them. */
extern const struct landlock_rule landlock_session_rules[];
extern const size_t landlock_session_rules_count;

/* The same in a container, whose tree is its engine's: read only the image's own directories, and only the
 * devices that other sandboxes have. */
extern const struct landlock_rule landlock_container_rules[];
extern const size_t landlock_container_rules_count;

/* The first version that suffices without a file tree: earlier ones let code truncate any file it can
 * name. */
#define LANDLOCK_ABI_ALONE 3

/* Confines the calling thread to COUNT RULES, and unless it is ONLINE to no TCP, and without access to
 * others' abstract sockets and signals; as far as ABI (at least 1) supports it. Needs no_new_privs, and all
 * mounting to be done. */
int landlock_confine (int abi, bool online, const struct landlock_rule *rules, size_t count,
                      struct fault *fault);
