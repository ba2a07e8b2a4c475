/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls a sandbox may make: an allow-list, as data. Calls not named, or unknown to the
 * libseccomp that builds it, fail with ENOSYS, so that libraries fall back as on an older kernel, and new
 * calls of future kernels are refused. A foreign architecture (i386 or x32 calls on x86-64) kills the
 * process: no legitimate code makes them. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* The verdict on a call: a positive errno, or one of these. */
#define SECCOMP_POLICY_ALLOW    0
#define SECCOMP_POLICY_PRETEND  (-1) /* it does nothing and says that it worked */
#define SECCOMP_DEFAULT_VERDICT ENOSYS

/* Conditions of a rule on the host: one or more of these. */
enum seccomp_when {
  WHEN_ALWAYS = 0,
  WHEN_NAMESPACED = 1 << 0,     /* the sandbox has pid, ipc and mount namespaces of its own (level 2 and 3,
                                   containers) */
  WHEN_SHARED = 1 << 1,         /* it lives in the host's (level 1) */
  WHEN_NAMES_APART = 1 << 2,    /* no socket of anybody else can be named: own namespaces, and landlock scopes
                                   abstract names (its version 6) */
  WHEN_NAMES_SHARED = 1 << 3,   /* it can */
  WHEN_SIGNALS_APART = 1 << 4,  /* nobody else can be signalled: a pid namespace, or landlock's scope */
  WHEN_SIGNALS_SHARED = 1 << 5, /* others of the same user can */
  WHEN_COUNTED = 1 << 6,        /* the kernel counts all memory of a run, mapped or not: a control group */
  WHEN_OFFLINE = 1 << 7,        /* the sandbox has no network */
  WHEN_ONLINE = 1 << 8,         /* it has: a proxy of its own, or the host's */
  WHEN_OTHERS_APART = 1 << 9,   /* no process of the same user can be named but the sandbox's own */
  WHEN_OTHERS_NEAR = 1 << 10,   /* some can: the host's at level 1, in a container the zygote */
};

/* How an argument decides. */
enum seccomp_compare {
  COMPARE_NONE,   /* it does not: the rule holds for every call */
  COMPARE_MASKED, /* (argument & mask) is one of the values */
  COMPARE_HAS,    /* the argument has all bits of one of the values */
  COMPARE_NOT,    /* the argument is not the value */
};
struct seccomp_value {
  const char *name; /* as in the kernel's headers */
  uint64_t value;
};
/* An additional condition: (argument & mask) is one of the values. */
struct seccomp_condition {
  unsigned argument;
  const char *argument_name; /* NULL: the end of a list */
  uint64_t mask;
  const struct seccomp_value *values;
};
struct seccomp_rule {
  int verdict;
  unsigned when;      /* enum seccomp_when */
  const char *reason; /* for the reader of `adder doctor --policy` as well */
  const char *calls;  /* names with a space between them; those that an architecture lacks are skipped */
  /* A call judged by an argument that matches no rule fails with SECCOMP_DEFAULT_VERDICT. */
  enum seccomp_compare compare;
  unsigned argument;
  const char *argument_name;
  uint64_t mask;
  const struct seccomp_value *values;         /* the last has no name */
  const struct seccomp_condition *conditions; /* further ones, or NULL */
};
extern const struct seccomp_rule seccomp_rules[];
extern const size_t seccomp_rules_count;

/* One bit of enum seccomp_when in words, for people: "where a control group counts memory". */
const char *seccomp_when_text (enum seccomp_when when);
