/* SPDX-License-Identifier: Apache-2.0 */
/* A question about tables that runs showed:
 *
 *     table.export      run, table, format, name, environment      the file that it is then */
#include "frontends/server_store_private.h"

static char *
answer_export (const struct store_call *call, GError **error)
{
  const char *format = store_call_text (call, "format");
  gint64 number = store_call_number (call, "table");
  g_autoptr (AdderRequest) options = adder_request_new ("", 0);
  adder_request_set_owner (options, call->owner, NULL);
  adder_request_set_watch (options, call->watch_fd);
  adder_request_set_environment (options, store_call_text (call, "environment"));
  /* On record it is told apart from what its owner ran. */
  adder_request_set_origin (options, "adder", NULL, NULL);
  return adder_table_export (call->engine, options, store_call_text (call, "run"),
                             (guint)CLAMP (number, 1, G_MAXINT), format ? format : "csv",
                             store_call_text (call, "name"), error);
}

const struct store_op server_store_tables[] = {
    {"table.export",
     {{"run", STORE_TEXT, TRUE},
      {"table", STORE_NUMBER, FALSE},
      {"format", STORE_TEXT, FALSE},
      {"name", STORE_TEXT, FALSE},
      {"environment", STORE_TEXT, FALSE}},
     0,
     answer_export},
    {0},
};
