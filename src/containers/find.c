/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the environment have no say: the daemon would find another engine than the command that built
 * its image. */
#include "containers/find.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"

enum whose { OF_USER, OF_SYSTEM };

static const struct place {
  const char *engine;
  enum whose whose;
  const char *path; /* of a user's: below the runtime directory */
  const char *start;
} places[] = {
    {"docker", OF_USER, "docker.sock", "systemctl --user start docker"},
    {"docker", OF_SYSTEM, "/run/docker.sock", "systemctl start docker"},
    {"podman", OF_USER, "podman/podman.sock", "systemctl --user start podman.socket"},
    {"podman", OF_SYSTEM, "/run/podman/podman.sock", "systemctl start podman.socket"},
};

/* NULL: there is none of that kind for this user. */
static char *
path_of (const struct place *place)
{
  if (place->whose == OF_SYSTEM)
    return g_strdup (place->path);
  return geteuid () == 0 ? NULL : g_strdup_printf ("/run/user/%u/%s", (unsigned)geteuid (), place->path);
}

/* Returns 0 or an errno. */
static int
knock (const char *path)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen (path) >= sizeof address.sun_path)
    return ENAMETOOLONG;
  memcpy (address.sun_path, path, strlen (path));
  autoclose int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return errno;
  /* EAGAIN: there is one, and others are before us. */
  return connect (fd, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN ? 0 : errno;
}

/* Errors are short: they travel in a struct fault. */
static void
explain (GError **error, int err, const char *path, const char *start)
{
  const char *name = g_get_user_name ();
  if (err == EACCES || err == EPERM)
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
        "the user %s may not use %s: add the user to the group that owns it (usermod -aG docker %s), "
        "or start a rootless engine",
        name, path, name);
  else if (err == ECONNREFUSED)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "no container engine listens on %s: start it, for example with %s", path, start);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "no container engine can be reached at %s (%s): start it, for example with %s", path,
                 g_strerror (err), start);
}

static const char *
start_of (const char *path)
{
  return strstr (path, "podman") ? "systemctl start podman.socket" : "systemctl start docker";
}

/* The first usual place at which one answers; else what is worth telling of those that are there. */
static char *
look_around (const char *engine, GError **error)
{
  g_autoptr (GError) problem = NULL;
  int worst = ENOENT;
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *path = path_of (&places[i]);
    if (!path || (strcmp (engine, "auto") != 0 && strcmp (engine, places[i].engine) != 0))
      continue;
    int err = knock (path);
    if (err == 0)
      return g_steal_pointer (&path);
    /* To be without a right says more than that nobody listens. */
    if (err == ENOENT || err == ENOTDIR || (worst != ENOENT && err != EACCES))
      continue;
    g_clear_error (&problem);
    explain (&problem, err, path, places[i].start);
    worst = err;
  }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "there is no container engine: install Docker (docker.io) or Podman, and start it "
                         "(systemctl start docker), or set [container] socket");
  return NULL;
}

char *
container_find (const struct config *config, GError **error)
{
  const char *engine = config->container_engine ? config->container_engine : "auto";
  if (strcmp (engine, "none") == 0) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "containers are switched off: adder.conf has [container] engine = none");
    return NULL;
  }
  if (!config->container_socket)
    return look_around (engine, error);
  int err = knock (config->container_socket);
  if (err == 0)
    return g_strdup (config->container_socket);
  explain (error, err, config->container_socket, start_of (config->container_socket));
  return NULL;
}

gboolean
container_is_rootless (const char *socket)
{
  struct stat st;
  return geteuid () != 0 && stat (socket, &st) == 0 && st.st_uid == geteuid ();
}
