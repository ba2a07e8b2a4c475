/* SPDX-License-Identifier: Apache-2.0 */
/* Environments as they are on disk: a folder with a manifest. The manifest names the interpreter and the
 * modules to load ahead, which people may edit, and keeps what the interpreter said of itself
 * (environment_facts.c). */
#include "engine/environment.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "engine/environment_private.h"
#include "engine/layout_programs.h"

#define DESCRIBE_TIMEOUT_MS 30000
#define NAME_MAX_LENGTH     64

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

static const char *const known_keys[] = {"python", "modules", "version", "roots", "packages", "stamp", NULL};

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

static struct environment *
environment_new (const char *name, const char *directory, const char *python, GStrv modules, GError **error)
{
  autofacts struct facts *facts = facts_of (python, error);
  if (!facts) {
    g_prefix_error (error, "environment %s: ", name);
    return NULL;
  }
  struct environment *environment = g_new0 (struct environment, 1);
  environment->name = g_strdup (name);
  environment->directory = g_strdup (directory);
  environment->python = g_strdup (facts->executable);
  environment->modules = modules ? g_strdupv (modules) : g_new0 (char *, 1);
  environment->version = g_strdup (facts->version);
  environment->roots = g_strdupv (facts->roots);
  if (directory) {
    g_autofree char *cache = g_build_filename (directory, ENVIRONMENT_CACHE, NULL);
    if (g_file_test (cache, G_FILE_TEST_IS_DIR))
      environment->cache = g_steal_pointer (&cache);
  }
  return environment;
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
  facts_recall (python, file);
  g_auto (GStrv) modules = environment_key_list (file, "modules");
  return environment_new (name, directory, python, modules, error);
}

/* ---- finding ---- */

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* The names of all folders with a manifest, sorted, each once, without "system". */
static GPtrArray *
names_on_disk (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) directories = paths_environment_dirs ();
  for (gsize i = 0; directories[i]; i++) {
    g_autoptr (GDir) listing = g_dir_open (directories[i], 0, NULL);
    const char *name;
    while (listing && (name = g_dir_read_name (listing))) {
      g_autofree char *manifest = g_build_filename (directories[i], name, ENVIRONMENT_MANIFEST, NULL);
      if (environment_name_is_clean (name) && !environment_is_built_in (name) &&
          g_file_test (manifest, G_FILE_TEST_EXISTS) &&
          !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_strdup (name));
    }
  }
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
set_not_found (const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = names_on_disk ();
  g_ptr_array_add (names, g_strdup (ENVIRONMENT_SYSTEM));
  g_ptr_array_add (names, NULL);
  g_autofree char *known = g_strjoinv (", ", (GStrv)names->pdata);
  if (environment_name_is_clean (name))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no environment \"%s\", only %s; \"adder env create %s\" makes it", name, known,
                 name);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no environment \"%s\", only %s", name,
                 known);
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
  environment->version = g_strdup ("");
  return environment;
}

/* Programs come and go with their directories, libraries with the loader's cache. */
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

struct environment *
environment_find (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  if (environment_is_own (name))
    return environment_find_own (name, error);
  if (strcmp (name, ENVIRONMENT_SHELL) == 0)
    return find_shell (error);
  if (strcmp (name, ENVIRONMENT_SYSTEM) == 0)
    return environment_new (name, NULL, ENVIRONMENT_SYSTEM_PYTHON, NULL, error);
  g_auto (GStrv) directories = paths_environment_dirs ();
  for (gsize i = 0; environment_name_is_clean (name) && directories[i]; i++) {
    g_autofree char *directory = g_build_filename (directories[i], name, NULL);
    g_autofree char *manifest = g_build_filename (directory, ENVIRONMENT_MANIFEST, NULL);
    if (g_file_test (manifest, G_FILE_TEST_EXISTS))
      return environment_load (name, directory, error);
  }
  set_not_found (name, error);
  return NULL;
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
  g_free (environment);
}

GPtrArray *
environment_list (void)
{
  GPtrArray *environments = g_ptr_array_new_with_free_func ((GDestroyNotify)environment_free);
  g_autoptr (GPtrArray) names = names_on_disk ();
  g_ptr_array_add (names, g_strdup (ENVIRONMENT_SYSTEM));
  for (guint i = 0; i < names->len; i++) {
    struct environment *environment = environment_find (names->pdata[i], NULL);
    if (environment)
      g_ptr_array_add (environments, environment);
  }
  return environments;
}

GStrv
environment_packages (const struct environment *environment)
{
  return environment->packages ? g_strdupv (environment->packages) : facts_packages (environment->python);
}

char *
environment_fingerprint (const struct environment *environment)
{
  if (environment->shell)
    return shell_fingerprint ();
  g_auto (GStrv) packages = environment_packages (environment);
  g_autofree char *stamp = facts_stamp (environment->python, (const char *const *)packages);
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

/* A package may be there twice (a system's own below an overlay): the first found is the one that is
 * imported. */
static const char packages_code[] =
    "import importlib.metadata, json\n"
    "found = {}\n"
    "for package in importlib.metadata.distributions():\n"
    "    name = package.metadata['Name']\n"
    "    if name:\n"
    "        found.setdefault(name.lower(), {'name': name, 'version': package.version})\n"
    "print(json.dumps({'packages': [found[name] for name in sorted(found)]}))\n";

static void
take_object (const char *line, gboolean from_stderr, gpointer data)
{
  char **object = data;
  if (from_stderr || line[0] != '{')
    return;
  g_free (*object);
  *object = g_strdup (line);
}

static json_t *
list_packages (const struct environment *environment, GError **error)
{
  const char *const argv[] = {environment->python, "-I", "-B", "-c", packages_code, NULL};
  g_autofree char *text = NULL;
  struct command command = {
      .argv = argv, .timeout_ms = DESCRIBE_TIMEOUT_MS, .line = take_object, .data = &text};
  int status = 0;
  if (!command_run (&command, &status, error))
    return NULL;
  if (status != 0 || !text) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "environment %s: %s cannot list its packages",
                 environment->name, environment->python);
    return NULL;
  }
  g_autoptr (json_t) object = json_parse_object (text, strlen (text), "the list of packages", error);
  json_t *packages = json_object_get (object, "packages");
  if (object && !json_is_array (packages))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "environment %s: %s lists no packages",
                 environment->name, environment->python);
  return json_is_array (packages) ? json_incref (packages) : NULL;
}

static json_t *
json_from_list (GStrv list)
{
  json_t *array = json_array ();
  for (gsize i = 0; list[i]; i++)
    json_array_append_new (array, json_text_or_null (list[i]));
  return array;
}

static gboolean
has_package (const json_t *packages, const char *name)
{
  gsize index;
  json_t *package;
  json_array_foreach (packages, index, package)
  {
    const char *found = json_string_value (json_object_get (package, "name"));
    if (found && g_ascii_strcasecmp (found, name) == 0)
      return TRUE;
  }
  return FALSE;
}

json_t *
environment_describe (const struct environment *environment, GError **error)
{
  if (environment->shell) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the environment shell is no Python: it runs command lines with programs of this machine");
    return NULL;
  }
  json_t *packages = list_packages (environment, error);
  if (!packages)
    return NULL;
  /* json_pack takes over each value that it is given. */
  return json_pack ("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "name", environment->name, "python",
                    json_text_or_null (environment->python), "version", environment->version, "directory",
                    json_text_or_null (environment->directory), "modules",
                    json_from_list (environment->modules), "roots", json_from_list (environment->roots),
                    "cache", json_text_or_null (environment->cache), "ipython",
                    has_package (packages, "ipython"), "packages", packages);
}
