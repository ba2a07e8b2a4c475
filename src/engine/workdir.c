/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/workdir.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "adder.h"
#include "base/fd.h"
#include "common/config.h"
#include "common/paths.h"
#include "common/text.h"
#include "engine/lend.h"
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

/* ---- Adder's own ---- */

/* Whether the directory FD is TOP, or lies below it. Who may not go further up is past all that is ours. */
static gboolean
lies_in (int fd, const struct stat *top)
{
  struct stat here, above;
  autoclose int at = openat (fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0 || fstat (at, &here) < 0)
    return FALSE;
  for (;;) {
    if (here.st_dev == top->st_dev && here.st_ino == top->st_ino)
      return TRUE;
    int next = openat (at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd_close (&at);
    at = next;
    if (at < 0 || fstat (at, &above) < 0 || (above.st_dev == here.st_dev && above.st_ino == here.st_ino))
      return FALSE;
    here = above;
  }
}

/* PATH, which may not be there, and the directory FD: whether one is in the other. */
static gboolean
overlaps (int fd, const char *path)
{
  struct stat given, own;
  autoclose int own_fd = path ? open (path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (own_fd < 0 || fstat (fd, &given) < 0 || fstat (own_fd, &own) < 0)
    return FALSE;
  return lies_in (fd, &own) || lies_in (own_fd, &given);
}

/* With them, code would have the daemon's socket and lock, tokens, what others wait for in reviews. */
static gboolean
check_apart (const struct config *config, int fd, GError **error)
{
  g_autofree char *socket = config_socket (config, NULL);
  g_autofree char *beside = socket ? g_path_get_dirname (socket) : NULL;
  g_autofree char *runtime = paths_runtime_dir (NULL), *state = paths_state_dir (NULL);
  g_autofree char *settings = paths_config_dir ();
  const struct {
    const char *what, *path;
  } own[] = {{"socket", beside}, {"runtime", runtime}, {"state", state}, {"configuration", settings}};
  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    if (overlaps (fd, own[i].path)) {
      g_autofree char *shown = text_one_line (own[i].path, -1);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                   "Adder's own %s directory, %s, would be within reach of the code", own[i].what, shown);
      return FALSE;
    }
  return TRUE;
}

/* ---- its own path ---- */

/* The path that the caller knows it by, where that is the kernel's too: a caller who names a folder in a way
 * of its own, as over HTTP, learns nothing of where it is. NULL: it has none in the sandbox, for it is below
 * what every sandbox has of its own, but for /tmp, or too long. */
static GRefString *
own_path (const struct workdir *workdir)
{
  g_autofree char *path = lend_path (workdir->fd);
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
  if (!check_apart (host->config, workdir->fd, error) ||
      !(contained ? lend_to_container (host, workdir->fd, writable, &mount_fd, error)
                  : lend_directory (host, workdir->fd, writable, "the work directory", &mount_fd, error))) {
    g_prefix_error (error, "the directory %s cannot be a work directory: ", shown);
    return FALSE;
  }
  /* What is stamped later was changed by somebody else. Files are stamped by this clock, or by one that lags
   * behind it by a tick: who changes something within that has done so before any code runs. */
  clock_gettime (CLOCK_REALTIME, &now);
  workdir->begun_ns = (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
  shape_lend (shape, MOUNTS_DIRECTORY, mount_fd);
  shape->own_path = contained ? NULL : own_path (workdir);
  shape->overlay = workdir_is_overlay (workdir->mode);
  shape->read_only = workdir->mode == WORKDIR_READ;
  return TRUE;
}
