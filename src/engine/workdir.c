/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/workdir.h"

#include <string.h>
#include <time.h>

#include "adder.h"
#include "common/text.h"
#include "engine/lend.h"

static const char *const names[] = {
    [WORKDIR_NONE] = "none",     [WORKDIR_READ] = "read", [WORKDIR_OVERLAY] = "overlay",
    [WORKDIR_REVIEW] = "review", [WORKDIR_WRITE] = "rw",
};

const char *
workdir_mode_name (enum workdir_mode mode)
{
  return names[mode];
}

gboolean
workdir_mode_parse (const char *text, enum workdir_mode *ret_mode, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], text) == 0) {
      *ret_mode = (enum workdir_mode)i;
      return TRUE;
    }
  g_autofree char *shown = text_one_line (text, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is no way to use a work directory; there are none, read, overlay, review and rw",
               shown);
  return FALSE;
}

gboolean
workdir_is_overlay (enum workdir_mode mode)
{
  return mode == WORKDIR_OVERLAY || mode == WORKDIR_REVIEW;
}

/* ---- lending ---- */

gboolean
workdir_lend (struct workdir *workdir, const struct host *host, enum isolation isolation, struct shape *shape,
              GError **error)
{
  int mount_fd;
  struct timespec now;
  g_autofree char *shown = text_one_line (workdir->path, -1);
  gboolean contained = isolation == ISOLATION_CONTAINER, writable = workdir->mode == WORKDIR_WRITE;
  if (!contained && !lend_check (host, isolation, "a work directory", error))
    return FALSE;
  if (!(contained ? lend_to_container (host, workdir->fd, writable, &mount_fd, error)
                  : lend_directory (host, workdir->fd, writable, "the work directory", &mount_fd, error))) {
    g_prefix_error (error, "the directory %s cannot be a work directory: ", shown);
    return FALSE;
  }
  /* What is stamped later was changed by somebody else. Files are stamped by this clock, or by one that lags
   * behind it by a tick: who changes something within that has done so before any code runs. */
  clock_gettime (CLOCK_REALTIME, &now);
  workdir->begun_ns = (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
  shape_lend (shape, MOUNTS_DIRECTORY, mount_fd);
  shape->overlay = workdir_is_overlay (workdir->mode);
  shape->read_only = workdir->mode == WORKDIR_READ;
  return TRUE;
}
