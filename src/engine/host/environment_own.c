/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's own environment: the one that is active where they call from. It may lie in a directory that
 * runs write to, such as a project with its .venv, and its contents are then as much the work of code as of
 * the caller. So nothing of it is run to determine its needs, and its owner is checked for each call; the
 * interpreter first runs as a zygote, confined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "engine/host/environment_private.h"

static gboolean
environment_own_refuse (const struct interpreter *own, const char *why, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot use your own environment, %s: %s",
               own->python, why);
  return FALSE;
}

static gboolean
environment_own_locate (struct interpreter *own, GError **error)
{
  const char *why = interpreter_locate (own);
  g_autofree char *directory = g_path_get_dirname (own->python);
  char *real_directory = realpath (directory, NULL);
  if (!why && g_strcmp0 (directory, real_directory) != 0)
    why = "its directory is named through a symbolic link";
  free (real_directory);
  return !why || environment_own_refuse (own, why, error);
}

/* ---- whose it is ---- */

static gboolean
check_file (const struct interpreter *own, const char *path, GError **error)
{
  struct stat st;
  g_autofree char *why = NULL;
  if (stat (path, &st) < 0)
    why = g_strdup_printf ("%s: %s", path, g_strerror (errno));
  else if (st.st_uid != 0 && st.st_uid != geteuid ())
    why = g_strdup_printf ("%s belongs to user %u, neither to you nor to root", path, (guint)st.st_uid);
  else if (st.st_mode & S_IWOTH)
    why = g_strdup_printf ("everybody may write to %s", path);
  return !why || environment_own_refuse (own, why, error);
}

static gboolean
check_whose (const struct interpreter *own, GError **error)
{
  g_autofree char *bin = g_path_get_dirname (own->python);
  g_autofree char *start = g_build_filename (own->library, "os.py", NULL);
  g_autofree char *packages = g_build_filename (own->prefix, "lib", own->name, "site-packages", NULL);
  g_autofree char *settings = g_build_filename (own->prefix, "pyvenv.cfg", NULL);
  const char *const paths[] = {own->real,   own->base, own->library, start,
                               own->prefix, bin,       packages,     own->venv ? settings : own->prefix};
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    if (!check_file (own, paths[i], error))
      return FALSE;
  const char *why = facts_why_not_shown (own->prefix);
  if (!why && !g_str_has_prefix (own->base, "/usr"))
    why = facts_why_not_shown (own->base);
  return !why || environment_own_refuse (own, why, error);
}

static GStrv
environment_own_list_of (const char *first, const char *second)
{
  const char *const list[] = {first, second, NULL};
  return g_strdupv ((char **)(guintptr)list);
}

static struct environment *
environment_own_make (const struct interpreter *own, GError **error)
{
  autofacts struct facts *facts = interpreter_facts (own, error);
  if (!facts)
    return NULL;
  struct environment *environment = g_new0 (struct environment, 1);
  environment->name = g_strdup (own->python);
  environment->python = g_steal_pointer (&facts->executable);
  environment->modules = g_new0 (char *, 1);
  environment->version = g_steal_pointer (&facts->version);
  environment->roots = g_steal_pointer (&facts->roots);
  environment->packages = g_steal_pointer (&facts->packages);
  environment->trees = environment_own_list_of (own->prefix, own->base);
  return environment;
}

struct environment *
environment_find_own (const char *python, GError **error)
{
  struct interpreter own = {.python = python};
  struct environment *environment = NULL;
  if (environment_own_locate (&own, error) && check_whose (&own, error))
    environment = environment_own_make (&own, error);
  interpreter_clear (&own);
  return environment;
}
