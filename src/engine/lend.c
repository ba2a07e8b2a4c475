/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lend.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/launcher.h"
#include "runner/wire.h"

/* A mount is made within milliseconds. */
#define LEND_WAIT_MS 10000

gboolean
lend_check (const struct host *host, enum isolation isolation, const char *what, GError **error)
{
  if (isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_autoptr (GError) why = NULL;
  (void)host_check (host, ISOLATION_NAMESPACES, 0, &why);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "%s needs a sandbox with mounts of its own, and isolation \"%s\" has none%s%s", what,
               isolation_names[isolation], why ? ": " : "", why ? why->message : "");
  return FALSE;
}

/* The launcher's one answer. */
static gboolean
take_answer (int socket, const char *what, int *ret_mount_fd, GError **error)
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
  return error_from_errno (error, got < 0 ? (int)-got : EPROTO, "no mount of %s was made", what);
}

/* Root's sandboxes are another user's: the mount says that his files are theirs. */
static char **
arguments_of (const struct host *host, const char *word)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  const struct workspace_owner *owner = &host->owner;
  g_ptr_array_add (list, g_strdup ("adder-zygote"));
  g_ptr_array_add (list, g_strdup (WIRE_LEND));
  g_ptr_array_add (list, g_strdup (word));
  if (owner->assume) {
    const guint ids[] = {geteuid (), owner->uid, getegid (), owner->gid};
    for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
      g_ptr_array_add (list, g_strdup_printf ("%u", ids[i]));
  }
  g_ptr_array_add (list, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&list), FALSE);
}

/* WORD is one of wire.h's. */
static gboolean
lend (const struct host *host, int fd, const char *word, const char *what, int *ret_mount_fd, GError **error)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return error_from_errno (error, errno, "cannot make a socket");
  autoclose int ours = ends[0];
  autoclose int theirs = ends[1];
  const struct launcher_fd fds[] = {{theirs, WIRE_LAUNCH_CONTROL}, {fd, WIRE_LEND_FD}};
  g_auto (GStrv) arguments = arguments_of (host, word);
  int pidfd;
  if (!launcher_start (host->launcher, arguments, fds, G_N_ELEMENTS (fds), &pidfd, error))
    return FALSE;
  /* So that its end ends the wait. */
  fd_close (&theirs);
  gboolean made = take_answer (ours, what, ret_mount_fd, error);
  launcher_reap (&pidfd, "the launcher that lends");
  return made;
}

gboolean
lend_directory (const struct host *host, int directory_fd, gboolean writable, const char *what,
                int *ret_mount_fd, GError **error)
{
  return lend (host, directory_fd, writable ? WIRE_LEND_WRITE : WIRE_LEND_READ, what, ret_mount_fd, error);
}

gboolean
lend_file (const struct host *host, int file_fd, const char *name, int *ret_mount_fd, GError **error)
{
  return lend (host, file_fd, WIRE_LEND_FILE, name, ret_mount_fd, error);
}
