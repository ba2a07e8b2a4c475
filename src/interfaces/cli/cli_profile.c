/* SPDX-License-Identifier: Apache-2.0 */
/* `adder profile`: the named sets of limits and rules. */
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "policy/profile_file.h"
#include "policy/profile_groups.h"

/* ---- show ---- */

/* VALUE as it may stand in a profile. The caller's. */
static char *
value_text (const json_t *value)
{
  if (json_is_string (value))
    return g_strdup (json_string_value (value));
  if (!json_is_array (value)) {
    char *text = json_dumps (value, JSON_ENCODE_ANY);
    char *copy = g_strdup (text);
    free (text);
    return copy;
  }
  return json_join (value, " ");
}

/* What was said of GROUP; what was not said is not shown. */
static void
print_group (const struct profile_group *group, const json_t *keys)
{
  const char *name;
  json_t *value;
  gboolean began = FALSE;
  json_object_foreach ((json_t *)(guintptr)keys, name, value)
  {
    if (json_is_null (value))
      continue;
    if (!began)
      printf ("\n[%s]\n", group->name);
    began = TRUE;
    g_autofree char *text = value_text (value);
    printf ("%s = %s\n", name, text);
  }
}

static void
print_limits (const struct profile *profile)
{
  printf ("\n%-19s %-10s %-10s %s\n", "limit", "value", "most", "what is bounded");
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_autofree char *value = quantity_format (profile->limits.value[i], row->unit);
    g_autofree char *most = quantity_format (profile->maxima.value[i], row->unit);
    printf ("%-19s %-10s %-10s %s\n", row->name, value, most, row->text);
  }
}

static void
print_profile (const struct profile *profile)
{
  printf ("%s: %s\n%s\n", profile->name, profile->title, profile->file);
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    g_autoptr (json_t) keys = profile_group_show (group, profile);
    /* The two of limits are one table, which ends the page. */
    if (strcmp (group->name, "limits") != 0 && strcmp (group->name, "maxima") != 0)
      print_group (group, keys);
  }
  print_limits (profile);
}

static int
profile_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct profile *profile = profile_load (argc > 1 ? argv[1] : "standard", &problem);
  if (!profile)
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) value = profile_to_json (profile);
    cli_print_json (value);
  } else
    print_profile (profile);
  profile_free (profile);
  return 0;
}

/* ---- check ---- */

static json_t *
problems_json (const char *file, const GPtrArray *problems)
{
  json_t *list = json_array ();
  for (guint i = 0; i < problems->len; i++) {
    const struct profile_problem *problem = problems->pdata[i];
    json_t *line = problem->line > 0 ? json_integer (problem->line) : json_null ();
    json_array_append_new (list, json_pack ("{s:o, s:o, s:o, s:o}", "line", line, "group",
                                            json_text_or_null (problem->group), "key",
                                            json_text_or_null (problem->key), "problem",
                                            json_text_or_null (problem->what)));
  }
  return json_pack ("{s:o, s:b, s:o}", "file", json_text_or_null (file), "ok", problems->len == 0, "problems",
                    list);
}

static void
print_problems (const char *file, const GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *text = profile_problem_text (file, problems->pdata[i]);
    printf ("%s\n", text);
  }
  if (problems->len >= PROFILE_PROBLEMS)
    printf ("%s: there may be more; only %d problems are told\n", file, PROFILE_PROBLEMS);
}

static int
profile_check (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (GPtrArray) problems = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct profile *profile = profile_read_file ("checked", argv[1], &problems, &problem);
  if (!profile)
    return cli_fail (problem);
  profile_free (profile);
  if (json) {
    g_autoptr (json_t) value = problems_json (argv[1], problems);
    cli_print_json (value);
  } else
    print_problems (argv[1], problems);
  return problems->len == 0 ? 0 : 1;
}

/* ---- document ---- */

/* What a value of KEY may be. The caller's. */
static char *
values_text (const struct profile_key *key)
{
  static const enum limit_unit units[] = {[PROFILE_COUNT] = UNIT_COUNT, [PROFILE_DURATION] = UNIT_MS};
  if (key->values)
    return g_strdup (key->values);
  switch (key->type) {
  case PROFILE_TEXT:
    return g_strdup ("text");
  case PROFILE_LIST:
    return g_strdup ("words");
  case PROFILE_BOOLEAN:
    return g_strdup ("`true`, `false`");
  case PROFILE_CHOICE: {
    g_autofree char *known = g_strjoinv ("`, `", (GStrv)(guintptr)key->choices);
    return g_strdup_printf ("`%s`", known);
  }
  case PROFILE_COUNT:
  case PROFILE_DURATION:
    break;
  }
  g_autofree char *least = quantity_format (key->minimum, units[key->type]);
  g_autofree char *most = quantity_format (key->maximum, units[key->type]);
  return g_strdup_printf ("%s to %s", least, most);
}

static void
document_group (const struct profile_group *group)
{
  printf ("\n## [%s]\n\n%s\n", group->name, group->text);
  for (const struct profile_key *key = group->keys; key && key->name; key++) {
    g_autofree char *values = values_text (key);
    if (key == group->keys)
      printf ("\n| key | values | what it is |\n|---|---|---|\n");
    printf ("| `%s` | %s | %s |\n", key->name, values, key->text);
  }
}

static int
profile_document (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  printf (
      "<!-- Made by `adder profile document`; a test compares the two. Change src/policy/ instead. -->\n"
      "# Keys of profiles\n\n"
      "What may stand in the file of a profile. [profiles.md](profiles.md) says what they are for; names, "
      "defaults and bounds\n"
      "of the limits stand in [configuration.md](configuration.md#limits). Words of a list stand between "
      "blanks, commas or\n"
      "semicolons. What is not said has the default that stands here, or no effect.\n");
  for (const struct profile_group *group = profile_groups; group->name; group++)
    document_group (group);
  return 0;
}

/* ---- list ---- */

/* FALSE when one of them is broken, which was said. */
static gboolean
list_profiles (char *const *names, json_t *all)
{
  gboolean ok = TRUE;
  for (gsize i = 0; names[i]; i++) {
    g_autoptr (GError) broken = NULL;
    struct profile *profile = profile_load (names[i], &broken);
    if (!profile) {
      cli_fail (broken);
      ok = FALSE;
    } else if (all)
      json_array_append_new (all, profile_to_json (profile));
    else
      printf ("%-16s %-6s %s\n", profile->name, role_name ((enum role)profile->role), profile->title);
    profile_free (profile);
  }
  return ok;
}

static int
profile_list (int argc, char **argv)
{
  gboolean json = FALSE, names_only = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON array", NULL},
      {"names", 0, 0, G_OPTION_ARG_NONE, &names_only, "Print the names only", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_auto (GStrv) names = profile_names ();
  if (names_only) {
    for (gsize i = 0; names[i]; i++)
      printf ("%s\n", names[i]);
    return 0;
  }
  g_autoptr (json_t) all = json ? json_array () : NULL;
  gboolean ok = list_profiles (names, all);
  if (json)
    cli_print_json (all);
  return ok ? 0 : CLI_FAILED;
}

static const struct cli_command commands[] = {
    {"list", "", "list the profiles, and the lowest role that may use each", profile_list},
    {"show", "[NAME]", "show all that a profile says (standard when none is named)", profile_show},
    {"check", "FILE", "say what is wrong with the file of a profile, line by line", profile_check},
    {"document", "", "print what may stand in a profile, as docs/profile-keys.md", profile_document},
    {0},
};

int
cli_profile (int argc, char **argv)
{
  return cli_dispatch ("adder profile", "Lists, shows and checks profiles: named sets of limits and rules.",
                       commands, argc, argv);
}
