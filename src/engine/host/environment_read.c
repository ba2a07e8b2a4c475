/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreter's needs, as far as names and links tell. This is for an interpreter that nobody has made an
 * environment of: running it could run what code has put in its place. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/json.h"
#include "engine/host/environment_private.h"

#define OLDEST_MINOR 9
/* As many as the kernel follows (MAXSYMLINKS). */
#define LINKS_MAX 40

/* Where packages are below a prefix, in Python's search order: Debian's own first. */
static const struct {
  const char *above, *below; /* the interpreter's name comes between them; BELOW NULL: no name, it is for
                              * all */
} package_places[] = {
    {"local/lib", "dist-packages"}, {"lib/python3", NULL},      {"lib", "dist-packages"},
    {"lib", "site-packages"},       {"lib64", "site-packages"},
};

char *
interpreter_prefix (const char *python)
{
  g_autofree char *directory = g_path_get_dirname (python);
  return g_path_get_dirname (directory);
}

/* "python3.11", with up to so many digits; "python3.13t", the free-threaded, and "pypy3.10" do not match. */
static gboolean
is_cpython (const char *name)
{
  char *end = NULL;
  if (!g_str_has_prefix (name, "python3.") || !g_ascii_isdigit (name[strlen ("python3.")]))
    return FALSE;
  guint64 minor = g_ascii_strtoull (name + strlen ("python3."), &end, 10);
  return *end == '\0' && minor >= OLDEST_MINOR;
}

/* A directory with two names, as lib and lib64 of a venv, counts once. */
static gboolean
environment_read_is_new (GArray *seen, const char *path)
{
  struct stat st;
  if (stat (path, &st) < 0 || !S_ISDIR (st.st_mode))
    return FALSE;
  for (guint i = 0; i < seen->len; i++) {
    const struct stat *other = &g_array_index (seen, struct stat, i);
    if (other->st_dev == st.st_dev && other->st_ino == st.st_ino)
      return FALSE;
  }
  g_array_append_val (seen, st);
  return TRUE;
}

static GStrv
find_packages (const struct interpreter *interpreter)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (struct stat));
  for (gsize i = 0; i < G_N_ELEMENTS (package_places); i++) {
    const char *below = package_places[i].below;
    g_autofree char *path = g_build_filename (interpreter->prefix, package_places[i].above,
                                              below ? interpreter->name : "dist-packages", below, NULL);
    if (environment_read_is_new (seen, path))
      g_ptr_array_add (found, g_steal_pointer (&path));
  }
  g_ptr_array_add (found, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&found), FALSE);
}

const char *
interpreter_locate (struct interpreter *interpreter)
{
  char *real = realpath (interpreter->python, NULL);
  interpreter->real = g_strdup (real);
  free (real);
  if (!interpreter->real || access (interpreter->python, X_OK) != 0)
    return "there is no such interpreter";
  interpreter->name = g_path_get_basename (interpreter->real);
  if (!is_cpython (interpreter->name))
    return "it leads to no CPython 3.9 or later that can be forked";

  interpreter->base = interpreter_prefix (interpreter->real);
  interpreter->prefix = interpreter_prefix (interpreter->python);
  g_autofree char *settings = g_build_filename (interpreter->prefix, "pyvenv.cfg", NULL);
  interpreter->venv = g_file_test (settings, G_FILE_TEST_EXISTS);
  if (!interpreter->venv) {
    g_free (interpreter->prefix);
    interpreter->prefix = g_strdup (interpreter->base);
  }
  interpreter->library = g_build_filename (interpreter->base, "lib", interpreter->name, NULL);
  interpreter->packages = find_packages (interpreter);
  return NULL;
}

void
interpreter_clear (struct interpreter *interpreter)
{
  g_free (interpreter->real);
  g_free (interpreter->name);
  g_free (interpreter->prefix);
  g_free (interpreter->base);
  g_free (interpreter->library);
  g_strfreev (interpreter->packages);
}

/* The directory of each link between the name and the file, which must resolve in the sandbox too. */
static void
environment_read_add_links (json_t *needed, const char *python)
{
  g_autofree char *path = g_strdup (python);
  for (int i = 0; i < LINKS_MAX; i++) {
    g_autofree char *directory = g_path_get_dirname (path);
    g_autofree char *link = g_file_read_link (path, NULL);
    json_array_append_new (needed, json_text_or_null (directory));
    if (!link)
      return;
    g_free (path);
    path = g_canonicalize_filename (link, directory);
  }
}

struct facts *
interpreter_facts (const struct interpreter *interpreter, GError **error)
{
  /* A Python called by a link from elsewhere would look for its modules there. */
  gboolean called = interpreter->venv || facts_is_below (interpreter->python, interpreter->base);
  const char *executable = called ? interpreter->python : interpreter->real;
  g_autoptr (json_t) answer =
      json_pack ("{s:[o, o], s:[o], s:o}", "prefixes", json_text_or_null (interpreter->prefix),
                 json_text_or_null (interpreter->base), "needed", json_text_or_null (interpreter->library),
                 "packages", json_of_texts ((const char *const *)interpreter->packages));
  environment_read_add_links (json_object_get (answer, "needed"), executable);
  GStrv roots = facts_find_roots (interpreter->python, answer, error);
  if (!roots)
    return NULL;
  struct facts *facts = g_new0 (struct facts, 1);
  facts->executable = g_strdup (executable);
  facts->version = g_strdup (interpreter->name + strlen ("python"));
  facts->roots = roots;
  facts->packages = g_strdupv (interpreter->packages);
  return facts;
}

struct facts *
facts_by_names (const char *python, GError **error)
{
  struct interpreter interpreter = {.python = python};
  const char *why = interpreter_locate (&interpreter);
  struct facts *facts = why ? NULL : interpreter_facts (&interpreter, error);
  if (why)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot use %s: %s", python, why);
  interpreter_clear (&interpreter);
  return facts;
}
