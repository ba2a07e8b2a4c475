/* SPDX-License-Identifier: Apache-2.0 */
/* Making and removing environments, whole or not at all (environment_folder.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/paths.h"
#include "engine/host/environment_private.h"
#include "engine/host/environment_with.h"

#define MINUTE_MS          (60 * 1000)
#define VENV_TIMEOUT_MS    (5 * MINUTE_MS)
#define PIP_TIMEOUT_MS     (60 * MINUTE_MS)
#define COMPILE_TIMEOUT_MS (20 * MINUTE_MS)
#define IMPORT_TIMEOUT_MS  (5 * MINUTE_MS)

struct creation {
  const char *name;
  char *directory;
  char *python;       /* absolute path of the interpreter to start from */
  char *requirements; /* absolute path, or NULL */
  gboolean adopt;     /* use PYTHON as it is, without a venv */
  GStrv modules;
  FILE *progress;
};

static void G_GNUC_PRINTF (2, 3)
    environment_create_tell (const struct creation *creation, const char *format, ...)
{
  if (!creation->progress)
    return;
  va_list arguments;
  va_start (arguments, format);
  vfprintf (creation->progress, format, arguments);
  va_end (arguments);
  fputc ('\n', creation->progress);
  fflush (creation->progress);
}

/* ---- running python and pip ---- */

struct listener {
  const struct creation *creation;
  const char *tool; /* "pip": its output format is known; else NULL */
  guint packages;
  char *trouble; /* the last line that explains a failure */
};

static void
environment_create_hear_line (const char *line, gboolean from_stderr, gpointer data)
{
  struct listener *listener = data;
  if (g_str_has_prefix (line, "Collecting ")) {
    const char *name = line + strlen ("Collecting ");
    environment_create_tell (listener->creation, "  %.*s", (int)strcspn (name, " "), name);
    listener->packages++;
    return;
  }
  gboolean is_error = g_str_has_prefix (line, "ERROR: ");
  if (line[0] == '\0' || line[0] == ' ' || (listener->tool ? !is_error : !from_stderr))
    return;
  g_free (listener->trouble);
  listener->trouble = g_strdup (is_error ? line + strlen ("ERROR: ") : line);
}

/* Runs ARGV for the step WHAT ("install the packages of FILE"). */
static gboolean
environment_create_run_step (const struct creation *creation, struct listener *listener,
                             const char *const *argv, const char *setting, guint timeout_ms, const char *what,
                             GError **error)
{
  const char *const settings[] = {setting, NULL};
  struct command command = {.argv = argv,
                            .settings = settings,
                            .timeout_ms = timeout_ms,
                            .line = environment_create_hear_line,
                            .data = listener};
  int status = 0;
  listener->creation = creation;
  if (!command_run (&command, &status, error)) {
    g_prefix_error (error, "cannot %s: ", what);
    return FALSE;
  }
  if (status == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot %s: %s", what,
               listener->trouble ? listener->trouble : "it ended without a word");
  return FALSE;
}

/* ---- the steps ---- */

static gboolean
check_ensurepip (const struct creation *creation, GError **error)
{
  const char *const argv[] = {creation->python, "-I", "-c", "import venv, ensurepip", NULL};
  struct command command = {.argv = argv, .timeout_ms = IMPORT_TIMEOUT_MS};
  int status = 0;
  if (!command_run (&command, &status, error))
    return FALSE;
  if (status == 0)
    return TRUE;
  /* A virtual environment without pip may be of the system's Python too. */
  char *real = realpath (creation->python, NULL);
  if (real && g_str_has_prefix (real, "/usr/bin/"))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s cannot make virtual environments: install the Debian package %s-venv", creation->python,
                 strrchr (real, '/') + 1);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s cannot make virtual environments: its module venv or ensurepip is missing",
                 creation->python);
  free (real);
  return FALSE;
}

static gboolean
make_venv (const struct creation *creation, const char *venv, GError **error)
{
  if (!check_ensurepip (creation, error))
    return FALSE;
  environment_create_tell (creation, "making a virtual environment of %s in %s", creation->python, venv);
  const char *const argv[] = {creation->python, "-I", "-m", "venv", venv, NULL};
  struct listener listener = {0};
  gboolean made = environment_create_run_step (creation, &listener, argv, NULL, VENV_TIMEOUT_MS,
                                               "make a virtual environment", error);
  g_free (listener.trouble);
  return made;
}

GPtrArray *
environment_pip_install (const char *python)
{
  const char *const start[] = {python,       "-I",           "-m",
                               "pip",        "install",      "--disable-pip-version-check",
                               "--no-input", "--no-compile", "--progress-bar",
                               "off"};
  GPtrArray *argv = g_ptr_array_new ();
  for (gsize n = 0; n < G_N_ELEMENTS (start); n++)
    g_ptr_array_add (argv, (gpointer)(guintptr)start[n]);
  return argv;
}

static gboolean
install_packages (const struct creation *creation, const char *python, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  if (!g_file_get_contents (creation->requirements, &text, NULL, &cause)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "cannot read %s: %s", creation->requirements,
                 cause->message);
    return FALSE;
  }
  environment_create_tell (creation, "installing the packages of %s", creation->requirements);
  g_autoptr (GPtrArray) argv = environment_pip_install (python);
  g_ptr_array_add (argv, (gpointer) "--requirement");
  g_ptr_array_add (argv, creation->requirements);
  /* pip would demand hashes anyway once it sees one; with the option, a file that lost some of them fails
   * too. */
  if (strstr (text, "--hash="))
    g_ptr_array_add (argv, (gpointer) "--require-hashes");
  g_ptr_array_add (argv, NULL);

  g_autofree char *what = g_strdup_printf ("install the packages of %s", creation->requirements);
  struct listener listener = {.tool = "pip"};
  gboolean installed = environment_create_run_step (creation, &listener, (const char *const *)argv->pdata,
                                                    NULL, PIP_TIMEOUT_MS, what, error);
  g_free (listener.trouble);
  if (!installed)
    return FALSE;
  environment_create_tell (creation, "%u packages installed", listener.packages);
  /* Kept beside the venv, to show whether the list has changed since. */
  g_autofree char *copy = g_build_filename (creation->directory, "requirements.txt", NULL);
  if (g_file_set_contents (copy, text, -1, &cause) && chmod (copy, 0644) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write %s: %s", copy,
               cause ? cause->message : g_strerror (errno));
  return FALSE;
}

/* Compiles in advance, since the tree is read-only in use. A package may hold files that no Python can
 * compile (such as its own tests), so failures here do not count. */
static void
compile_packages (const struct creation *creation, const char *python, const char *venv)
{
  environment_create_tell (creation, "compiling");
  g_autofree char *library = g_build_filename (venv, "lib", NULL);
  const char *const argv[] = {python, "-I", "-m", "compileall", "-q", "-j", "0", library, NULL};
  struct command command = {.argv = argv, .timeout_ms = COMPILE_TIMEOUT_MS};
  int status = 0;
  command_run (&command, &status, NULL);
}

/* Without a font list matplotlib examines every font of the host, which takes longer than the rest of a
 * plot. */
static void
make_font_cache (const struct creation *creation, const char *python)
{
  g_autofree char *cache = g_build_filename (creation->directory, ENVIRONMENT_CACHE, NULL);
  g_autofree char *setting = g_strdup_printf ("MPLCONFIGDIR=%s", cache);
  const char *const argv[] = {python, "-I", "-B", "-c", "import matplotlib.font_manager", NULL};
  const char *const settings[] = {setting, "OPENBLAS_NUM_THREADS=1", NULL};
  struct command command = {.argv = argv, .settings = settings, .timeout_ms = IMPORT_TIMEOUT_MS};
  int status = 0;
  if (mkdir (cache, 0755) != 0 || chmod (cache, 0755) != 0)
    return;
  if (command_run (&command, &status, NULL) && status == 0)
    environment_create_tell (creation, "list of fonts made");
  rmdir (cache); /* only if it is empty: no matplotlib */
}

/* Reports modules that cannot be loaded now, instead of in every run. */
static gboolean
try_modules (const struct creation *creation, const char *python, GError **error)
{
  if (!creation->modules[0])
    return TRUE;
  g_autofree char *names = g_strjoinv (", ", creation->modules);
  g_autofree char *code = g_strdup_printf ("import %s", names);
  g_autofree char *setting = g_strdup_printf ("MPLCONFIGDIR=%s/%s", creation->directory, ENVIRONMENT_CACHE);
  g_autofree char *what = g_strdup_printf ("load %s ahead", names);
  const char *const argv[] = {python, "-I", "-B", "-c", code, NULL};
  struct listener listener = {0};
  gboolean loaded =
      environment_create_run_step (creation, &listener, argv, setting, IMPORT_TIMEOUT_MS, what, error);
  g_free (listener.trouble);
  return loaded;
}

static gboolean
write_manifest (const struct creation *creation, const char *python, int folder_fd, GError **error)
{
  autofacts struct facts *facts = facts_ask (python, error);
  if (!facts)
    return FALSE;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_key_file_set_string (file, ENVIRONMENT_GROUP, "python", facts->executable);
  g_key_file_set_string_list (file, ENVIRONMENT_GROUP, "modules", (const char *const *)creation->modules,
                              g_strv_length (creation->modules));
  facts_write (facts, file);
  g_key_file_set_comment (
      file, NULL, NULL,
      " `python` and `modules` (to load ahead) may be edited. The rest is what the interpreter said of"
      "\n itself when this was made. It is not asked again, so what it finds elsewhere since then is not"
      "\n shown to sandboxes: remove the environment and create it again.",
      NULL);
  return environment_folder_seal (creation->directory, folder_fd, file, error);
}

static gboolean
environment_create_fill_folder (const struct creation *creation, int folder_fd, GError **error)
{
  g_autofree char *venv = g_build_filename (creation->directory, "venv", NULL);
  g_autofree char *python =
      creation->adopt ? g_strdup (creation->python) : g_build_filename (venv, "bin/python", NULL);
  if (!creation->adopt && !make_venv (creation, venv, error))
    return FALSE;
  if (creation->requirements && !install_packages (creation, python, error))
    return FALSE;
  if (!creation->adopt)
    compile_packages (creation, python, venv);
  make_font_cache (creation, python);
  return try_modules (creation, python, error) && write_manifest (creation, python, folder_fd, error);
}

/* ---- from the recipe ---- */

/* An absolute path of the interpreter named by the recipe. The system's comes before PATH, where a version
 * manager's python3 may change from directory to directory. */
static char *
locate_python (const char *python, GError **error)
{
  if (!python && access (environment_system_python (), X_OK) == 0)
    return g_strdup (environment_system_python ());
  const char *wanted = python ? python : "python3";
  char *found =
      strchr (wanted, '/') ? g_canonicalize_filename (wanted, NULL) : g_find_program_in_path (wanted);
  if (found && access (found, X_OK) == 0 && !g_file_test (found, G_FILE_TEST_IS_DIR))
    return found;
  g_free (found);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no interpreter %s", wanted);
  return NULL;
}

/* A file of the environment NAME as shipped, or NULL. */
static char *
shipped_file (const char *name, const char *file)
{
  g_autofree char *data = paths_data_dir (NULL);
  if (!data)
    return NULL;
  g_autofree char *path = g_build_filename (data, "environments", name, file, NULL);
  return g_file_test (path, G_FILE_TEST_EXISTS) ? g_steal_pointer (&path) : NULL;
}

static GStrv
shipped_modules (const char *name)
{
  g_autofree char *path = shipped_file (name, ENVIRONMENT_MANIFEST);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (!path || !g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    return g_new0 (char *, 1);
  return environment_key_list (file, "modules");
}

static gboolean
environment_create_check_recipe (const struct environment_recipe *recipe, GError **error)
{
  if (!recipe->name || !environment_name_is_clean (recipe->name)) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "\"%s\" cannot be the name of an environment: lower-case letters, digits, - and _ only, at most 64",
        recipe->name ? recipe->name : "");
    return FALSE;
  }
  if (environment_is_built_in (recipe->name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the environment %s is the host's %s as it is: it cannot be made", recipe->name,
                 strcmp (recipe->name, ENVIRONMENT_SYSTEM) == 0 ? environment_system_python () : "shell");
    return FALSE;
  }
  if (environment_with_is_name (recipe->name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "names that begin with " ENVIRONMENT_WITH
                 " are those of environments with packages of runs");
    return FALSE;
  }
  for (gsize i = 0; recipe->modules && recipe->modules[i]; i++)
    if (!environment_module_is_clean (recipe->modules[i])) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not the name of a module",
                   recipe->modules[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
plan_creation (const struct environment_recipe *recipe, struct creation *creation, GError **error)
{
  if (!environment_create_check_recipe (recipe, error))
    return FALSE;
  g_auto (GStrv) directories = paths_environment_dirs ();
  creation->name = recipe->name;
  creation->directory = g_build_filename (directories[0], recipe->name, NULL);
  creation->requirements = recipe->requirements ? g_canonicalize_filename (recipe->requirements, NULL)
                                                : shipped_file (recipe->name, "requirements.txt");
  creation->adopt = recipe->python && !creation->requirements;
  creation->modules = recipe->modules ? g_strdupv ((char **)recipe->modules) : shipped_modules (recipe->name);
  if (creation->requirements && access (creation->requirements, R_OK) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "cannot read the requirements file %s: %s",
                 creation->requirements, g_strerror (errno));
    return FALSE;
  }
  const char *hidden = creation->adopt ? NULL : facts_why_not_shown (creation->directory);
  if (hidden) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot create an environment in %s: %s",
                 creation->directory, hidden);
    error_add_advice (error, " (ADDER_ENVIRONMENTS_DIR)");
    return FALSE;
  }
  g_autofree char *located = locate_python (recipe->python, error);
  autofacts struct facts *facts = located ? facts_ask (located, error) : NULL;
  if (!facts)
    return FALSE;
  creation->python = g_strdup (facts->executable);
  if (g_mkdir_with_parents (directories[0], 0755) != 0)
    return error_from_errno (error, errno, "cannot make %s", directories[0]);
  return TRUE;
}

static gboolean
make_environment (const struct creation *creation, GError **error)
{
  autoclose int fd = environment_folder_claim (creation->directory, TRUE, error);
  if (fd < 0)
    return FALSE;
  if (faccessat (fd, ENVIRONMENT_MANIFEST, F_OK, 0) == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is an environment %s already, in %s",
                 creation->name, creation->directory);
    error_add_advice (error, "; \"adder env rm %s\" removes it", creation->name);
    return FALSE;
  }
  int result = environment_folder_clear (fd); /* left by a crash */
  if (result != 0)
    return error_from_errno (error, result, "cannot clear %s", creation->directory);
  if (fchmod (fd, 0755) != 0)
    return error_from_errno (error, errno, "cannot open %s to all", creation->directory);
  if (!environment_create_fill_folder (creation, fd, error)) {
    environment_folder_remove (creation->directory, fd, NULL);
    return FALSE;
  }
  environment_create_tell (creation, "environment %s is ready in %s", creation->name, creation->directory);
  return TRUE;
}

gboolean
environment_create (const struct environment_recipe *recipe, FILE *progress, GError **error)
{
  struct creation creation = {.progress = progress};
  gboolean made = plan_creation (recipe, &creation, error) && make_environment (&creation, error);
  g_free (creation.directory);
  g_free (creation.python);
  g_free (creation.requirements);
  g_strfreev (creation.modules);
  return made;
}

gboolean
environment_remove (const char *name, GError **error)
{
  if (environment_is_built_in (name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the environment %s is the host's %s and stays",
                 name, strcmp (name, ENVIRONMENT_SYSTEM) == 0 ? environment_system_python () : "shell");
    return FALSE;
  }
  g_auto (GStrv) directories = environment_directories ();
  for (gsize i = 0; environment_name_is_clean (name) && directories[i]; i++) {
    g_autofree char *directory = g_build_filename (directories[i], name, NULL);
    /* A folder without a manifest was left by a crash: remove that too. */
    if (!g_file_test (directory, G_FILE_TEST_IS_DIR))
      continue;
    autoclose int fd = environment_folder_claim (directory, FALSE, error);
    return fd >= 0 && environment_folder_remove (directory, fd, error);
  }
  g_autoptr (GError) cause = NULL;
  struct environment *none = environment_find (name, &cause);
  environment_free (none);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "%s",
               cause ? cause->message : "there is no such environment");
  return FALSE;
}
