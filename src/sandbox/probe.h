/* SPDX-License-Identifier: Apache-2.0 */
/* What this host supports: found out once, by trying instead of guessing, and constant afterwards. The engine
 * chooses its mechanisms by it, `adder doctor` prints it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/cgroup.h"

/* Why user namespaces cannot be made. */
enum probe_userns {
  PROBE_USERNS_OK,
  PROBE_USERNS_MAX,      /* user.max_user_namespaces is 0 or reached */
  PROBE_USERNS_CLONE,    /* kernel.unprivileged_userns_clone is 0 (Debian, older) */
  PROBE_USERNS_APPARMOR, /* kernel.apparmor_restrict_unprivileged_userns (Ubuntu) */
  PROBE_USERNS_PROFILE,  /* the AppArmor profile that we are under */
  PROBE_USERNS_SECCOMP,  /* the filter of a container that we are in */
  PROBE_USERNS_CHROOT,   /* refused to processes in a chroot */
  PROBE_USERNS_KERNEL,   /* not built in */
  PROBE_USERNS_OTHER,    /* another security module; the errno is in the text */
};

/* Whose container this process is in. */
enum probe_engine {
  PROBE_ENGINE_NONE, /* none that can be recognised */
  PROBE_ENGINE_DOCKER,
  PROBE_ENGINE_PODMAN,
  PROBE_ENGINE_KUBERNETES,
  PROBE_ENGINES,
};

enum probe_cgroup {
  PROBE_CGROUP_NONE,
  PROBE_CGROUP_V1,
  PROBE_CGROUP_MIXED,          /* v1 with the controllers, beside a v2 tree that has none of them */
  PROBE_CGROUP_V2,             /* delegated: we may make groups with memory and pids */
  PROBE_CGROUP_V2_UNDELEGATED, /* there, but our group is not ours to divide */
  PROBE_CGROUP_V1_FOREIGN,     /* v1, and we are not root */
  PROBE_CGROUP_MIXED_FOREIGN,  /* the controllers are v1's, and we are not root */
};

/* The facts with a text each, in the order in which they are shown. */
enum probe_fact {
  PROBE_KERNEL,
  PROBE_USER_NAMESPACES,
  PROBE_PROC, /* a fresh /proc in a new pid namespace: refused where a container masks parts of /proc */
  PROBE_SECCOMP,
  PROBE_LANDLOCK,
  PROBE_CGROUP,
  PROBE_HUGE_PAGES,
  PROBE_FACTS,
};

struct probe_line {
  const char *name;  /* "user namespaces"; static */
  const char *state; /* for programs: the finding in one word, "apparmor"; static, "ok" when good and unless
                        there are several kinds of good */
  bool good;         /* all that we want of it is there */
  char text[200];    /* for people: the finding, and the reason when it is not good */
  char remedy[300];  /* how to switch it on: a command or a setting; empty when good or when nothing helps */
};

struct probe {
  char release[65]; /* "6.18.44" as uname says */
  unsigned major, minor;
  bool root;
  enum probe_engine engine;
  bool basic_calls; /* the system calls that level 1 needs too */
  enum probe_userns userns;
  bool namespaces; /* sandboxes can have namespaces of their own, perhaps without all of their promises */
  bool fresh_proc;
  bool sealable; /* code can be kept from making further user namespaces: /proc/sys can be written to */
  bool seccomp;
  int landlock_abi; /* 0: none */
  enum probe_cgroup cgroup;
  enum cgroup_mode cgroup_mode; /* the back end that will work */
  bool huge_pages;              /* MADV_COLLAPSE */
  unsigned level;               /* the isolation level that can be reached, 0 to 3: see README.md */
  struct probe_line line[PROBE_FACTS];
};

/* Tries everything once, in a few milliseconds, where necessary in a short-lived child (which sends no
 * signal; the caller's own children are left alone). FLAGS are those of cgroup_node_open. Never fails: what
 * cannot be determined counts as missing. */
void probe_host (struct probe *ret_probe, unsigned flags);
