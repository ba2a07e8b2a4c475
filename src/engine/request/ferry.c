/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request/ferry.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "engine/request/inputs.h"

/* ---- in ---- */

/* The exit pipe reports a sandbox that is gone. */
static gboolean
ferry_flush (struct channel *channel, gint64 deadline_us, GError **error)
{
  while (channel_flush (channel) == 0 && channel_is_sending (channel)) {
    struct pollfd socket = {.fd = channel->socket_fd, .events = POLLOUT};
    gint64 left_ms = (deadline_us - g_get_monotonic_time ()) / 1000;
    if (left_ms <= 0) {
      g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                           "the files did not get into the container in time");
      return FALSE;
    }
    (void)poll (&socket, 1, (int)MIN (left_ms, G_MAXINT));
  }
  return TRUE;
}

static gboolean
put (struct sandbox *sandbox, const char *path, guint64 *room, gint64 deadline_us, GError **error)
{
  struct stat st;
  autoclose int fd =
      sys_openat2 (sandbox->workspace_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0, WORKSPACE_RESOLVE);
  if (fd < 0 || fstat (fd, &st) < 0)
    return error_from_errno (error, errno, "cannot read the file %s of the workspace", path);
  if ((guint64)st.st_size > *room)
    return error_from_errno (error, ENOSPC, "cannot put the file %s into the workspace", path);
  *room -= (guint64)st.st_size;
  channel_send (&sandbox->channel, WIRE_PUT, path, strlen (path), fd_steal (&fd));
  return ferry_flush (&sandbox->channel, deadline_us, error);
}

gboolean
ferry_put (struct sandbox *sandbox, GHashTable *files, const struct limits *limits, gint64 deadline_us,
           GError **error)
{
  guint64 room = limits->value[LIMIT_WORKSPACE];
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    if (!put (sandbox, path, &room, deadline_us, error))
      return FALSE;
  return TRUE;
}

/* ---- out ---- */

/* The place, as a literal, and the name in a path "PLACE/NAME"; or NULL. */
static const char *
ferry_place_of (const char *path, const char **ret_name)
{
  for (enum input_place i = 0; i < INPUT_PLACES; i++) {
    const char *place = input_place_name (i);
    gsize length = strlen (place);
    if (strncmp (path, place, length) != 0 || path[length] != '/')
      continue;
    *ret_name = path + length + 1;
    return workspace_check_name (*ret_name, NULL) ? place : NULL;
  }
  return NULL;
}

static void
ferry_begin (struct ferry *ferry, const struct sandbox *sandbox, const struct workspace_owner *owner,
             guint64 most, const char *path)
{
  const char *name, *place = ferry_place_of (path, &name);
  fd_close (&ferry->fd);
  if (place) {
    ferry->files++;
    for (const char *at = name; (at = strchr (at, '/')); at++)
      ferry->files++;
    if (ferry->files <= most)
      ferry->fd = workspace_create (sandbox->workspace_fd, owner, place, name);
  }
  ferry->left += ferry->fd < 0;
}

gboolean
ferry_take (struct ferry *ferry, const struct sandbox *sandbox, const struct workspace_owner *owner,
            const struct limits *limits, const char *data, gsize length)
{
  gsize path = strnlen (data, length);
  if (!sandbox->apart || path == length)
    return FALSE;
  if (path > 0)
    ferry_begin (ferry, sandbox, owner, limits->value[LIMIT_WORKSPACE_FILES], data);
  gsize bytes = length - path - 1;
  if (ferry->fd < 0)
    return TRUE;
  ferry->bytes += bytes;
  if (ferry->bytes > limits->value[LIMIT_WORKSPACE] || fd_write_all (ferry->fd, data + path + 1, bytes) < 0) {
    fd_close (&ferry->fd);
    ferry->left++;
  }
  return TRUE;
}
