/* SPDX-License-Identifier: Apache-2.0 */
/* Host programs that Adder waits for: python, pip, and tools that build an image. */
#pragma once

#include <glib.h>

/* One line of output, without its end. */
typedef void (*command_line_func) (const char *line, gboolean from_stderr, gpointer data);

struct command {
  const char *const *argv;     /* argv[0] is an absolute path; no shell is involved */
  const char *const *settings; /* further NAME=VALUE for its environment, or NULL */
  guint timeout_ms;
  gboolean alone; /* in a process group of its own, so that what it started is killed with it */
  guint64 file_bytes, memory_bytes; /* of a file that it writes, and of its address space; 0: as they are */
  /* Called repeatedly while the program runs. FALSE with ERROR: it is killed. NULL: no check. */
  gboolean (*check) (gpointer data, GError **error);
  command_line_func line; /* NULL: output is thrown away */
  gpointer data;
};

/* Runs a program in / with empty standard input, umask 022 and a short environment (nothing that affects
 * Python, and for pip only how to reach an index), and waits for its end. Returns FALSE when it could not be
 * started or was killed, by its deadline or by `check`; else *RET_STATUS is its exit code, or 128 +
 * signal. */
gboolean command_run (const struct command *command, int *ret_status, GError **error);
