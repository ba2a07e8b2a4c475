/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls a sandbox may make: an allow-list, as data. What is not named, or unknown to the
 * libseccomp that builds it, fails with ENOSYS, so that libraries fall back as they do on an older kernel,
 * and what kernels gain tomorrow is refused today. A foreign architecture (i386 or x32 calls on x86-64) kills
 * the process: nothing honest makes them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What becomes of a call: a positive errno, or one of these. */
#define SECCOMP_POLICY_ALLOW   0
#define SECCOMP_POLICY_PRETEND (-1) /* it does nothing and says that it worked */

/* What must be so on a host for a rule to be there: one or more of these. */
enum seccomp_when {
  WHEN_ALWAYS = 0,
  WHEN_NAMESPACED = 1 << 0,     /* the sandbox has pid, ipc and mount namespaces of its own (level 2 and 3) */
  WHEN_SHARED = 1 << 1,         /* it lives in the host's (level 1) */
  WHEN_NAMES_APART = 1 << 2,    /* no socket of anybody else can be named: own namespaces, and landlock scopes
                                   abstract names (its version 6) */
  WHEN_NAMES_SHARED = 1 << 3,   /* it can */
  WHEN_SIGNALS_APART = 1 << 4,  /* nobody else can be signalled: a pid namespace, or landlock's scope */
  WHEN_SIGNALS_SHARED = 1 << 5, /* others of the same user can */
  WHEN_COUNTED = 1 << 6,        /* the kernel counts all memory of a run, mapped or not: a control group */
};

struct seccomp_group {
  int verdict;
  unsigned when; /* enum seccomp_when */
  const char *reason;
  const char
      *calls; /* names with a space between them; those that an architecture does not have are skipped */
};
extern const struct seccomp_group seccomp_groups[];
extern const size_t seccomp_groups_count;

/* Rules that look at an argument. Where none of a call's rules matches, it fails with ENOSYS. */
enum seccomp_compare {
  COMPARE_MASKED, /* (argument & mask) == value */
  COMPARE_NOT,    /* argument != value */
  COMPARE_NONE,   /* always */
};
struct seccomp_condition {
  const char *call;
  unsigned argument;
  enum seccomp_compare compare;
  uint64_t mask, value;
  int verdict;
  unsigned when; /* enum seccomp_when */
};
extern const struct seccomp_condition seccomp_conditions[];
extern const size_t seccomp_conditions_count;
