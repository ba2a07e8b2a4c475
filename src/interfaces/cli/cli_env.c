/* SPDX-License-Identifier: Apache-2.0 */
/* `adder env`: environments, each a Python interpreter with its packages and the modules to preload. */
#include "adder.h"
#include "common/json.h"
#include "engine/host/environment_with.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"

/* ---- list ---- */

/* "science with polars==1.9 cowsay", or nothing. */
static char *
cli_env_packages_of (const json_t *environment)
{
  const char *base = json_member_text (environment, "base");
  g_autofree char *packages = json_join (json_object_get (environment, "packages"), " ");
  return base[0] ? g_strdup_printf ("%s with %s", base, packages) : g_strdup ("");
}

static void
cli_env_print_list (const json_t *environments)
{
  static const char *const heads[] = {"NAME", "VERSION", "PYTHON", "MADE OF"};
  static const char *const members[] = {"name", "version", "python"};
  struct text_table table;
  gsize i;
  json_t *environment;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (environments, i, environment)
  {
    for (gsize k = 0; k < G_N_ELEMENTS (members); k++)
      text_table_add (&table, g_strdup (json_member_text (environment, members[k])));
    text_table_add (&table, cli_env_packages_of (environment));
  }
  text_table_print (&table);
}

/* ---- show ---- */

static void
cli_env_print_member (const char *name, const json_t *value)
{
  if (json_is_string (value))
    printf ("%-12s %s\n", name, json_string_value (value));
  else if (json_is_boolean (value))
    printf ("%-12s %s\n", name, json_is_true (value) ? "yes" : "no");
  else if (json_is_array (value) &&
           (json_array_size (value) == 0 || json_is_string (json_array_get (value, 0)))) {
    gsize i;
    json_t *item;
    printf ("%-12s", name);
    json_array_foreach (value, i, item) printf (" %s", json_string_value (item));
    printf ("\n");
  }
}

static void
print_packages (const json_t *packages)
{
  gsize i;
  json_t *package;
  json_array_foreach (packages, i, package)
  {
    const char *name = json_string_value (json_object_get (package, "name"));
    const char *version = json_string_value (json_object_get (package, "version"));
    if (name)
      printf ("  %-30s %s\n", name, version ? version : "");
  }
}

static int
env_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct environment *environment = environment_find (argv[1], &problem);
  g_autoptr (json_t) description = environment ? environment_describe (environment, &problem) : NULL;
  environment_free (environment);
  if (!description)
    return cli_fail (problem);
  if (json) {
    cli_print_json (description);
    return 0;
  }
  const char *name;
  json_t *value;
  json_object_foreach (description, name, value) cli_env_print_member (name, value);
  const json_t *packages = json_object_get (description, "packages");
  if (json_array_size (packages) > 0) {
    printf ("packages\n");
    print_packages (packages);
  }
  return 0;
}

/* ---- create and remove ---- */

static int
env_create (int argc, char **argv)
{
  g_autofree char *python = NULL, *requirements = NULL;
  g_auto (GStrv) modules = NULL;
  const GOptionEntry entries[] = {
      {"python", 0, 0, G_OPTION_ARG_FILENAME, &python,
       "The interpreter to create it from, or an existing environment to adopt (default: python3)", "PATH"},
      {"requirements", 'r', 0, G_OPTION_ARG_FILENAME, &requirements,
       "A requirements file with packages to install", "FILE"},
      {"module", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &modules, "Module to preload; may be repeated", "NAME"},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  const struct environment_recipe recipe = {
      .name = argv[1],
      .python = python,
      .requirements = requirements,
      .modules = (const char *const *)modules,
  };
  return environment_create (&recipe, stderr, &problem) ? 0 : cli_fail (problem);
}

/* Those with a daemon's zygote stay. */
static int
env_remove_with (void)
{
  guint busy = 0, removed = environment_with_clear (&busy);
  cli_print_line ("%u removed, %u in use", removed, busy);
  return 0;
}

static int
env_remove (int argc, char **argv)
{
  gboolean with = FALSE;
  const GOptionEntry entries[] = {
      {"with", 0, 0, G_OPTION_ARG_NONE, &with,
       "Remove all unused environments that were created for runs with packages", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (with == (argc > 1)) {
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "either a NAME or --with must be given");
    return cli_fail_usage (problem);
  }
  if (with)
    return env_remove_with ();
  return environment_remove (argv[1], &problem) ? 0 : cli_fail (problem);
}

static const struct cli_command commands[] = {
    {"new", "NAME", "create an environment", env_create, .stays = TRUE,
     .examples =
         "adder env new lab --requirements requirements.txt\nadder env new mine --python .venv/bin/python"},
    {"list", "", "list the environments",
     ASKS ("environment.list", .list = "environments", .view = cli_env_print_list),
     .examples = "adder env list"},
    {"show", "NAME", "show an environment with its packages", env_show, .stays = TRUE,
     .examples = "adder env show science"},
    {"rm", "[NAME]", "remove an environment", env_remove, .stays = TRUE,
     .examples = "adder env rm lab\nadder env rm --with"},
    {"image", "COMMAND", "build, list, show and remove the image for containers", cli_env_image,
     .stays = TRUE, .examples = "adder env image build\nadder env image list"},
    {0},
};

int
cli_env (int argc, char **argv)
{
  return cli_dispatch (
      "adder env",
      "Makes, lists, shows and removes environments: Python interpreters with their packages, and images.",
      commands, argc, argv);
}
