/* SPDX-License-Identifier: Apache-2.0 */
/* `adder chat`: a conversation with a model that can call tools, at a terminal or through a pipe. */
#include "apps/chat/cli_chat.h"

#include <string.h>

#include "adder.h"
#include "apps/agent/prompts.h"
#include "apps/chat/chat.h"
#include "common/paths.h"
#include "interfaces/cli/cli.h"

#define TOOLSET "assistant" /* unless it is said */

/* Where pictures are when nobody says where. The caller's. */
static char *
usual_place (GError **error)
{
  g_autofree char *folder = paths_state_dir (error);
  return folder ? g_build_filename (folder, "pictures", NULL) : NULL;
}

static gboolean
cli_chat_prepare (struct agent_work *work, GError **error)
{
  const char *toolset = work->options->toolset;
  work->toolset = toolset_find (toolset ? toolset : TOOLSET, error);
  work->intro = prompt_text (PROMPT_CHAT);
  if (!work->out)
    work->out = usual_place (error);
  return work->toolset && work->out && agent_work_begin (work, FALSE, error);
}

static int
chat_with (const struct agent_options *options)
{
  struct chat chat = {0};
  g_autoptr (GError) problem = NULL, unwritten = NULL;
  agent_work_init (&chat.work, options, &chat.ending);
  int code = cli_chat_prepare (&chat.work, &problem) ? chat_go_on (&chat) : cli_fail (problem);
  return agent_work_end (&chat.work, &unwritten) ? code : cli_fail (unwritten);
}

int
cli_chat (int argc, char **argv)
{
  struct agent_options options = {0};
  g_autoptr (GError) problem = NULL;
  g_autoptr (GArray) entries = agent_options_entries (&options);
  const GOptionEntry own[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The model's tools (adder tool list lists them; default: " TOOLSET ")", "NAME"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &options.out,
       "Save pictures in this directory (default: in the state directory)", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json,
       "Print a line of JSON for each step, answer and command", NULL},
  };
  g_array_prepend_vals (entries, own, G_N_ELEMENTS (own));
  int code = cli_parse ((const GOptionEntry *)(const void *)entries->data, 0, 0, &argc, &argv, &problem)
                 ? chat_with (&options)
                 : cli_fail_usage (problem);
  agent_options_clear (&options);
  return code;
}
