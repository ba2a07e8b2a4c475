/* SPDX-License-Identifier: Apache-2.0 */
/* Building the seccomp program of sandboxes: in the daemon, once, with libseccomp. Sandboxes get the
 * bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "sandbox/network.h"
#include "sandbox/seccomp_policy.h"

/* Other protection between a sandbox and the host: without it, the policy is stricter. */
struct seccomp_host {
  int landlock_abi;    /* 0: none */
  bool memory_counted; /* by a control group */
  bool shared;         /* the host's pid, ipc and mount namespaces are the sandbox's as well (level 1) */
  bool contained;      /* it is alone in a container, but for its zygote */
  bool host_sockets;   /* sockets of the host are reachable by name in a directory that is bind-mounted into
                        * it */
  enum network network;
};

/* What is so on HOST: bits of enum seccomp_when. */
unsigned seccomp_facts (const struct seccomp_host *host);
bool seccomp_applies (const struct seccomp_rule *rule, unsigned facts);

/* Builds the policy for this machine, as a sealed memfd that holds an array of struct sock_filter, for
 * WIRE_LAUNCH_FILTER. Returns 0 with the caller's *RET_FD, or a negative errno with FAULT. */
int seccomp_build (const struct seccomp_host *host, int *ret_fd, struct fault *fault);

/* The same for ARCHITECTURE, a number of libseccomp such as SCMP_ARCH_AARCH64. */
int seccomp_build_for (uint32_t architecture, const struct seccomp_host *host, int *ret_fd,
                       struct fault *fault);

/* Whether this machine and its libseccomp know a system call of that name: if not, rules about it have no
 * effect. */
bool seccomp_is_known (const char *call);
