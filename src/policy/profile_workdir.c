/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/profile_workdir.h"

#include <string.h>

#include "adder_types.h"
#include "policy/profile_groups.h"

static const char *const modes[] = {"none", "read", "overlay", "rw", NULL};

/* The highest mode that each allows. */
static const enum workdir_mode most[] = {WORKDIR_NONE, WORKDIR_READ, WORKDIR_REVIEW, WORKDIR_WRITE};

static gboolean
profile_workdir_check_variable (const char *word, GError **error)
{
  if (!strchr (word, '=') && strcmp (word, "*") != 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is not the name of a variable, as LANG or LC_*", word);
  return FALSE;
}

const struct profile_key profile_workdir_keys[] = {
    {"mode", PROFILE_CHOICE, PROFILE_AT (workdir.mode), .choices = modes,
     .text = "The most that a run may request for a work directory; `overlay` also allows `--review`. The "
             "default is `rw`."},
    {"variables", PROFILE_LIST, PROFILE_AT (workdir.variables), .check = profile_workdir_check_variable,
     .values = "names, with `*` and `?`",
     .text = "The caller's environment variables that the code gets; by default none. Wildcards never match "
             "names that look like secrets."},
    {NULL},
};

gboolean
profile_allows_workdir (const struct profile *profile, enum workdir_mode mode, GError **error)
{
  if (mode <= most[profile->workdir.mode])
    return TRUE;
  if (profile->workdir.mode == 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the profile %s allows no work directory",
                 profile->name);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "the profile %s allows a work directory as \"%s\" at most, and \"%s\" was requested",
                 profile->name, modes[profile->workdir.mode], workdir_mode_name (mode));
  return FALSE;
}

static gboolean
looks_secret (const char *name)
{
  static const char *const parts[] = {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE"};
  g_autofree char *upper = g_ascii_strup (name, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (upper, parts[i]))
      return TRUE;
  return FALSE;
}

static gboolean
may_pass (const struct profile *profile, const char *name)
{
  for (gsize i = 0; profile->workdir.variables && profile->workdir.variables[i]; i++) {
    const char *word = profile->workdir.variables[i];
    if (strcmp (word, name) == 0 ||
        (strpbrk (word, "*?") && !looks_secret (name) && g_pattern_match_simple (word, name)))
      return TRUE;
  }
  return FALSE;
}

GStrv
profile_pick_variables (const struct profile *profile, char *const *environment)
{
  g_autoptr (GPtrArray) picked = g_ptr_array_new ();
  for (gsize i = 0; environment[i]; i++)
    if (may_pass (profile, environment[i]))
      g_ptr_array_add (picked, g_strdup (environment[i]));
  g_ptr_array_add (picked, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&picked), FALSE);
}
