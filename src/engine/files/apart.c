/* SPDX-License-Identifier: Apache-2.0 */
/* Directories are compared by device and inode, for each has as many paths as there are mounts of it: those
 * of which the one is or holds the other have the one among what is above the other. */
#include "engine/files/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/text.h"
#include "engine/host/environment.h"

struct identity {
  dev_t device;
  ino_t inode;
};

/* A directory and all that are above it, itself first. */
typedef GArray ancestry;

static gboolean
apart_is_in (const ancestry *directories, const struct identity *wanted)
{
  for (guint i = 0; i < directories->len; i++) {
    const struct identity *each = &g_array_index (directories, struct identity, i);
    if (each->device == wanted->device && each->inode == wanted->inode)
      return TRUE;
  }
  return FALSE;
}

/* Takes over FD. Who may not go further up is past all that is ours. NULL with errno: it cannot be looked at.
 */
static ancestry *
ancestry_of (int fd)
{
  g_autoptr (GArray) directories = g_array_new (FALSE, FALSE, sizeof (struct identity));
  struct stat info;
  autoclose int at = fd;
  while (at >= 0 && fstat (at, &info) == 0) {
    const struct identity here = {info.st_dev, info.st_ino};
    if (apart_is_in (directories, &here)) /* the root is above itself */
      return g_steal_pointer (&directories);
    g_array_append_val (directories, here);
    int next = openat (at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd_close (&at);
    at = next;
  }
  return errno == EACCES && directories->len > 0 ? g_steal_pointer (&directories) : NULL;
}

/* PATH, which may not be there, and the directory GIVEN: whether one is in the other, or that cannot be
 * known. What may not be entered is nothing that is ours. */
static gboolean
overlaps (const ancestry *given, const char *path)
{
  if (!path)
    return FALSE;
  g_autoptr (GArray) own = ancestry_of (open (path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!own)
    return errno != ENOENT && errno != ENOTDIR && errno != EACCES;
  return apart_is_in (given, &g_array_index (own, struct identity, 0)) ||
         apart_is_in (own, &g_array_index (given, struct identity, 0));
}

/* With them, code would have the daemon's socket and lock, tokens, what others wait for in reviews. */
static gboolean
apart_check_own (const struct config *config, const ancestry *given, GError **error)
{
  g_autofree char *socket = config_socket (config, NULL);
  g_autofree char *beside = socket ? g_path_get_dirname (socket) : NULL;
  g_autofree char *runtime = paths_runtime_dir (NULL), *state = paths_state_dir (NULL);
  g_autofree char *settings = paths_config_dir ();
  const struct {
    const char *what, *path;
  } own[] = {{"socket", beside}, {"runtime", runtime}, {"state", state}, {"configuration", settings}};
  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    if ((i == 0 || g_strcmp0 (own[i].path, own[i - 1].path) != 0) && overlaps (given, own[i].path)) {
      g_autofree char *shown = text_one_line (own[i].path, -1);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                   "Adder's own %s directory, %s, would be within reach of the code", own[i].what, shown);
      return FALSE;
    }
  return TRUE;
}

static gboolean
refuse_change (const char *path, const char *whose, GError **error)
{
  g_autofree char *shown = text_one_line (path, -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "code could change %s, where %s loads code from for other runs as well; let it read the "
               "directory, or work on an overlay of it",
               shown, whose);
  return FALSE;
}

/* The daemon executes what is in the first; the others say how it confines code. */
static gboolean
check_programs (const ancestry *given, GError **error)
{
  g_autofree char *programs = paths_libexec_dir (NULL), *data = paths_data_dir (NULL);
  g_autofree char *profiles = data ? g_build_filename (data, "profiles", NULL) : NULL;
  g_autofree char *container = data ? g_build_filename (data, "container", NULL) : NULL;
  const char *const paths[] = {programs, profiles, container};
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    if (overlaps (given, paths[i]))
      return refuse_change (paths[i], "Adder", error);
  return TRUE;
}

/* An environment is everybody's who may run code in it. */
static gboolean
check_environments (const ancestry *given, GError **error)
{
  g_autoptr (GPtrArray) places = environment_places ();
  for (guint i = 0; i < places->len; i++) {
    const struct environment_place *place = places->pdata[i];
    g_autofree char *whose =
        place->environment ? g_strconcat ("the environment ", place->environment, NULL) : g_strdup ("Adder");
    if (overlaps (given, place->path))
      return refuse_change (place->path, whose, error);
  }
  return TRUE;
}

gboolean
apart_check (const struct config *config, int fd, gboolean changes, GError **error)
{
  g_autoptr (GArray) given = ancestry_of (fcntl (fd, F_DUPFD_CLOEXEC, 3));
  if (!given)
    return error_from_errno (error, errno, "it cannot be looked at");
  return apart_check_own (config, given, error) &&
         (!changes || (check_programs (given, error) && check_environments (given, error)));
}
