/* SPDX-License-Identifier: Apache-2.0 */
/* `adder profile`: the named sets of limits. */
#include "adder.h"
#include "common/json.h"
#include "common/size.h"
#include "frontends/cli.h"
#include "policy/profile.h"

static json_t *
profile_to_json (const struct profile *profile)
{
  json_t *limits = json_object ();
  for (int i = 0; i < LIMIT_COUNT; i++)
    json_object_set_new (limits, limit_table[i].name, json_integer ((json_int_t)profile->limits.value[i]));
  return json_pack ("{s:s, s:o, s:o, s:i, s:o}", "name", profile->name, "title",
                    json_text_or_null (profile->title), "environment",
                    json_text_or_null (profile->environment), "min_isolation", (int)profile->min_isolation,
                    "limits", limits);
}

static void
print_profile (const struct profile *profile)
{
  printf ("%s: %s\n", profile->name, profile->title);
  if (profile->environment)
    printf ("environment %s\n", profile->environment);
  if (profile->min_isolation > 0)
    printf ("isolation level %u or better\n", profile->min_isolation);
  printf ("\n%-16s %-10s %-10s %s\n", "limit", "value", "most", "what is bounded");
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_autofree char *value = quantity_format (profile->limits.value[i], row->unit);
    g_autofree char *most = quantity_format (row->maximum, row->unit);
    printf ("%-16s %-10s %-10s %s\n", row->name, value, most, row->text);
  }
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
      printf ("%-16s %s\n", profile->name, profile->title);
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
    {"list", "", "list the profiles", profile_list},
    {"show", "[NAME]", "show a profile's limits (standard when none is named)", profile_show},
    {0},
};

int
cli_profile (int argc, char **argv)
{
  return cli_dispatch ("adder profile", "Lists and shows profiles: named sets of limits.", commands, argc,
                       argv);
}
