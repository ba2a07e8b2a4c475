/* SPDX-License-Identifier: Apache-2.0 */
/* `adder profile`: the named sets of limits and rules. */
#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"
#include "interfaces/socket/client.h"
#include "policy/profile_file.h"
#include "policy/profile_groups.h"

/* ---- show ---- */

/* The settings of GROUP in KEYS; unset keys are not shown. */
static void
print_group (const char *group, const json_t *keys)
{
  const char *name;
  json_t *value;
  gboolean began = FALSE;
  json_object_foreach ((json_t *)(guintptr)keys, name, value)
  {
    if (json_is_null (value) || json_is_object (value))
      continue;
    if (!began)
      printf ("\n[%s]\n", group);
    began = TRUE;
    g_autofree char *text = json_plain (value, " ");
    cli_print_line ("%s = %s", name, text);
  }
}

/* The member NAME of the object GROUP of PROFILE, in its unit. The caller's. */
static char *
limit_text (const json_t *profile, const char *group, const struct limit_row *row)
{
  const json_t *value = json_object_get (json_object_get (profile, group), row->name);
  return quantity_format ((guint64)json_integer_value (value), row->unit);
}

static void
cli_profile_print_limits (const json_t *profile)
{
  printf ("\n%-19s %-10s %-10s %s\n", "limit", "value", "most", "what is bounded");
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_autofree char *value = limit_text (profile, "limits", row);
    g_autofree char *most = limit_text (profile, "maxima", row);
    printf ("%-19s %-10s %-10s %s\n", row->name, value, most, row->text);
  }
}

static void
print_profile (const json_t *profile)
{
  /* Its own keys are in the first group, except those in the head. */
  g_autoptr (json_t) own = json_copy ((json_t *)(guintptr)profile);
  json_object_del (own, "name");
  json_object_del (own, "file");
  cli_print_line ("%s: %s", json_member_text (profile, "name"), json_member_text (profile, "title"));
  cli_print_line ("%s", json_member_text (profile, "file"));
  for (const struct profile_group *group = profile_groups; group->name; group++)
    /* The two groups of limits are one table, which ends the page. */
    if (strcmp (group->name, "limits") != 0 && strcmp (group->name, "maxima") != 0)
      print_group (group->name, group == profile_groups ? own : json_object_get (profile, group->name));
  cli_profile_print_limits (profile);
}

static int
cli_profile_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) profile = client_call (
      NULL, "profile.show", json_pack ("{s:s}", "profile", argc > 1 ? argv[1] : "standard"), &problem);
  if (!profile)
    return cli_fail (problem);
  if (json)
    cli_print_json (profile);
  else
    print_profile (profile);
  return 0;
}

/* ---- check ---- */

static json_t *
problems_json (const char *file, const GPtrArray *problems)
{
  json_t *list = json_array ();
  for (guint i = 0; i < problems->len; i++) {
    const struct ini_problem *problem = problems->pdata[i];
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
    g_autofree char *text = ini_problem_text (file, problems->pdata[i]);
    printf ("%s\n", text);
  }
  if (problems->len >= INI_PROBLEMS_MAX)
    printf ("%s: there may be more; only %d problems are shown\n", file, INI_PROBLEMS_MAX);
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

/* The permitted values of KEY. The caller's. */
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
  printf ("<!-- Made by `adder profile document`; a test compares the two. Change src/policy/ instead. -->\n"
          "# Keys of profiles\n\n"
          "The keys of a profile's file. [profiles.md](profiles.md) says what they are for; names, defaults "
          "and maxima\n"
          "of the limits are in [configuration.md](configuration.md#limits). Words of a list are separated "
          "by blanks, commas or\n"
          "semicolons. A missing key has the default shown here, or no effect.\n");
  for (const struct profile_group *group = profile_groups; group->name; group++)
    document_group (group);
  return 0;
}

/* ---- list ---- */

/* All of PROFILES, whole, as one array. */
static gboolean
cli_profile_print_whole (const json_t *profiles, GError **error)
{
  g_autoptr (json_t) all = json_array ();
  gsize i;
  json_t *profile;
  json_array_foreach (profiles, i, profile)
  {
    json_t *params = json_pack ("{s:O}", "profile", json_object_get (profile, "name"));
    json_t *whole = client_call (NULL, "profile.show", params, error);
    if (!whole)
      return FALSE;
    json_array_append_new (all, whole);
  }
  cli_print_json (all);
  return TRUE;
}

static void
cli_profile_print_list (const json_t *profiles)
{
  static const char *const heads[] = {"NAME", "ROLE", "TITLE"}, *const members[] = {"name", "role", "title"};
  struct text_table table;
  gsize i;
  json_t *profile;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (profiles, i, profile)
  {
    for (gsize k = 0; k < G_N_ELEMENTS (members); k++)
      text_table_add (&table, g_strdup (json_member_text (profile, members[k])));
  }
  text_table_print (&table);
}

static gboolean
say_broken (const json_t *broken)
{
  gsize i;
  json_t *profile;
  json_array_foreach (broken, i, profile)
  {
    g_autoptr (GError) problem =
        g_error_new_literal (ADDER_ERROR, ADDER_ERROR_INVALID, json_member_text (profile, "problem"));
    error_make_printable (&problem);
    cli_fail (problem);
  }
  return json_array_size (broken) > 0;
}

static int
cli_profile_list (int argc, char **argv)
{
  gboolean json = FALSE, names_only = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON array", NULL},
      {"names", 0, 0, G_OPTION_ARG_NONE, &names_only, "Print only the names", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer = client_call (NULL, "profile.list", json_object (), &problem);
  const json_t *profiles = json_object_get (answer, "profiles");
  if (!answer || (json && !cli_profile_print_whole (profiles, &problem)))
    return cli_fail (problem);
  if (!json && names_only)
    operation_command_print_names (profiles);
  else if (!json)
    cli_profile_print_list (profiles);
  return !names_only && say_broken (json_object_get (answer, "broken")) ? CLI_FAILED : 0;
}

static const struct cli_command commands[] = {
    {"list", "", "list the profiles, and the lowest role that may use each", cli_profile_list,
     .examples = "adder profile list"},
    {"show", "[NAME]", "show the settings of a profile (default: standard)", cli_profile_show,
     .examples = "adder profile show\nadder profile show analysis"},
    {"check", "FILE", "check the file of a profile, and print its errors", profile_check, .stays = TRUE,
     .examples = "adder profile check mine.conf"},
    {"document", "", "print the keys of profiles, as docs/profile-keys.md", profile_document, .stays = TRUE,
     .examples = "adder profile document"},
    {0},
};

int
cli_profile (int argc, char **argv)
{
  return cli_dispatch ("adder profile", "Lists, shows and checks profiles: named sets of limits and rules.",
                       commands, argc, argv);
}
