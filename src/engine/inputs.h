/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a run finds in its workspace before its code runs.
 *
 * Each comes as a descriptor, and is copied. One that is also in a directory of links (a large stored file)
 * is not, where the sandbox has mounts of its own and is no session's: that directory is lent to it as the
 * lower layer of an overlay of /work or /tmp, as work directories are. So a gigabyte is there at once and
 * takes nothing from the workspace; what the code changes of it is copied first, by the kernel, into the
 * workspace. The directory itself is seen by nobody in the sandbox: its mount is read-only, and only the
 * overlay refers to it. */
#pragma once

#include <glib.h>

#include "engine/host.h"
#include "engine/shape.h"

enum input_place { INPUT_WORK, INPUT_TMP, INPUT_PLACES };

struct input {
  char *name; /* below its place */
  int fd;     /* the request's */
  enum input_place place;
  guint64 bytes;   /* of a stored file, as is the digest: what comes back is held against it */
  char *sha256;    /* hexadecimal; NULL: not known */
  char *key;       /* by which who stores it finds it again; NULL */
  gboolean linked; /* it is also in the directory of links for its place, under its name */
};
void input_clear (struct input *input);

/* Directories of links, of a request's inputs; -1: there is none. Nothing in them is ever written to. */
struct input_links {
  int directory_fd[INPUT_PLACES];
  void (*release) (gpointer data); /* when no sandbox needs them any more; may be NULL */
  gpointer data;
};

/* "work" and "tmp": as callers say it, and where they lie in a workspace. */
const char *input_place_name (enum input_place place);
/* ADDER_ERROR_INVALID names both. */
gboolean input_place_parse (const char *text, enum input_place *ret_place, GError **error);

struct run_request;

/* Whether the inputs of REQUEST go together with each other and with its work directory:
 * ADDER_ERROR_INVALID. */
gboolean inputs_check (const struct run_request *request, GError **error);

/* Takes that back: all is to be copied. FALSE when there was nothing. */
gboolean inputs_unlend (struct shape *shape, gboolean lent[INPUT_PLACES]);

/* Has SHAPE what the directories of links hold, where that can be done, *RET_LENT of each place; else its
 * files are to be copied. The descriptors are the caller's (shape_close). */
void inputs_lend (const struct run_request *request, const struct host *host, enum isolation isolation,
                  struct shape *shape, gboolean ret_lent[INPUT_PLACES]);
