/* SPDX-License-Identifier: Apache-2.0 */
/* Environments as they are on disk: a folder with a manifest. The manifest names the interpreter and the
 * modules to load ahead, which people may edit, and stores the interpreter's facts from when the environment
 * was made (environment_facts.c). Nothing of an environment is run here. */
#include "engine/host/environment.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "common/text.h"
#include "engine/host/environment_private.h"
#include "engine/host/environment_with.h"
#include "engine/host/layout_programs.h"

#define NAME_MAX_LENGTH 64

/* ---- names and keys ---- */

gboolean
environment_name_is_clean (const char *name)
{
  gsize length = strlen (name);
  if (length == 0 || length > NAME_MAX_LENGTH || name[0] == '-' || name[0] == '_')
    return FALSE;
  return strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

gboolean
environment_is_built_in (const char *name)
{
  return strcmp (name, ENVIRONMENT_SYSTEM) == 0 || strcmp (name, ENVIRONMENT_SHELL) == 0;
}

gboolean
environment_module_is_clean (const char *module)
{
  gboolean starts = TRUE;
  for (const char *c = module; *c != '\0'; c++) {
    if (starts ? !g_ascii_isalpha (*c) && *c != '_' : !g_ascii_isalnum (*c) && *c != '_' && *c != '.')
      return FALSE;
    starts = *c == '.';
  }
  return !starts;
}

GStrv
environment_key_list (GKeyFile *file, const char *key)
{
  GStrv list = g_key_file_get_string_list (file, ENVIRONMENT_GROUP, key, NULL, NULL);
  return list ? list : g_new0 (char *, 1);
}

/* ---- reading one ---- */

/* Manifests of earlier versions have `stamp`. */
static const char *const known_keys[] = {"python", "modules", "version", "roots", "packages",
                                         "stamp",  "base",    "with",    "bytes", NULL};

static gboolean
check_manifest (GKeyFile *file, const char *path, GError **error)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, ENVIRONMENT_GROUP, NULL, NULL);
  for (gsize i = 0; keys && keys[i]; i++)
    if (!g_strv_contains (known_keys, keys[i])) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "%s: [%s] has an unknown key, %s", path,
                   ENVIRONMENT_GROUP, keys[i]);
      return FALSE;
    }
  g_auto (GStrv) modules = environment_key_list (file, "modules");
  for (gsize i = 0; modules[i]; i++)
    if (!environment_module_is_clean (modules[i])) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                   "%s: \"%s\" in modules is not the name of a module", path, modules[i]);
      return FALSE;
    }
  return TRUE;
}

/* Only what was exposed when FACTS were taken is exposed: code that may write above a root could have put a
 * link in its place. */
static gboolean
environment_check_roots (const char *name, const struct facts *facts, GError **error)
{
  for (gsize i = 0; facts->roots[i]; i++) {
    char *real = realpath (facts->roots[i], NULL);
    gboolean known = !real;
    for (gsize j = 0; facts->roots[j] && !known; j++)
      known = facts_is_below (real, facts->roots[j]);
    if (!known) {
      g_autofree char *shown = text_one_line (real, -1);
      g_set_error (
          error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
          "environment %s is broken, make it again: %s leads to %s, which it did not when it was made", name,
          facts->roots[i], shown);
    }
    free (real);
    if (!known)
      return FALSE;
  }
  return TRUE;
}

/* Takes over FACTS and MODULES. */
static struct environment *
environment_new (const char *name, const char *directory, struct facts *facts, GStrv modules)
{
  struct environment *environment = g_new0 (struct environment, 1);
  environment->name = g_strdup (name);
  environment->directory = g_strdup (directory);
  environment->python = g_steal_pointer (&facts->executable);
  environment->modules = modules;
  environment->version = g_steal_pointer (&facts->version);
  environment->trees = g_strdupv (facts->roots);
  environment->roots = g_steal_pointer (&facts->roots);
  environment->packages = g_steal_pointer (&facts->packages);
  facts_free (facts);
  if (directory) {
    g_autofree char *cache = g_build_filename (directory, ENVIRONMENT_CACHE, NULL);
    if (g_file_test (cache, G_FILE_TEST_IS_DIR))
      environment->cache = g_steal_pointer (&cache);
  }
  return environment;
}

static struct environment *
find_system (GError **error)
{
  struct facts *facts = facts_by_names (environment_system_python (), error);
  return facts ? environment_new (ENVIRONMENT_SYSTEM, NULL, facts, g_new0 (char *, 1)) : NULL;
}

static struct environment *
environment_load (const char *name, const char *directory, GError **error)
{
  g_autofree char *path = g_build_filename (directory, ENVIRONMENT_MANIFEST, NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) cause = NULL;
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &cause)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "environment %s: cannot read %s: %s", name,
                 path, cause->message);
    return NULL;
  }
  if (!check_manifest (file, path, error))
    return NULL;
  g_autofree char *python = g_key_file_get_string (file, ENVIRONMENT_GROUP, "python", NULL);
  if (!python || !g_path_is_absolute (python)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "environment %s: %s must say in [%s] python the absolute path of an interpreter", name, path,
                 ENVIRONMENT_GROUP);
    return NULL;
  }
  if (access (python, X_OK) != 0) {
    error_from_errno (error, errno, "environment %s is broken, make it again: cannot run %s", name, python);
    if (error && *error)
      (*error)->code = ADDER_ERROR_UNSUPPORTED;
    return NULL;
  }
  struct facts *facts = facts_recall (python, file);
  if (!facts && !(facts = facts_by_names (python, error))) {
    g_prefix_error (error, "environment %s: ", name);
    return NULL;
  }
  if (!environment_check_roots (name, facts, error)) {
    facts_free (facts);
    return NULL;
  }
  struct environment *environment =
      environment_new (name, directory, facts, environment_key_list (file, "modules"));
  environment->with = environment_key_list (file, "with");
  environment->base = g_key_file_get_string (file, ENVIRONMENT_GROUP, "base", NULL);
  return environment;
}

/* ---- finding ---- */

static int
compare_folders (gconstpointer a, gconstpointer b)
{
  g_autofree char *one = g_path_get_basename (*(const char *const *)a);
  g_autofree char *other = g_path_get_basename (*(const char *const *)b);
  return strcmp (one, other);
}

GStrv
environment_directories (void)
{
  g_auto (GStrv) made = paths_environment_dirs ();
  g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
  g_autofree char *with = paths_with_dir ();
  g_strv_builder_addv (all, (const char **)made);
  g_strv_builder_add (all, with);
  return g_strv_builder_end (all);
}

GPtrArray *
environment_folders (void)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) directories = environment_directories ();
  for (gsize i = 0; directories[i]; i++) {
    g_autoptr (GDir) listing = g_dir_open (directories[i], 0, NULL);
    const char *name;
    while (listing && (name = g_dir_read_name (listing))) {
      g_autofree char *manifest = g_build_filename (directories[i], name, ENVIRONMENT_MANIFEST, NULL);
      if (environment_name_is_clean (name) && !environment_is_built_in (name) &&
          g_file_test (manifest, G_FILE_TEST_EXISTS) && g_hash_table_add (seen, g_strdup (name)))
        g_ptr_array_add (folders, g_build_filename (directories[i], name, NULL));
    }
  }
  g_ptr_array_sort (folders, compare_folders);
  return folders;
}

/* Their names, sorted; with those of environment_with.h, which other callers' runs may have made, if WITH. */
static GPtrArray *
names_on_disk (gboolean with)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) folders = environment_folders ();
  for (guint i = 0; i < folders->len; i++) {
    g_autofree char *name = g_path_get_basename (folders->pdata[i]);
    if (with || !environment_with_is_name (name))
      g_ptr_array_add (names, g_steal_pointer (&name));
  }
  return names;
}

static void
environment_set_not_found (const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = names_on_disk (FALSE);
  g_ptr_array_add (names, g_strdup (ENVIRONMENT_SYSTEM));
  g_ptr_array_add (names, NULL);
  g_autofree char *known = g_strjoinv (", ", (GStrv)names->pdata);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no environment \"%s\", only %s", name,
               known);
  if (environment_name_is_clean (name) && !environment_with_is_name (name))
    error_add_advice (error, "; \"adder env new %s\" makes it", name);
}

static struct environment *
find_shell (GError **error)
{
  g_autofree char *shell = layout_find_shell ();
  if (!shell) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the environment shell needs /usr/bin/dash or /bin/sh, and neither is there");
    return NULL;
  }
  struct environment *environment = g_new0 (struct environment, 1);
  environment->name = g_strdup (ENVIRONMENT_SHELL);
  environment->python = g_steal_pointer (&shell);
  environment->shell = TRUE;
  environment->modules = g_new0 (char *, 1);
  environment->roots = g_new0 (char *, 1);
  environment->packages = g_new0 (char *, 1);
  environment->version = g_strdup ("");
  return environment;
}

/* Programs change with their directories, libraries with the loader's cache. */
static char *
shell_fingerprint (void)
{
  static const char *const places[] = {"/usr/bin", "/bin", "/etc/ld.so.cache"};
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    struct stat st = {0};
    (void)stat (places[i], &st);
    g_string_append_printf (text, "%ju-%jd.%09ld ", (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
                            st.st_mtim.tv_nsec);
  }
  return g_string_free (text, FALSE);
}

gboolean
environment_is_own (const char *name)
{
  return g_path_is_absolute (name);
}

/* The directory of the environment created or adopted as NAME; the caller's, or NULL with ERROR. */
static char *
environment_place (const char *name, GError **error)
{
  g_auto (GStrv) directories = environment_directories ();
  for (gsize i = 0; environment_name_is_clean (name) && directories[i]; i++) {
    g_autofree char *directory = g_build_filename (directories[i], name, NULL);
    g_autofree char *manifest = g_build_filename (directory, ENVIRONMENT_MANIFEST, NULL);
    if (g_file_test (manifest, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&directory);
  }
  environment_set_not_found (name, error);
  return NULL;
}

gboolean
environment_exists (const char *name, GError **error)
{
  if (environment_is_own (name) || strcmp (name, ENVIRONMENT_SHELL) == 0 ||
      strcmp (name, ENVIRONMENT_SYSTEM) == 0)
    return TRUE;
  g_autofree char *directory = environment_place (name, error);
  return directory != NULL;
}

struct environment *
environment_find (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  if (environment_is_own (name))
    return environment_find_own (name, error);
  if (strcmp (name, ENVIRONMENT_SHELL) == 0)
    return find_shell (error);
  if (strcmp (name, ENVIRONMENT_SYSTEM) == 0)
    return find_system (error);
  g_autofree char *directory = environment_place (name, error);
  return directory ? environment_load (name, directory, error) : NULL;
}

void
environment_free (struct environment *environment)
{
  if (!environment)
    return;
  g_free (environment->name);
  g_free (environment->directory);
  g_free (environment->python);
  g_strfreev (environment->modules);
  g_free (environment->cache);
  g_free (environment->version);
  g_strfreev (environment->roots);
  g_strfreev (environment->trees);
  g_strfreev (environment->packages);
  g_strfreev (environment->with);
  g_free (environment->base);
  g_free (environment);
}

GPtrArray *
environment_list (void)
{
  GPtrArray *environments = g_ptr_array_new_with_free_func ((GDestroyNotify)environment_free);
  g_autoptr (GPtrArray) names = names_on_disk (TRUE);
  g_ptr_array_add (names, g_strdup (ENVIRONMENT_SYSTEM));
  for (guint i = 0; i < names->len; i++) {
    struct environment *environment = environment_find (names->pdata[i], NULL);
    if (environment)
      g_ptr_array_add (environments, environment);
  }
  return environments;
}

char *
environment_fingerprint (const struct environment *environment)
{
  if (environment->shell)
    return shell_fingerprint ();
  g_autofree char *stamp = facts_stamp (environment->python, (const char *const *)environment->packages);
  if (!environment->directory)
    return g_steal_pointer (&stamp);
  g_autofree char *manifest = g_build_filename (environment->directory, ENVIRONMENT_MANIFEST, NULL);
  struct stat st = {0};
  if (stat (manifest, &st) != 0)
    return g_strdup_printf ("%s-gone", stamp);
  return g_strdup_printf ("%s-%ju-%jd.%09ld", stamp, (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
                          st.st_mtim.tv_nsec);
}

/* ---- describing ---- */

static json_t *
environment_list_packages (GPtrArray *packages, gboolean *ret_ipython)
{
  json_t *list = json_array ();
  *ret_ipython = FALSE;
  for (guint i = 0; i < packages->len; i++) {
    const struct environment_package *package = packages->pdata[i];
    json_array_append_new (list,
                           json_pack ("{s:s, s:s}", "name", package->name, "version", package->version));
    *ret_ipython = *ret_ipython || strcmp (package->name, "ipython") == 0;
  }
  return list;
}

json_t *
environment_describe (const struct environment *environment, GError **error)
{
  if (environment->shell) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the environment shell is no Python: it runs command lines with programs of this machine");
    return NULL;
  }
  gboolean ipython;
  g_autoptr (GPtrArray) installed = environment_installed (environment);
  json_t *packages = environment_list_packages (installed, &ipython);
  /* json_pack takes over each value passed to it. */
  return json_pack ("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "name", environment->name, "python",
                    json_text_or_null (environment->python), "version", environment->version, "directory",
                    json_text_or_null (environment->directory), "modules",
                    json_of_texts ((const char *const *)environment->modules), "roots",
                    json_of_texts ((const char *const *)environment->roots), "cache",
                    json_text_or_null (environment->cache), "ipython", ipython, "packages", packages);
}
