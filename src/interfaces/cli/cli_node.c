/* SPDX-License-Identifier: Apache-2.0 */
/* `adder node`: the nodes of the cluster that a daemon belongs to. */
#include <stdio.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"

/* The number or text MEMBER, which another machine may have sent, as it can be printed. The caller's. */
static char *
node_text (const json_t *node, const char *member)
{
  g_autofree char *plain = json_plain (json_object_get (node, member), " ");
  return text_one_line (plain, -1);
}

static void
node_print_table (const json_t *answer)
{
  static const char *const heads[] = {"NODE", "TAG", "STATE", "VERSION", "RUNNING", "WAITING", "SESSIONS"};
  static const char *const members[] = {"node", "tag", "state", "version", "running", "waiting", "sessions"};
  const json_t *problem = json_object_get (answer, "problem");
  if (json_is_string (problem)) {
    g_autofree char *line = text_one_line (json_string_value (problem), -1);
    cli_print_line ("This node is not in the cluster: %s.", line);
  }
  struct text_table table;
  gsize i;
  json_t *node;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (json_object_get (answer, "nodes"), i, node)
  {
    for (gsize k = 0; k < G_N_ELEMENTS (members); k++)
      text_table_add (&table, node_text (node, members[k]));
  }
  text_table_print (&table);
}

static void
node_print (const json_t *node)
{
  static const char *const members[] = {"node",    "tag",     "state",   "version", "protocol",
                                        "started", "running", "waiting", "sessions"};
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++) {
    g_autofree char *text = node_text (node, members[i]);
    cli_print_line ("%-12s %s", members[i], text);
  }
  gsize i;
  json_t *pool;
  json_array_foreach (json_object_get (node, "pools"), i, pool)
  {
    g_autofree char *environment = node_text (pool, "environment"), *parked = node_text (pool, "parked");
    cli_print_line ("%-12s %s ready in %s", i == 0 ? "sandboxes" : "", parked, environment);
  }
}

static const struct cli_command commands[] = {
    {"list", "", "list the nodes, and what each has to do", ASKS ("node.list", .view = node_print_table),
     .examples = "adder node list"},
    {"show", "NODE", "show one node", ASKS ("node.show", {"node"}, 1, node_print),
     .examples = "adder node show rome"},
    {"drain", "NODE", "have a node take no new work, and end after what is under way",
     ASKS ("node.drain", {"node"}, 1, node_print), .examples = "adder node drain rome"},
    {0},
};

int
cli_node (int argc, char **argv)
{
  return cli_dispatch ("adder node",
                       "Lists the daemons of the cluster that this one belongs to, and ends them gently.",
                       commands, argc, argv);
}
