/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: finding them, and their use by other parts. */
#include "policy/profile.h"

#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "policy/guard_rules.h"
#include "policy/profile_file.h"
#include "policy/profile_groups.h"

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

struct profile *
profile_load_file (const char *name, const char *file, GError **error)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GError) problem = NULL;
  struct profile *profile = profile_read_file (name, file, &problems, &problem);
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    return NULL;
  if (!profile) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  if (problems->len > 0) {
    ini_fail (problems, file, error);
    g_clear_pointer (&profile, profile_free);
  } else if (!profile->title)
    profile->title = g_strdup (name);
  if (profile)
    guard_rules_settle (profile);
  return profile;
}

struct profile *
profile_load (const char *name, GError **error)
{
  g_auto (GStrv) dirs = profile_dirs ();
  for (gsize i = 0; profile_is_name (name) && dirs[i]; i++) {
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
               names[0] ? known : "none");
  if (!names[0])
    error_add_advice (error, " (see adder doctor)");
  return NULL;
}

void
profile_free (struct profile *profile)
{
  if (!profile)
    return;
  profile_groups_clear (profile);
  g_free (profile->name);
  g_free (profile->file);
  g_free (profile->guard.text);
  g_free (profile);
}

guint64
profile_cpu_ms (const struct profile *profile, guint64 wall_ms)
{
  guint64 cpu_ms = profile->limits.value[LIMIT_CPU];
  if (cpu_ms < profile->limits.value[LIMIT_WALL] || wall_ms <= cpu_ms)
    return 0;
  return MIN (wall_ms, profile->maxima.value[LIMIT_CPU]);
}

json_t *
profile_to_json (const struct profile *profile)
{
  json_t *object = json_pack ("{s:s, s:o}", "name", profile->name, "file", json_text_or_null (profile->file));
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    json_t *keys = profile_group_show (group, profile);
    /* The first group is the profile itself, and has no name of its own here. */
    if (group == profile_groups) {
      json_object_update (object, keys);
      json_decref (keys);
    } else
      json_object_set_new (object, group->name, keys);
  }
  return object;
}

static int
profile_by_name (const void *left, const void *right)
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
      if (profile_is_name (name))
        g_hash_table_add (names, g_steal_pointer (&name));
    }
  }
  guint count;
  g_autofree char **keys = (char **)g_hash_table_get_keys_as_array (names, &count);
  qsort (keys, count, sizeof *keys, profile_by_name);
  return g_strdupv (keys);
}
