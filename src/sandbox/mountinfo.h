/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's lists of mounts and groups: the text of /proc/self/mountinfo and /proc/self/cgroup. Malformed
 * lines are skipped. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mountinfo {
  char root[PATH_MAX];  /* which directory of the file system is mounted */
  char point[PATH_MAX]; /* where; as the kernel writes it, with spaces as \040 */
  char type[32];        /* "cgroup2" */
  char options[512];    /* of the file system, cut where there are more */
  bool shared;          /* what is mounted below it appears in other namespaces */
};

/* Reads the next mount of FILE. FALSE: there is none. */
bool mountinfo_next (FILE *file, struct mountinfo *ret_mount);

/* Finds the mount of the control group hierarchy with CONTROLLER (NULL: of v2). */
bool mountinfo_find_cgroup (FILE *file, const char *controller, struct mountinfo *ret_mount);

/* Finds in the text of /proc/PID/cgroup the path of the group in the hierarchy of CONTROLLER (NULL: of v2).
 * FALSE also if SIZE bytes do not suffice. */
bool mountinfo_own_group (FILE *file, const char *controller, char *path, size_t size);

/* Whether WORD is in LIST, whose words have any of SEPARATORS between them. */
bool mountinfo_has_word (const char *list, const char *separators, const char *word);
