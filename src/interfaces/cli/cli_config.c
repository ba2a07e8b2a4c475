/* SPDX-License-Identifier: Apache-2.0 */
/* `adder config`: the effective settings and their origins, and the documentation of all keys. */
#include "adder.h"
#include "common/config.h"
#include "interfaces/cli/cli.h"
#include "interfaces/http/http_server.h"
#include "library/library.h"

static int
config_show_command (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object, with value and source of each key",
       NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct config *config = config_load (NULL, &problem);
  if (!config)
    return cli_fail (problem);
  gboolean ok = library_check_config (config, &problem) && http_server_check_start (config, &problem);
  if (ok)
    config_show (config, json, stdout);
  config_free (config);
  return ok ? 0 : cli_fail (problem);
}

static int
config_document_command (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  config_write_documentation (stdout);
  return 0;
}

static const struct cli_command commands[] = {
    {"show", "", "print all keys with their values and origins", config_show_command,
     .examples = "adder config show"},
    {"document", "", "print docs/configuration.md", config_document_command,
     .examples = "adder config document"},
    {0},
};

int
cli_config (int argc, char **argv)
{
  return cli_dispatch ("adder config", "Shows and documents the configuration (adder.conf).", commands, argc,
                       argv);
}
