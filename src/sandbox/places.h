/* SPDX-License-Identifier: Apache-2.0 */
/* The file tree of a session. A session can be branched, and a branch, having no right left to make mounts of
 * its own, shares them; yet it needs a workspace of its own. So here /work and /tmp are links to
 * /proc/self/fd/N, and each process has its own directories at N. The whole workspace is mounted at /session:
 *
 *     /session/work, /session/tmp           those of the first process
 *     /session/branches/NAME/{work,tmp}     those of a branch
 *
 * Stateless sandboxes have neither: see mounts.h. */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "sandbox/limits.h"

/* The N above. Programs that are started inherit them. Not single digits, which shell scripts give away
 * (exec 9>lock), and below the least that open files may be limited to. */
enum place_fd {
  PLACE_WORK = 10,
  PLACE_TMP = 11,
};

/* Where the places of the first process are, and the directory for those of branches. */
#define PLACES_WORK     "/session/work"
#define PLACES_TMP      "/session/tmp"
#define PLACES_BRANCHES "/session/branches"

/* Instead of mounts_enter: makes a root of the sandbox's own, with everything of the zygote's except what
 * this table of mounts replaces, and drops the old one. *RET_ENTERED is false, and nothing is changed, if the
 * host gives sandboxes no /proc, by which places are found, or if the zygote already has a /session. */
int places_enter (const struct limits *limits, int workspace_fd, bool *ret_entered, struct fault *fault);

/* Opens the places of the first process: FDS[0] is for PLACE_WORK, FDS[1] for PLACE_TMP. */
int places_open (int fds[2], struct fault *fault);

/* Whether /work and /tmp resolve to the calling process's own places. */
bool places_hold (void);
