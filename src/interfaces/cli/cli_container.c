/* SPDX-License-Identifier: Apache-2.0 */
/* `adder env image`: the image of runs in containers. */
#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "containers/image_build.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"

/* The configuration, and an engine to ask. */
struct engine_access {
  struct config *config;
  struct container_client *client;
};

static gboolean
cli_container_find_engine (struct engine_access *found, GError **error)
{
  found->config = config_load (NULL, error);
  if (found->config)
    found->client = container_client_new (found->config, error);
  return found->client != NULL;
}

static void
cli_container_let_go (struct engine_access *found)
{
  g_clear_pointer (&found->client, container_client_free);
  g_clear_pointer (&found->config, config_free);
}

static int
cli_container_end (struct engine_access *found, const GError *problem)
{
  cli_container_let_go (found);
  return problem ? cli_fail (problem) : 0;
}

/* ---- an image, for people and programs ---- */

static json_t *
cli_container_describe (const struct engine_access *found, const struct container_image *image)
{
  g_autofree char *built = image->built_us ? text_time (image->built_us) : NULL;
  g_autofree char *warning = container_image_warning (image, found->config->container_image_age_ms);
  g_auto (GStrv) names = g_strsplit (image->modules, ",", -1);
  json_t *modules = json_of_texts ((const char *const *)names);
  return json_pack ("{s:o, s:o, s:o, s:b, s:o, s:o, s:I, s:o, s:s, s:s, s:b}", "name",
                    json_text_or_null (image->name), "digest", json_text_or_null (image->digest), "version",
                    json_text_or_null (image->version), "fits", container_image_fits (image, NULL), "built",
                    json_text_or_null (built), "modules", modules, "bytes", (json_int_t)image->bytes,
                    "warning", json_text_or_null (warning), "engine", container_client_name (found->client),
                    "engine_version", container_client_version (found->client), "configured",
                    strcmp (image->name, found->config->container_image) == 0);
}

#define DIGEST_SHOWN 19

static void
cli_container_add_row (struct text_table *table, const struct engine_access *found,
                       const struct container_image *image)
{
  g_autofree char *built = image->built_us ? text_time (image->built_us) : g_strdup ("-");
  g_autofree char *size = size_format (image->bytes);
  g_autofree char *warning = container_image_warning (image, found->config->container_image_age_ms);
  const char *state = !container_image_fits (image, NULL) ? "of another Adder" : warning ? "old" : "ready";
  text_table_add (table, g_strdup (image->name));
  text_table_add (table, g_strndup (image->digest, DIGEST_SHOWN));
  text_table_add (table, g_strdup (image->version));
  text_table_add (table, g_strndup (built, strlen ("2026-11-22")));
  text_table_add (table, g_steal_pointer (&size));
  text_table_add (table, g_strdup (state));
}

static void
print_all (const struct engine_access *found, const struct container_image *image)
{
  g_autofree char *built = image->built_us ? text_time (image->built_us) : g_strdup ("unknown");
  g_autofree char *size = size_format (image->bytes);
  g_autofree char *warning = container_image_warning (image, found->config->container_image_age_ms);
  const struct {
    const char *name, *value;
  } rows[] = {{"name", image->name},
              {"digest", image->digest},
              {"version", image->version},
              {"packages of", built},
              {"modules", image->modules},
              {"size", size},
              {"engine", container_client_name (found->client)}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    printf ("%-12s %s\n", rows[i].name, rows[i].value);
  g_autoptr (GError) problem = NULL;
  if (!container_image_fits (image, &problem))
    fprintf (stderr, "adder: %s\n", problem->message);
  if (warning)
    fprintf (stderr, "adder: %s\n", warning);
}

/* ---- build ---- */

static int
container_build (int argc, char **argv)
{
  g_autofree char *base = NULL, *name = NULL;
  gboolean fresh = FALSE, cached = FALSE, json = FALSE;
  const GOptionEntry entries[] = {
      {"base", 0, 0, G_OPTION_ARG_FILENAME, &base,
       "Start from an image that has Python and pip, instead of Debian packages", "IMAGE"},
      {"name", 0, 0, G_OPTION_ARG_FILENAME, &name, "Name of the image (default: as configured)", "NAME"},
      {"fresh", 0, 0, G_OPTION_ARG_NONE, &fresh, "Download packages even if today's are cached", NULL},
      {"cached", 0, 0, G_OPTION_ARG_NONE, &cached, "Use cached packages, however old", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object at the end", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (fresh + cached + (base != NULL) > 1) {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "--base, --fresh and --cached exclude each other");
    return cli_fail_usage (problem);
  }
  struct engine_access found = {0};
  if (!cli_container_find_engine (&found, &problem))
    return cli_container_end (&found, problem);
  const struct container_recipe recipe = {
      .name = name ? name : found.config->container_image, .base = base, .fresh = fresh, .cached = cached};
  struct container_image *image = container_image_build (found.client, &recipe, stderr, &problem);
  if (image && json) {
    g_autoptr (json_t) description = cli_container_describe (&found, image);
    cli_print_json (description);
  } else if (image) {
    g_autofree char *size = size_format (image->bytes);
    fprintf (stderr, "the image %s is ready (%s, %s)\n", image->name, size, image->digest);
  }
  container_image_free (image);
  return cli_container_end (&found, problem);
}

/* ---- list, show, remove ---- */

static int
container_list (int argc, char **argv)
{
  static const char *const heads[] = {"IMAGE", "DIGEST", "VERSION", "BUILT", "SIZE", "STATE"};
  gboolean json = FALSE, names_only = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON array", NULL},
      {"names", 0, 0, G_OPTION_ARG_NONE, &names_only, "Print only the names", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct engine_access found = {0};
  GPtrArray *images =
      cli_container_find_engine (&found, &problem) ? container_image_list (found.client, &problem) : NULL;
  g_autoptr (json_t) all = json_array ();
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  for (guint i = 0; images && i < images->len; i++) {
    const struct container_image *image = g_ptr_array_index (images, i);
    if (json)
      json_array_append_new (all, cli_container_describe (&found, image));
    else if (names_only)
      printf ("%s\n", image->name);
    else
      cli_container_add_row (&table, &found, image);
  }
  if (images && json)
    cli_print_json (all);
  if (images && images->len == 0 && !json)
    cli_say_none ("images", "adder env image build");
  if (images && images->len > 0 && !json && !names_only)
    text_table_print (&table);
  else
    g_array_unref (table.cells);
  g_clear_pointer (&images, g_ptr_array_unref);
  return cli_container_end (&found, problem);
}

static int
container_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct engine_access found = {0};
  struct container_image *image = NULL;
  if (cli_container_find_engine (&found, &problem))
    image = container_image_find (found.client, argc > 1 ? argv[1] : found.config->container_image, &problem);
  if (image && json) {
    g_autoptr (json_t) description = cli_container_describe (&found, image);
    cli_print_json (description);
  } else if (image) {
    print_all (&found, image);
  }
  container_image_free (image);
  return cli_container_end (&found, problem);
}

static int
container_remove (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct engine_access found = {0};
  if (cli_container_find_engine (&found, &problem))
    container_image_remove (found.client, argc > 1 ? argv[1] : found.config->container_image, &problem);
  return cli_container_end (&found, problem);
}

static const struct cli_command commands[] = {
    {"build", "", "build or rebuild the image", container_build,
     .examples = "adder env image build\nadder env image build --base python:3.12-slim"},
    {"list", "", "list the images", container_list, .examples = "adder env image list"},
    {"show", "[NAME]", "show the configured image, or another", container_show,
     .examples = "adder env image show"},
    {"rm", "[NAME]", "remove the configured image, or another", container_remove,
     .examples = "adder env image rm"},
    {0},
};

int
cli_env_image (int argc, char **argv)
{
  return cli_dispatch ("adder env image", "Builds and shows the image for containers.", commands, argc, argv);
}
