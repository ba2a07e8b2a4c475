/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: key files that name limits of sandbox/limits.h. */
#include "policy/profile.h"

#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/size.h"

/* In order of search: the user's own, then those that came with Adder (which may be missing in a broken
 * installation). */
static GStrv
profile_dirs (void)
{
  g_autoptr (GPtrArray) dirs = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *user = paths_config_dir ();
  g_autofree char *shipped = paths_data_dir (NULL);
  g_ptr_array_add (dirs, g_build_filename (user, "profiles", NULL));
  if (shipped)
    g_ptr_array_add (dirs, g_build_filename (shipped, "profiles", NULL));
  g_ptr_array_add (dirs, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&dirs), FALSE);
}

/* A name comes from callers and becomes part of a path. */
static gboolean
is_name (const char *name)
{
  gsize length = strlen (name);
  return length >= 1 && length <= 64 && g_ascii_isalnum (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

/* ---- one key ---- */

static gboolean
set_title (struct profile *profile, const char *value, G_GNUC_UNUSED GError **error)
{
  g_free (profile->title);
  profile->title = g_strdup (value);
  return TRUE;
}

static gboolean
set_environment (struct profile *profile, const char *value, GError **error)
{
  if (!is_name (value)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not a name of an environment", value);
    return FALSE;
  }
  g_free (profile->environment);
  profile->environment = g_strdup (value);
  return TRUE;
}

static gboolean
set_min_isolation (struct profile *profile, const char *value, GError **error)
{
  guint64 level;
  if (!count_parse (value, &level, error))
    return FALSE;
  if (level > 3) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between 0 and 3", value);
    return FALSE;
  }
  profile->min_isolation = (guint)level;
  return TRUE;
}

struct profile_key {
  const char *name;
  gboolean (*set) (struct profile *profile, const char *value, GError **error);
};

static const struct profile_key profile_keys[] = {
    {"title", set_title},
    {"environment", set_environment},
    {"min_isolation", set_min_isolation},
};

static gboolean
set_profile_key (struct profile *profile, const char *key, const char *value, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (profile_keys); i++)
    if (strcmp (profile_keys[i].name, key) == 0)
      return profile_keys[i].set (profile, value, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "there is no such key; there are title, environment, min_isolation");
  return FALSE;
}

static gboolean
set_limit_key (struct profile *profile, const char *key, const char *value, GError **error)
{
  int index = limit_find (key);
  if (index < 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "there is no such limit; docs/configuration.md lists them");
    return FALSE;
  }
  const struct limit_row *row = &limit_table[index];
  guint64 number;
  if (!quantity_parse (value, row->unit, &number, error))
    return FALSE;
  if (number < row->minimum || number > row->maximum) {
    g_autofree char *least = quantity_format (row->minimum, row->unit);
    g_autofree char *most = quantity_format (row->maximum, row->unit);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between %s and %s", value, least, most);
    return FALSE;
  }
  profile->limits.value[index] = number;
  return TRUE;
}

struct profile_group {
  const char *name;
  gboolean (*set) (struct profile *profile, const char *key, const char *value, GError **error);
};

static const struct profile_group profile_groups[] = {
    {"profile", set_profile_key},
    {"limits", set_limit_key},
};

/* ---- one file ---- */

static gboolean
read_group (struct profile *profile, GKeyFile *keys, const char *file, const char *group, GError **error)
{
  const struct profile_group *known = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (profile_groups); i++)
    if (strcmp (profile_groups[i].name, group) == 0)
      known = &profile_groups[i];
  if (!known) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s: [%s]: there is no such group; there are [profile] and [limits]", file, group);
    return FALSE;
  }
  g_auto (GStrv) names = g_key_file_get_keys (keys, group, NULL, NULL);
  for (gsize i = 0; names && names[i]; i++) {
    g_autoptr (GError) problem = NULL;
    g_autofree char *value = g_key_file_get_string (keys, group, names[i], &problem);
    if (problem || !known->set (profile, names[i], g_strstrip (value), &problem)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: [%s] %s: %s", file, group, names[i],
                   problem->message);
      return FALSE;
    }
  }
  return TRUE;
}

/* Returns FALSE without ERROR when there is no such file. */
static gboolean
read_file (struct profile *profile, const char *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, &problem)) {
    if (!g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) &&
        !g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOTDIR))
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "cannot read the profile %s: %s", file,
                   problem->message);
    return FALSE;
  }
  g_auto (GStrv) groups = g_key_file_get_groups (keys, NULL);
  for (gsize i = 0; groups[i]; i++)
    if (!read_group (profile, keys, file, groups[i], error))
      return FALSE;
  return TRUE;
}

struct profile *
profile_load_file (const char *name, const char *file, GError **error)
{
  struct profile *profile = g_new0 (struct profile, 1);
  profile->name = g_strdup (name);
  profile->limits = limits_default ();
  if (!read_file (profile, file, error)) {
    error_make_printable (error);
    profile_free (profile);
    return NULL;
  }
  if (!profile->title)
    profile->title = g_strdup (name);
  return profile;
}

struct profile *
profile_load (const char *name, GError **error)
{
  g_auto (GStrv) dirs = profile_dirs ();
  for (gsize i = 0; is_name (name) && dirs[i]; i++) {
    g_autofree char *base = g_strconcat (name, ".conf", NULL);
    g_autofree char *file = g_build_filename (dirs[i], base, NULL);
    g_autoptr (GError) problem = NULL;
    struct profile *profile = profile_load_file (name, file, &problem);
    if (problem)
      g_propagate_error (error, g_steal_pointer (&problem));
    else if (!profile)
      continue;
    return profile;
  }
  g_auto (GStrv) names = profile_names ();
  g_autofree char *known = g_strjoinv (", ", names);
  g_autofree char *shown = g_utf8_make_valid (name, (gssize)MIN (strlen (name), 64));
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no profile \"%s\"; there are: %s", shown,
               names[0] ? known : "none (see adder doctor)");
  return NULL;
}

void
profile_free (struct profile *profile)
{
  if (!profile)
    return;
  g_free (profile->name);
  g_free (profile->title);
  g_free (profile->environment);
  g_free (profile);
}

static int
by_name (const void *left, const void *right)
{
  return strcmp (*(const char *const *)left, *(const char *const *)right);
}

GStrv
profile_names (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) dirs = profile_dirs ();
  for (gsize i = 0; dirs[i]; i++) {
    g_autoptr (GDir) dir = g_dir_open (dirs[i], 0, NULL);
    for (const char *entry; dir && (entry = g_dir_read_name (dir));) {
      if (!g_str_has_suffix (entry, ".conf"))
        continue;
      g_autofree char *name = g_strndup (entry, strlen (entry) - strlen (".conf"));
      if (is_name (name))
        g_hash_table_add (names, g_steal_pointer (&name));
    }
  }
  guint count;
  g_autofree char **keys = (char **)g_hash_table_get_keys_as_array (names, &count);
  qsort (keys, count, sizeof *keys, by_name);
  return g_strdupv (keys);
}
