/* SPDX-License-Identifier: Apache-2.0 */
/* Where environments load code from. Only their manifests are read, so that an environment that is unusable
 * while it is being repaired is included as well. */
#include <stdlib.h>
#include <string.h>

#include "common/paths.h"
#include "engine/host/environment_private.h"

/* The system's Python, and shells' programs with their libraries. */
static const char *const system_places[] = {
    "/bin",       "/sbin",        "/lib",           "/lib32",          "/lib64",         "/libx32",
    "/usr/bin",   "/usr/sbin",    "/usr/lib",       "/usr/lib32",      "/usr/lib64",     "/usr/libx32",
    "/usr/share", "/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/share",
};

/* Prefixes that hold more than loadable code. */
static const char *const shared_prefixes[] = {"/", "/usr", "/usr/local", NULL};

static void
place_free (gpointer data)
{
  struct environment_place *place = data;
  g_free (place->environment);
  g_free (place->path);
  g_free (place);
}

/* A path below another place is exposed with that: no need to check it. */
static void
add_place (GPtrArray *places, const char *environment, const char *path)
{
  for (guint i = 0; i < places->len; i++)
    if (facts_is_below (path, ((struct environment_place *)places->pdata[i])->path))
      return;
  struct environment_place *place = g_new (struct environment_place, 1);
  place->environment = g_strdup (environment);
  place->path = g_strdup (path);
  g_ptr_array_add (places, place);
}

static void
add_prefix (GPtrArray *places, const char *environment, const char *python)
{
  g_autofree char *prefix = interpreter_prefix (python);
  if (!g_strv_contains (shared_prefixes, prefix))
    add_place (places, environment, prefix);
}

static void
environment_places_add_list (GPtrArray *places, const char *environment, GKeyFile *file, const char *key)
{
  g_auto (GStrv) paths = environment_key_list (file, key);
  for (gsize i = 0; paths[i]; i++)
    if (g_path_is_absolute (paths[i]) && !g_strv_contains (shared_prefixes, paths[i]))
      add_place (places, environment, paths[i]);
}

static void
add_environment (GPtrArray *places, const char *folder)
{
  g_autofree char *name = g_path_get_basename (folder);
  g_autofree char *manifest = g_build_filename (folder, ENVIRONMENT_MANIFEST, NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (!g_key_file_load_from_file (file, manifest, G_KEY_FILE_NONE, NULL))
    return;
  environment_places_add_list (places, name, file, "roots");
  environment_places_add_list (places, name, file, "packages");
  g_autofree char *python = g_key_file_get_string (file, ENVIRONMENT_GROUP, "python", NULL);
  char *real = python ? realpath (python, NULL) : NULL;
  if (python)
    add_prefix (places, name, python);
  if (real)
    add_prefix (places, name, real);
  free (real);
}

GPtrArray *
environment_places (void)
{
  GPtrArray *places = g_ptr_array_new_with_free_func (place_free);
  for (gsize i = 0; i < G_N_ELEMENTS (system_places); i++)
    if (!g_file_test (system_places[i], G_FILE_TEST_IS_SYMLINK)) /* on merged systems, inside /usr */
      add_place (places, ENVIRONMENT_SYSTEM, system_places[i]);
  add_prefix (places, ENVIRONMENT_SYSTEM, environment_system_python ());
  g_auto (GStrv) directories = environment_directories ();
  for (gsize i = 0; directories[i]; i++)
    add_place (places, NULL, directories[i]);
  g_autoptr (GPtrArray) folders = environment_folders ();
  for (guint i = 0; i < folders->len; i++)
    add_environment (places, folders->pdata[i]);
  return places;
}
