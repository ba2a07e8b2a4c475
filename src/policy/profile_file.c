/* SPDX-License-Identifier: Apache-2.0 */
/* From the lines of a profile's file to a profile. */
#include "policy/profile_file.h"

#include <string.h>

#include "common/error.h"
#include "common/text.h"
#include "policy/profile_groups.h"

static void
profile_file_unknown (struct ini *ini, const struct ini_line *line)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  g_autoptr (GString) known = g_string_new (NULL);
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    text_consider (&guess, line->group, group->name);
    g_string_append_printf (known, "%s[%s]", known->len > 0 ? ", " : "", group->name);
  }
  if (guess.best)
    ini_complain (ini, line->number, NULL, NULL, "there is no group [%s]; did you mean [%s]?", line->group,
                  guess.best);
  else
    ini_complain (ini, line->number, NULL, NULL, "there is no group [%s]; there are %s", line->group,
                  known->str);
}

static void
profile_file_take (struct ini *ini, const struct ini_line *line, struct profile *profile)
{
  const struct profile_group *group = profile_group_find (line->group);
  g_autoptr (GError) problem = NULL;
  if (!group && !line->key)
    profile_file_unknown (ini, line);
  else if (group && line->key && !profile_group_set (group, profile, line->key, line->value, &problem)) {
    g_autofree char *plain = error_told (problem, FALSE);
    ini_complain (ini, line->number, line->group, line->key, "%s", plain);
  }
}

static gboolean
has_problem (const struct ini *ini, const struct profile_group *group)
{
  for (guint i = 0; i < ini->problems->len; i++) {
    const struct ini_problem *problem = ini->problems->pdata[i];
    if (g_strcmp0 (problem->group, group->name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A group with a rejected line is not checked as a whole: that line may be what is missing, and each mistake
 * is reported once. */
static void
check_whole (struct ini *ini, const struct profile *profile)
{
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    const char *key = NULL;
    g_autoptr (GError) problem = NULL;
    if (!group->check || has_problem (ini, group) || group->check (profile, &key, &problem))
      continue;
    guint line = key ? ini_line_of (ini, group->name, key) : 0;
    ini_complain (ini, line > 0 ? line : ini_line_of (ini, group->name, NULL), group->name, key, "%s",
                  problem->message);
  }
}

/* The profile in INI, which is taken. */
static struct profile *
profile_file_read (const char *name, struct ini *ini, GPtrArray **ret_problems)
{
  struct profile *profile = g_new0 (struct profile, 1);
  profile->name = g_strdup (name);
  profile_groups_init (profile);
  for (guint i = 0; i < ini->lines->len; i++)
    profile_file_take (ini, ini->lines->pdata[i], profile);
  if (ini->lines->len > 0)
    check_whole (ini, profile);
  ini_sort_problems (ini);
  *ret_problems = g_ptr_array_ref (ini->problems);
  ini_free (ini);
  return profile;
}

struct profile *
profile_read_text (const char *name, const char *text, gsize length, GPtrArray **ret_problems)
{
  return profile_file_read (name, ini_read_text (text, length), ret_problems);
}

struct profile *
profile_read_file (const char *name, const char *file, GPtrArray **ret_problems, GError **error)
{
  struct ini *ini = ini_read_file ("the profile", file, error);
  if (!ini)
    return NULL;
  struct profile *profile = profile_file_read (name, ini, ret_problems);
  profile->file = g_strdup (file);
  return profile;
}
