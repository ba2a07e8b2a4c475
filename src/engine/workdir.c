/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/workdir.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"
#include "engine/launcher.h"
#include "runner/wire.h"

/* A mount is made within milliseconds. */
#define LEND_WAIT_MS 10000

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

static gboolean
check_isolation (const struct host *host, enum isolation isolation, GError **error)
{
  if (isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_autoptr (GError) why = NULL;
  (void)host_check (host, ISOLATION_NAMESPACES, 0, &why);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "a work directory needs a sandbox with mounts of its own, and isolation \"%s\" has none%s%s",
               isolation_names[isolation], why ? ": " : "", why ? why->message : "");
  return FALSE;
}

/* The launcher's one answer. */
static gboolean
take_answer (int socket, int *ret_mount_fd, GError **error)
{
  union {
    struct wire_control_header header;
    struct wire_refused refused;
  } answer = {0};
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  gsize count = 0;
  int fd = -1, r;
  do
    r = poll (&ready, 1, LEND_WAIT_MS);
  while (r < 0 && errno == EINTR);
  gssize got =
      r > 0 ? fd_receive_flags (socket, &answer, sizeof answer, MSG_DONTWAIT, &fd, 1, &count) : -ETIMEDOUT;
  if (got == (gssize)sizeof answer.refused && answer.header.kind == WIRE_REFUSED) {
    answer.refused.fault.step[FAULT_STEP_BYTES - 1] = '\0';
    return error_from_fault (&answer.refused.fault, error);
  }
  if (got == (gssize)sizeof answer.header && answer.header.kind == WIRE_LENT && count == 1) {
    *ret_mount_fd = fd;
    return TRUE;
  }
  if (count == 1)
    fd_close (&fd);
  return error_from_errno (error, got < 0 ? (int)-got : EPROTO, "no mount of the work directory was made");
}

/* Root's sandboxes are another user's: the mount says that his files are theirs. */
static char **
arguments_of (const struct workdir *workdir, const struct host *host)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  const struct workspace_owner *owner = &host->owner;
  g_ptr_array_add (list, g_strdup ("adder-zygote"));
  g_ptr_array_add (list, g_strdup (WIRE_LEND));
  g_ptr_array_add (list, g_strdup (workdir->mode == WORKDIR_WRITE ? WIRE_LEND_WRITE : "read"));
  if (owner->assume) {
    const guint ids[] = {geteuid (), owner->uid, getegid (), owner->gid};
    for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
      g_ptr_array_add (list, g_strdup_printf ("%u", ids[i]));
  }
  g_ptr_array_add (list, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&list), FALSE);
}

static gboolean
make_mount (const struct workdir *workdir, const struct host *host, int *ret_mount_fd, GError **error)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return error_from_errno (error, errno, "cannot make a socket");
  autoclose int ours = ends[0];
  autoclose int theirs = ends[1];
  const struct launcher_fd fds[] = {{theirs, WIRE_LAUNCH_CONTROL}, {workdir->fd, WIRE_LEND_DIRECTORY}};
  g_auto (GStrv) arguments = arguments_of (workdir, host);
  int pidfd;
  if (!launcher_start (host->launcher, arguments, fds, G_N_ELEMENTS (fds), &pidfd, error))
    return FALSE;
  /* So that its end ends the wait. */
  fd_close (&theirs);
  gboolean made = take_answer (ours, ret_mount_fd, error);
  launcher_reap (&pidfd, "the launcher that lends a directory");
  return made;
}

gboolean
workdir_lend (struct workdir *workdir, const struct host *host, enum isolation isolation, struct shape *shape,
              int *ret_mount_fd, GError **error)
{
  static gint64 lent;
  struct timespec now;
  g_autofree char *shown = text_one_line (workdir->path, -1);
  if (!check_isolation (host, isolation, error))
    return FALSE;
  if (!make_mount (workdir, host, ret_mount_fd, error)) {
    g_prefix_error (error, "the directory %s cannot be a work directory: ", shown);
    return FALSE;
  }
  /* What is stamped later was changed by somebody else. Files are stamped by this clock, or by one that lags
   * behind it by a tick: who changes something within that has done so before any code runs. */
  clock_gettime (CLOCK_REALTIME, &now);
  workdir->begun_ns = (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
  shape->lent = (guint64)__atomic_add_fetch (&lent, 1, __ATOMIC_RELAXED);
  shape->directory_fd = *ret_mount_fd;
  shape->overlay = workdir_is_overlay (workdir->mode);
  return TRUE;
}
