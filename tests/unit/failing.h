/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose system calls fail when a test wants them to: one after the other, so that each error branch
 * of what they do is taken once. A thread of the test answers their calls (SECCOMP_RET_USER_NOTIF), so it
 * makes no difference whether they come from a function, a program or what is forked by either. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct failing {
  /* Which call fails, and how: the NTH of all that can (0: none). */
  guint nth;
  int err;
  /* Calls with which programs begin, behind those of the dynamic loader: from an execve() on none of a
   * process is counted before it makes one of these. Words with a blank on either side; NULL: all are
   * counted. */
  const char *beginnings;
  /* Every call of the name ALSO fails as well; NULL: none. */
  const char *also;
  int also_err;

  /* What failed, when failing_end() returned: "" where fewer than NTH were made. */
  char call[32], process[16];

  pid_t child;
  int listener;
  guint seen;
  GThread *thread;
  pid_t loading[16];
  const gint *idle; /* while it points to another number than 0, nothing fails, and nothing is counted */
};

/* Runs FIRST (DATA), of which nothing fails (NULL: nothing), and CHILD (DATA) in a process of its own, which
 * ends when that returns. */
void failing_start (struct failing *failing, void (*first) (void *data), void (*child) (void *data),
                    void *data);

/* Waits for all processes that descend from that one. Returns how it ended, as waitpid() tells. */
int failing_end (struct failing *failing);

/* Whether the programs are those of scripts/coverage: what tests/coverage.c does beside may fail as well, and
 * it makes no difference. */
bool failing_is_counted (void);

/* ---- functions ---- */

/* A function each of whose calls is to fail in turn. Where it fails, it leaves no descriptor open. */
struct failing_row {
  const char *name;
  /* In the child, before anything fails; what it returns goes to ACT. NULL: nothing. */
  void *(*prepare) (void);
  /* Returns EXPECT, or 1 where it did with less, or a negative errno, which it has told in FAULT if it sets
   * that. */
  int (*act) (void *data, struct fault *fault);
  /* Whether what ACT says it did (EXPECT) is done. Nothing fails any more. NULL: it is. */
  bool (*check) (void *data);
  int expect;
  int err; /* 0: EIO */
  /* Calls by whose failure what is done is the same or less: words with a blank on either side. "all": any.
   */
  const char *tolerated;
  int other[3];     /* what ACT may return besides EXPECT and the errno, as an errno */
  const char *also; /* see struct failing */
  int also_err;
  bool ends; /* whoever calls this ends when it fails: descriptors may stay open */
  bool root; /* only root may do this */
};

/* ROW must stay. */
void failing_add (const struct failing_row *row);
