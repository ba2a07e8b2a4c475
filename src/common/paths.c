/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are. A build tree and an installed tree are distinguished by a known file at a few places
 * beside the object (program or shared library) with this code, so that neither needs an environment variable
 * and an installed tree may be moved as a whole. */
#include "common/paths.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "build-config.h"
#include "common/error.h"

/* The directory of the program or shared library that this function is in, or NULL when the system does not
 * say. */
static char *
object_dir (void)
{
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1 ((const void *)(uintptr_t)object_dir, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
    return NULL;
  /* The main program has no name in the link map, and dli_fname is only argv[0]. The kernel's link has no
   * symbolic links left to resolve, and names the folder even when another version took the program's place.
   */
  if (map->l_name[0] == '\0') {
    g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
    return program ? g_path_get_dirname (program) : NULL;
  }
  char *path = realpath (map->l_name, NULL);
  char *directory = path ? g_path_get_dirname (path) : NULL;
  free (path);
  return directory;
}

/* That of a wheel (packaging/wheel/pack.py), beside the program. */
#define WHEEL_DATA "../share/adder-runtime"

struct place {
  const char *variable;      /* environment variable that wins */
  const char *marker;        /* file that tells the folder */
  const char *const *beside; /* relative to the object: installed trees first, then build trees */
  const char *compiled;      /* where the build said it would be installed */
  const char *what;
};

static const struct place libexec_place = {
    .variable = "ADDER_LIBEXECDIR",
    .marker = "adder-zygote",
    .beside = (const char *const[]){"../libexec/adder", "../../libexec/adder", "src/runner",
                                    "../../src/runner", "../src/runner", NULL},
    .compiled = ADDER_LIBEXECDIR,
    .what = "the runner's programs",
};

static const struct place data_place = {
    .variable = "ADDER_DATADIR",
    .marker = "profiles/standard.conf",
    .beside = (const char *const[]){"../share/adder", "../../share/adder", WHEEL_DATA, "../" WHEEL_DATA, ".",
                                    "../..", "..", NULL},
    .compiled = ADDER_DATADIR,
    .what = "profiles and environments",
};

static char *
paths_find_place (const struct place *place, GError **error)
{
  const char *given = g_getenv (place->variable);
  if (given && given[0] != '\0')
    return g_canonicalize_filename (given, NULL);

  g_autofree char *object = object_dir ();
  for (gsize i = 0; object && place->beside[i]; i++) {
    g_autofree char *directory = g_canonicalize_filename (place->beside[i], object);
    g_autofree char *marker = g_build_filename (directory, place->marker, NULL);
    if (g_file_test (marker, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&directory);
  }
  g_autofree char *marker = g_build_filename (place->compiled, place->marker, NULL);
  if (g_file_test (marker, G_FILE_TEST_EXISTS))
    return g_strdup (place->compiled);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "cannot find %s: there is no %s beside %s or in %s (%s may name the folder)", place->what,
               place->marker, object ? object : "the program", place->compiled, place->variable);
  return NULL;
}

char *
paths_libexec_dir (GError **error)
{
  return paths_find_place (&libexec_place, error);
}

char *
paths_data_dir (GError **error)
{
  return paths_find_place (&data_place, error);
}

char *
paths_own_python (void)
{
  g_autofree char *object = object_dir ();
  g_autofree char *data = object ? g_canonicalize_filename (WHEEL_DATA, object) : NULL;
  return data && g_file_test (data, G_FILE_TEST_IS_DIR) ? g_build_filename (object, "python3", NULL) : NULL;
}

static gboolean
is_own_directory (const char *path)
{
  struct stat st;
  return stat (path, &st) == 0 && S_ISDIR (st.st_mode) && st.st_uid == geteuid ();
}

static char *
runtime_dir_name (void)
{
  const char *given = g_getenv ("ADDER_RUNTIME_DIR");
  if (given && given[0] != '\0')
    return g_canonicalize_filename (given, NULL);
  if (geteuid () == 0)
    return g_strdup ("/run/adder");
  /* su and setpriv leave the previous user's variable: a directory that is not ours counts as missing. */
  const char *session = g_getenv ("XDG_RUNTIME_DIR");
  if (session && g_path_is_absolute (session) && is_own_directory (session))
    return g_build_filename (session, "adder", NULL);
  /* Programs that start others with few variables, as MCP clients do, drop it: the daemon is the same one. */
  g_autofree char *usual = g_strdup_printf ("/run/user/%u", (unsigned)geteuid ());
  if (!session && is_own_directory (usual))
    return g_build_filename (usual, "adder", NULL);
  return g_strdup_printf ("/tmp/adder-%u", (unsigned)geteuid ());
}

char *
paths_runtime_dir (GError **error)
{
  g_autofree char *path = runtime_dir_name ();
  if (g_mkdir_with_parents (path, 0700) < 0) {
    error_from_errno (error, errno, "cannot make the runtime directory %s", path);
    return NULL;
  }
  /* In /tmp somebody else may have been first: accept only our own directory, and no link. */
  autoclose int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0) {
    error_from_errno (error, errno, "cannot open the runtime directory %s", path);
    return NULL;
  }
  if (st.st_uid != geteuid () || (st.st_mode & 077) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the runtime directory %s must belong to user %u and be closed to others (mode 0700), but "
                 "belongs to user %u "
                 "with mode %04o",
                 path, (unsigned)geteuid (), (unsigned)st.st_uid, st.st_mode & 07777);
    return NULL;
  }
  return g_steal_pointer (&path);
}

static char *
state_dir_name (void)
{
  const char *given = g_getenv ("ADDER_STATE_DIR");
  if (given && given[0] != '\0')
    return g_canonicalize_filename (given, NULL);
  if (geteuid () == 0)
    return g_strdup ("/var/lib/adder");
  return g_build_filename (g_get_user_state_dir (), "adder", NULL);
}

char *
paths_state_dir (GError **error)
{
  g_autofree char *path = state_dir_name ();
  struct stat st;
  if (g_mkdir_with_parents (path, 0700) < 0 || stat (path, &st) < 0) {
    error_from_errno (error, errno, "cannot make the state directory %s", path);
    return NULL;
  }
  if (st.st_uid == geteuid () && (st.st_mode & 022) == 0)
    return g_steal_pointer (&path);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "the state directory %s must belong to user %u and nobody else may write to it", path,
               (unsigned)geteuid ());
  return NULL;
}

static char *
cache_dir_name (void)
{
  const char *given = g_getenv ("ADDER_CACHE_DIR");
  if (given && given[0] != '\0')
    return g_canonicalize_filename (given, NULL);
  return g_build_filename (g_get_user_cache_dir (), "adder", NULL);
}

char *
paths_cache_dir (GError **error)
{
  g_autofree char *path = cache_dir_name ();
  if (g_mkdir_with_parents (path, 0700) == 0)
    return g_steal_pointer (&path);
  error_from_errno (error, errno, "cannot make the cache directory %s", path);
  return NULL;
}

GStrv
paths_environment_dirs (void)
{
  g_autoptr (GPtrArray) dirs = g_ptr_array_new_with_free_func (g_free);
  const char *given = g_getenv ("ADDER_ENVIRONMENTS_DIR");
  if (given && given[0] != '\0') {
    g_ptr_array_add (dirs, g_canonicalize_filename (given, NULL));
  } else {
    if (geteuid () != 0)
      g_ptr_array_add (dirs, g_build_filename (g_get_user_data_dir (), "adder", "environments", NULL));
    g_ptr_array_add (dirs, g_strdup ("/var/lib/adder/environments"));
  }
  g_ptr_array_add (dirs, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&dirs), FALSE);
}

char *
paths_with_dir (void)
{
  g_autofree char *state = state_dir_name ();
  return g_build_filename (state, "with", NULL);
}

char *
paths_config_dir (void)
{
  const char *given = g_getenv ("ADDER_CONFIG_DIR");
  if (given && given[0] != '\0')
    return g_canonicalize_filename (given, NULL);
  if (geteuid () == 0)
    return g_strdup (ADDER_SYSCONFDIR);
  return g_build_filename (g_get_user_config_dir (), "adder", NULL);
}
