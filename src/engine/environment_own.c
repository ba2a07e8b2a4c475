/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's own environment: the one that is active where he calls from. Its interpreter is never run to be
 * asked what it needs, as that of an environment that somebody made is: it may lie in a directory that runs
 * write to, such as a project with its .venv, and what is found there is then as much the work of code as of
 * the caller. All is read from names, and the interpreter's first start is that of a zygote, confined.
 *
 * What may be shown of the host follows from two directories, the prefix and that of the interpreter which a
 * virtual environment is made from. Each is looked at here; that it is still the same when it is mounted, and
 * no link to somewhere else, is for layout.c to ask for (PLAN_BIND_REAL). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "engine/environment_private.h"

#define OLDEST_MINOR 9
/* As many as the kernel follows (MAXSYMLINKS). */
#define LINKS_MOST 40

struct own {
  const char *python; /* as it is called */
  char *real;         /* the file */
  char *prefix, *base, *library;
  gboolean venv;
};

static void
own_clear (struct own *own)
{
  g_free (own->real);
  g_free (own->prefix);
  g_free (own->base);
  g_free (own->library);
}

static gboolean
refuse (const struct own *own, const char *why, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot use your own environment, %s: %s",
               own->python, why);
  return FALSE;
}

/* Two levels above a file: of PREFIX/bin/python, PREFIX. */
static char *
above (const char *path)
{
  g_autofree char *directory = g_path_get_dirname (path);
  return g_path_get_dirname (directory);
}

/* "python3.11", with so many digits; "python3.13t", the free-threaded, and "pypy3.10" are none. */
static gboolean
is_cpython (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  char *end = NULL;
  if (!g_str_has_prefix (name, "python3.") || !g_ascii_isdigit (name[strlen ("python3.")]))
    return FALSE;
  guint64 minor = g_ascii_strtoull (name + strlen ("python3."), &end, 10);
  return *end == '\0' && minor >= OLDEST_MINOR;
}

static gboolean
locate (struct own *own, GError **error)
{
  char *real = realpath (own->python, NULL);
  g_autofree char *directory = g_path_get_dirname (own->python);
  char *real_directory = realpath (directory, NULL);
  gboolean by_links = g_strcmp0 (directory, real_directory) != 0;
  free (real_directory);
  if (real)
    own->real = g_strdup (real);
  free (real);
  if (!own->real || access (own->python, X_OK) != 0)
    return refuse (own, "there is no such interpreter", error);
  if (by_links)
    return refuse (own, "its directory is named by way of a symbolic link", error);
  if (!is_cpython (own->real))
    return refuse (own, "it leads to no CPython 3.9 or later that can be forked", error);

  own->base = above (own->real);
  own->prefix = above (own->python);
  g_autofree char *settings = g_build_filename (own->prefix, "pyvenv.cfg", NULL);
  own->venv = g_file_test (settings, G_FILE_TEST_EXISTS);
  if (!own->venv) {
    g_free (own->prefix);
    own->prefix = g_strdup (own->base);
  }
  g_autofree char *name = g_path_get_basename (own->real);
  own->library = g_build_filename (own->base, "lib", name, NULL);
  return TRUE;
}

/* ---- whose it is ---- */

static gboolean
check_file (const struct own *own, const char *path, GError **error)
{
  struct stat st;
  g_autofree char *why = NULL;
  if (stat (path, &st) < 0)
    why = g_strdup_printf ("%s: %s", path, g_strerror (errno));
  else if (st.st_uid != 0 && st.st_uid != geteuid ())
    why = g_strdup_printf ("%s belongs to user %u, neither to you nor to root", path, (guint)st.st_uid);
  else if (st.st_mode & S_IWOTH)
    why = g_strdup_printf ("everybody may write to %s", path);
  return !why || refuse (own, why, error);
}

static gboolean
check_whose (const struct own *own, GError **error)
{
  g_autofree char *name = g_path_get_basename (own->real);
  g_autofree char *bin = g_path_get_dirname (own->python);
  g_autofree char *start = g_build_filename (own->library, "os.py", NULL);
  g_autofree char *packages = g_build_filename (own->prefix, "lib", name, "site-packages", NULL);
  g_autofree char *settings = g_build_filename (own->prefix, "pyvenv.cfg", NULL);
  const char *const paths[] = {own->real,   own->base, own->library, start,
                               own->prefix, bin,       packages,     own->venv ? settings : own->prefix};
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    if (!check_file (own, paths[i], error))
      return FALSE;
  const char *why = facts_why_not_shown (own->prefix);
  if (!why && !g_str_has_prefix (own->base, "/usr"))
    why = facts_why_not_shown (own->base);
  return !why || refuse (own, why, error);
}

/* ---- what it needs ---- */

/* The directory of each link between the name and the file, which must resolve in the sandbox too. */
static void
add_links (json_t *needed, const char *python)
{
  g_autofree char *path = g_strdup (python);
  for (int i = 0; i < LINKS_MOST; i++) {
    g_autofree char *directory = g_path_get_dirname (path);
    g_autofree char *link = g_file_read_link (path, NULL);
    json_array_append_new (needed, json_text_or_null (directory));
    if (!link)
      return;
    g_free (path);
    path = g_canonicalize_filename (link, directory);
  }
}

static GStrv
list_of (const char *first, const char *second)
{
  const char *const list[] = {first, second, NULL};
  return g_strdupv ((char **)(guintptr)list);
}

static struct environment *
make (const struct own *own, GError **error)
{
  g_autofree char *name = g_path_get_basename (own->real);
  g_autofree char *packages = g_build_filename (own->prefix, "lib", name, "site-packages", NULL);
  const char *python = own->venv ? own->python : own->real;
  g_autoptr (json_t) answer = json_pack (
      "{s:[o, o], s:[o], s:[o]}", "prefixes", json_text_or_null (own->prefix), json_text_or_null (own->base),
      "needed", json_text_or_null (own->library), "packages", json_text_or_null (packages));
  add_links (json_object_get (answer, "needed"), python);
  GStrv roots = facts_find_roots (own->python, answer, error);
  if (!roots)
    return NULL;
  struct environment *environment = g_new0 (struct environment, 1);
  environment->name = g_strdup (own->python);
  environment->python = g_strdup (python);
  environment->modules = g_new0 (char *, 1);
  environment->version = g_strdup (name + strlen ("python"));
  environment->roots = roots;
  environment->trees = list_of (own->prefix, own->base);
  environment->packages = list_of (packages, NULL);
  return environment;
}

struct environment *
environment_find_own (const char *python, GError **error)
{
  struct own own = {.python = python};
  struct environment *environment = NULL;
  if (locate (&own, error) && check_whose (&own, error))
    environment = make (&own, error);
  own_clear (&own);
  return environment;
}
