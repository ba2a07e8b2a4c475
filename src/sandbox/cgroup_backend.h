/* SPDX-License-Identifier: Apache-2.0 */
/* Between cgroup.c, which makes, fills and removes directories, and the back ends, which know the files in
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/cgroup.h"

/* Most hierarchies that one back end uses; v2 has a single one. The first one of a node is locked while it is
 * in use. */
#define CGROUP_TREES_MAX 4

/* Files of a group that are read again and again stay open: opening one costs more than reading it. */
enum cgroup_file { CGROUP_FILE_PEAK, CGROUP_FILE_KILLS, CGROUP_FILE_REFUSED, CGROUP_FILE_CPU, CGROUP_FILES };

struct cgroup_backend {
  enum cgroup_mode mode;
  size_t trees;
  /* Opens the groups below which nodes are made, -1 for a hierarchy that is not there. ROOT as in
   * cgroup_node_open. */
  int (*open_parents) (const char *root, int *ret_parents, struct fault *fault);
  /* What has to be done to the parents before, or to the node after it is made, so that groups in it can have
   * limits. */
  int (*prepare_parents) (const int *parents, unsigned flags, struct fault *fault);
  int (*prepare_node) (const int *node, struct fault *fault);
  /* The same as prepare_parents, without doing it. */
  int (*check_parents) (const int *parents, unsigned flags, struct fault *fault);
  /* On a group. */
  bool (*wants_tree) (size_t tree, const struct cgroup_limits *limits);
  int (*set_limits) (const int *trees, const struct cgroup_limits *limits, struct fault *fault);
  int (*read_usage) (const int *trees, int files[CGROUP_FILES], struct cgroup_usage *ret_usage,
                     struct fault *fault);
  int (*read_cpu) (const int *trees, uint64_t *ret_us);
  int (*read_memory) (const int *trees, uint64_t *ret_bytes);
  int (*watch_memory) (const int *trees); /* NULL: never */
  int (*kill) (const int *trees, struct fault *fault);
  /* Waits until no process is left, at most TIMEOUT_MS. */
  void (*wait_empty) (const int *trees, int timeout_ms);
};

extern const struct cgroup_backend cgroup_backend_v1, cgroup_backend_v2, cgroup_backend_none;

/* ---- for back ends: files of a group ---- */

/* Writes TEXT in one go. Returns 0 or a negative errno; -ENOENT when there is no such file. */
int cgroup_write (int directory, const char *file, const char *text);
int cgroup_write_number (int directory, const char *file, uint64_t number);

/* Reads a whole file of at most SIZE - 1 bytes as text. */
int cgroup_read (int directory, const char *file, char *text, size_t size);

/* Reads the number that stands alone in FILE, or after KEY and a space at the start of a line. -ENODATA when
 * it does not. */
int cgroup_read_number (int directory, const char *file, const char *key, uint64_t *ret_number);

/* The same of a file that stays open, at *FD, which is -1 before. */
int cgroup_reread_number (int directory, int *fd, const char *file, const char *key, uint64_t *ret_number);

/* The same in a text. */
int cgroup_parse_number (const char *text, const char *key, uint64_t *ret_number);

/* Whether WORD is one of the words, with spaces between them, of FILE. */
bool cgroup_has_word (int directory, const char *file, const char *word);

/* SIGKILL to all processes of a group, one by one, until no new ones turn up. */
int cgroup_kill_each (int directory);

/* Opens the calling process's own group in the hierarchy of CONTROLLER (NULL: v2's). -ENOENT when it is not
 * mounted. */
int cgroup_open_own (const char *controller, struct fault *fault);
