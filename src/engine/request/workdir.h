/* SPDX-License-Identifier: Apache-2.0 */
/* A run's work directory: a directory of the host that is /work in its sandbox. The caller opened it: nothing
 * here opens a path on a caller's behalf. */
#pragma once

#include <glib.h>

#include "engine/host/host.h"
#include "engine/pool/sandbox_spec.h"

/* Ordered by what they let code do. */
enum workdir_mode {
  WORKDIR_NONE,
  WORKDIR_READ,
  WORKDIR_OVERLAY, /* changes are listed, and dropped */
  WORKDIR_REVIEW,  /* changes are listed, and made when somebody approves them */
  WORKDIR_WRITE,   /* changes take effect at once */
};

struct workdir {
  enum workdir_mode mode;
  int fd;          /* the directory, the request's; -1: none */
  char *path;      /* the caller's name for it: an absolute path, for people and for opening it again */
  gint64 begun_ns; /* the real time when it was bind-mounted */
};

/* "none", "read", "overlay", "review", "rw". */
const char *workdir_mode_name (enum workdir_mode mode);
/* ADDER_ERROR_INVALID lists the words. */
gboolean workdir_mode_parse (const char *text, enum workdir_mode *ret_mode, GError **error);

/* Whether changes stay in the workspace. */
gboolean workdir_is_overlay (enum workdir_mode mode);

/* Makes a mount of the directory for one sandbox of ISOLATION, added to SPEC; the caller closes it
 * (sandbox_spec_close). ADDER_ERROR_UNSUPPORTED where sandboxes have no mounts of their own,
 * ADDER_ERROR_REFUSED for one that code must not reach, or not change (apart.h). */
gboolean workdir_bind (struct workdir *workdir, const struct host *host, enum isolation isolation,
                       struct sandbox_spec *spec, GError **error);
