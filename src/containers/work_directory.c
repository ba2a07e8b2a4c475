/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/work_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/error.h"
#include "runner/wire.h"
#include "sandbox/mounts.h"

/* Podman makes a list of options of it, in which they would end the path. */
#define PODMAN_CANNOT ",\""

gboolean
work_directory_is_mount (const struct container_order *order)
{
  return g_strcmp0 (order->bind, CONTAINER_BIND_MOUNT) == 0;
}

gboolean
work_directory_check (const struct container_order *order, const struct container_client *client,
                      GError **error)
{
  if (!order->directory || !container_client_is_podman (client) || !strpbrk (order->directory, PODMAN_CANNOT))
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                       "Podman cannot bind-mount a directory with a comma or a quotation mark in its path");
  return FALSE;
}

/* Returns 0 or an errno. There is nothing in the container yet but the zygote, which waits. */
static int
attach (int pid_fd)
{
  struct fault fault = {0};
  if (setns (pid_fd, CLONE_NEWNS) < 0 || (mkdir (WIRE_WORK_PATH, 0755) < 0 && errno != EEXIST))
    return errno;
  return mounts_attach (WIRE_LAUNCH_BIND, AT_FDCWD, WIRE_WORK_PATH, &fault) < 0 ? fault.err : 0;
}

gboolean
work_directory_attach (const struct container_order *order, int pid_fd, GError **error)
{
  int status = 0;
  if (!work_directory_is_mount (order))
    return TRUE;
  /* A process of its own: there is no way back from a mount namespace. */
  pid_t child = fork ();
  if (child == 0)
    _exit (attach (pid_fd));
  if (child < 0)
    return error_from_errno (error, errno, "cannot fork");
  while (waitpid (child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;
  return error_from_errno (error, WIFEXITED (status) ? WEXITSTATUS (status) : EIO,
                           "the work directory cannot be mounted in the container");
}
