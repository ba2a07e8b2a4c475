/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the environment have no say: the daemon would find another engine than the command that built
 * its image. */
#include "containers/find.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"

enum whose { OF_USER, OF_SYSTEM };

/* What each word of [container] engine stands for, where there is none. */
static const struct {
  const char *engine, *install, *start;
} engines[] = {
    {"docker", "Docker: install it (docker.io)", "systemctl start docker"},
    {"podman", "Podman: install it (podman)", "systemctl start podman.socket"},
    {"auto", "container engine: install Docker (docker.io) or Podman (podman)", "systemctl start docker"},
};

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
find_path_of (const struct place *place)
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

/* The group that may use the socket PATH; the caller's. NULL: there is none, or its directory is closed. */
static char *
group_of (const char *path)
{
  struct stat st;
  struct group group, *found = NULL;
  char room[4096];
  if (stat (path, &st) != 0 || st.st_gid == 0 || !(st.st_mode & S_IWGRP) ||
      getgrgid_r (st.st_gid, &group, room, sizeof room, &found) != 0 || !found)
    return NULL;
  return g_strdup (found->gr_name);
}

/* Errors are short: they travel in a struct fault. */
static void
find_explain (GError **error, int err, const char *path, const char *start)
{
  const char *name = g_get_user_name ();
  g_autofree char *group = err == EACCES || err == EPERM ? group_of (path) : NULL;
  if (group)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the user %s may not use %s: add the user to its group (usermod -aG %s %s), or start a "
                 "rootless engine",
                 name, path, group, name);
  else if (err == EACCES || err == EPERM)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the user %s may not use %s: it is its owner's. Start a rootless engine, or set [container] "
                 "socket",
                 name, path);
  else if (err == ECONNREFUSED)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "no container engine listens on %s: start it, for example with %s", path, start);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "no container engine can be reached at %s (%s): start it, for example with %s", path,
                 g_strerror (err), start);
}

static gsize
find_index_of (const char *engine)
{
  gsize i = 0;
  while (i + 1 < G_N_ELEMENTS (engines) && strcmp (engine, engines[i].engine) != 0)
    i++;
  return i;
}

/* The engine that is meant by the socket PATH: its name may say more than ENGINE. */
static const char *
find_start_of (const char *engine, const char *path)
{
  return engines[find_index_of (strstr (path, "podman") ? "podman" : engine)].start;
}

/* The first usual place at which one answers; else what is worth telling of those that are there. */
static char *
find_look_around (const char *engine, GError **error)
{
  g_autoptr (GError) problem = NULL;
  int worst = ENOENT;
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *path = find_path_of (&places[i]);
    if (!path || (strcmp (engine, "auto") != 0 && strcmp (engine, places[i].engine) != 0))
      continue;
    int err = knock (path);
    if (err == 0)
      return g_steal_pointer (&path);
    /* To be without a right says more than that nobody listens. */
    if (err == ENOENT || err == ENOTDIR || (worst != ENOENT && err != EACCES))
      continue;
    g_clear_error (&problem);
    find_explain (&problem, err, path, places[i].start);
    worst = err;
  }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "there is no %s and start it (%s), or set [container] socket",
                 engines[find_index_of (engine)].install, engines[find_index_of (engine)].start);
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
    return find_look_around (engine, error);
  int err = knock (config->container_socket);
  if (err == 0)
    return g_strdup (config->container_socket);
  find_explain (error, err, config->container_socket, find_start_of (engine, config->container_socket));
  return NULL;
}

gboolean
container_is_rootless (const char *socket)
{
  struct stat st;
  return geteuid () != 0 && stat (socket, &st) == 0 && st.st_uid == geteuid ();
}
