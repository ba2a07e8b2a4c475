/* SPDX-License-Identifier: Apache-2.0 */
/* The watch over guarded code: audit events that a profile's rules refuse. Once on, it stays on for as long
 * as the process lives, in all of its threads, interpreters and forks. */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <stdbool.h>

/* Lists end with NULL; all of it is kept. Directories end with a slash. */
struct watch_rules {
  const char *const *words;     /* events that are refused, with stars; "!" before one that is not */
  const char *const *roots;     /* what Python is made of, which anybody may read */
  const char *const *own;       /* where files of the code's own are */
  const char *const *temporary; /* the place for temporary files, and the output folder in it */
};

/* To be looked at before anything is called: most processes have no guard. */
extern bool watch_is_on;

/* Has events refused from now on, by the rules that are GIVEN. Returns 0, or -EPERM and changes nothing:
 * rules that hold stay. */
int watch_start (const struct watch_rules *given);

/* Returns 0, or -1 with PermissionError where the EVENT is refused. */
int watch_look (const char *event, PyObject *arguments);

/* Whether a branch is being made, for which the runner handles the session's files. */
void watch_branching (bool begins);

/* Whether the runner may make the file PATH: where the watch is on, right in the output folder alone. */
bool watch_lets_make (const char *path);
