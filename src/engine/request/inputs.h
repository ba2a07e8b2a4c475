/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a run finds in its workspace before its code runs.
 *
 * Each comes as a descriptor, and is copied. A large one is bind-mounted instead, where the sandbox has
 * mounts of its own and is no session's, so that a gigabyte is there at once and takes nothing from the
 * workspace:
 *
 * One that is also in a directory of links (a stored file) with that directory, which is the lower layer of
 * an overlay of /work or /tmp, as work directories are. What the code changes of it is copied first, by the
 * kernel, into the workspace. The directory itself is seen by nobody in the sandbox: its mount is read-only,
 * and only the overlay refers to it.
 *
 * One of the caller's as a mount of that file alone (sandbox/file.h), which cannot be written to, on an empty
 * file of its name. It lies wherever the caller has it, and it is theirs to change, also while the code
 * reads.
 */
#pragma once

#include <glib.h>

#include "engine/host/host.h"
#include "engine/pool/sandbox_spec.h"

enum input_place { INPUT_WORK, INPUT_TMP, INPUT_PLACES };

struct input {
  char *name; /* below its place */
  int fd;     /* the request's */
  enum input_place place;
  guint64 bytes;         /* of a stored file, as is the digest: what comes back is held against it */
  char *sha256;          /* hexadecimal; NULL: not known */
  char *key;             /* by which who stores it finds it again; NULL */
  gboolean bind_mounted; /* the sandbox has a mount of it */
  char *copied_for;      /* why a large one is not; NULL: not known */
  gboolean linked;       /* it is also in the directory of links for its place, under its name */
};
void input_clear (struct input *input);

/* Which file of the store INPUT is, and where it goes: without a descriptor. To be cleared. */
struct input input_describe (const struct input *input);

/* An array of struct input, which it clears; and a copy of one, of what describes each. NULL is an empty one.
 */
GArray *inputs_new (void);
GArray *inputs_copy (const GArray *inputs);

/* Adds INPUT, which is taken over, in place of one that has its place and name. */
void inputs_replace (GArray *inputs, struct input *input);

/* From here on a file is bind-mounted and not copied: a sandbox that is made for one run costs about as much
 * as copying this. */
#define INPUT_BIND_BYTES ((guint64)16 << 20)

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

/* Has SPEC what the directories of links hold, where that can be done, *RET_BIND_MOUNTED of each place, and
 * large files of the caller's, which are marked; all others are to be copied. The descriptors are the
 * caller's (sandbox_spec_close). */
void inputs_bind (struct run_request *request, const struct host *host, enum isolation isolation,
                  struct sandbox_spec *spec, gboolean ret_bind_mounted[INPUT_PLACES]);

/* Takes that back because of PROBLEM: all is to be copied. FALSE when there was nothing. */
gboolean inputs_unbind (struct run_request *request, struct sandbox_spec *spec,
                        gboolean bind_mounted[INPUT_PLACES], const GError *problem);

/* Has ERROR, of INPUT that does not fit, say why it was to be copied at all. */
void inputs_explain (const struct input *input, GError **error);
