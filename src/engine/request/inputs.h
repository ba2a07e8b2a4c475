/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a run finds in its workspace before its code runs.
 *
 * Each comes as a descriptor, and is copied. A large one is bind-mounted instead, where the sandbox has
 * mounts of its own and is no session's, so that a gigabyte is there at once and takes nothing from the
 * workspace:
 *
 * One that is also in a directory of links (a stored file) with that directory, which is the lower layer of
 * an overlay of /work or /tmp, as work directories are. The kernel copies it into the workspace before the
 * code changes it. The directory itself is invisible in the sandbox: its mount is read-only, and only the
 * overlay refers to it.
 *
 * One of the caller's as a mount of that file alone (sandbox/file.h), which cannot be written to, on an empty
 * file of its name. The caller may change it, even while the code reads it. */
#pragma once

#include <glib.h>

#include "engine/host/host.h"
#include "engine/pool/sandbox_spec.h"

enum input_place { INPUT_WORK, INPUT_TMP, INPUT_PLACES };

struct input {
  char *name; /* below its place */
  int fd;     /* the request's */
  enum input_place place;
  guint64 bytes;         /* of a stored file, as is the digest: a file that comes back is compared with it */
  char *sha256;          /* hexadecimal; NULL: not known */
  char *key;             /* by which its store finds it again; NULL */
  gboolean bind_mounted; /* the sandbox has a mount of it */
  char *copied_for;      /* why a large one has none; NULL: not known */
  gboolean linked;       /* it is also in the directory of links for its place, under its name */
};
void input_clear (struct input *input);

/* Which stored file INPUT is, and where it goes: without a descriptor. To be cleared. */
struct input input_describe (const struct input *input);

/* An array of struct input, which it clears; and a copy of one, without descriptors. NULL is an empty one. */
GArray *inputs_new (void);
GArray *inputs_copy (const GArray *inputs);

/* Adds INPUT, which is taken over, replacing one with the same place and name. */
void inputs_replace (GArray *inputs, struct input *input);

/* From this size on a file is bind-mounted instead of copied: making a sandbox for one run costs about as
 * much as copying this. */
#define INPUT_BIND_BYTES ((guint64)16 << 20)

/* Directories of links for a request's inputs; -1: none. They are read-only. */
struct input_links {
  int directory_fd[INPUT_PLACES];
  void (*release) (gpointer data); /* called once no sandbox needs them; may be NULL */
  gpointer data;
};

/* "work" and "tmp": the callers' names, and the paths in a workspace. */
const char *input_place_name (enum input_place place);
/* ADDER_ERROR_INVALID names both. */
gboolean input_place_parse (const char *text, enum input_place *ret_place, GError **error);

struct run_request;

/* Whether the inputs of REQUEST are compatible with each other and with its work directory:
 * ADDER_ERROR_INVALID. */
gboolean inputs_check (const struct run_request *request, GError **error);

/* Adds to SPEC bind mounts of the directories of links, where possible (*RET_BIND_MOUNTED for each place),
 * and of the caller's large files, which are marked; all others must be copied. The descriptors are the
 * caller's (sandbox_spec_close). */
void inputs_bind (struct run_request *request, const struct host *host, enum isolation isolation,
                  struct sandbox_spec *spec, gboolean ret_bind_mounted[INPUT_PLACES]);

/* Undoes that because of PROBLEM: everything will be copied. FALSE when there was nothing to undo. */
gboolean inputs_unbind (struct run_request *request, struct sandbox_spec *spec,
                        gboolean bind_mounted[INPUT_PLACES], const GError *problem);

/* Adds to ERROR, about an INPUT that does not fit, why it had to be copied. */
void inputs_explain (const struct input *input, GError **error);
