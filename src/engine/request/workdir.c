/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request/workdir.h"

#include <string.h>
#include <time.h>

#include "adder_types.h"
#include "common/text.h"
#include "engine/files/apart.h"
#include "engine/files/bind_mount.h"
#include "runner/wire.h"
#include "sandbox/mounts.h"

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

/* ---- its own path ---- */

/* The path that the caller knows it by, if that is the kernel's too: a caller with its own names for folders,
 * as over HTTP, learns nothing of where it is. NULL: it has none in the sandbox, since it is too long, or
 * below a directory that every sandbox has of its own, except /tmp. */
static GRefString *
own_path (const struct workdir *workdir)
{
  g_autofree char *path = bind_mount_path (workdir->fd);
  if (!path || strcmp (path, workdir->path) != 0 || strlen (path) >= WIRE_OWN_PATH_BYTES || path[1] == '\0')
    return NULL;
  for (gsize i = 0; i < mount_points_count; i++) {
    gsize length = strlen (mount_points[i].path);
    if (strcmp (mount_points[i].path, "tmp") != 0 && strncmp (path + 1, mount_points[i].path, length) == 0 &&
        (path[1 + length] == '/' || path[1 + length] == '\0'))
      return NULL;
  }
  return g_ref_string_new (path);
}

/* ---- bind mounts ---- */

gboolean
workdir_bind (struct workdir *workdir, const struct host *host, enum isolation isolation,
              struct sandbox_spec *spec, GError **error)
{
  struct bind_mount bind_mount;
  struct timespec now;
  g_autofree char *shown = text_one_line (workdir->path, -1);
  gboolean contained = isolation == ISOLATION_CONTAINER, writable = workdir->mode == WORKDIR_WRITE;
  if (!contained && !bind_mount_check (host, isolation, "a work directory", error))
    return FALSE;
  gboolean changes = writable || workdir->mode == WORKDIR_REVIEW;
  if (!apart_check (host->config, workdir->fd, changes, error) ||
      !(contained
            ? bind_mount_for_container (host, workdir->fd, writable, &bind_mount, error)
            : bind_mount_directory (host, workdir->fd, writable, "the work directory", &bind_mount, error))) {
    g_prefix_error (error, "the directory %s cannot be a work directory: ", shown);
    return FALSE;
  }
  /* A later timestamp means a change by somebody else. Files are stamped by this clock, or by one that lags a
   * tick behind it: a change within that tick precedes any code. */
  clock_gettime (CLOCK_REALTIME, &now);
  workdir->begun_ns = (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
  sandbox_spec_bind (spec, MOUNTS_DIRECTORY, &bind_mount);
  spec->own_path = contained ? NULL : own_path (workdir);
  spec->overlay = workdir_is_overlay (workdir->mode);
  spec->read_only = workdir->mode == WORKDIR_READ;
  return TRUE;
}
