/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is the call of a tool. At a terminal it shows how far the call is. The first Ctrl-C ends the
 * call with what it has, and its reply still comes; after the second the program ends. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/socket/call_backend.h"

struct tool_command {
  const char *toolset, *tool;
  json_t *arguments; /* taken; NULL: an argument was not UTF-8 */
  gboolean no_daemon;
  /* Called once with where the call goes, before it is made, for what has to be there first; may be NULL.
   * FALSE with ERROR: no call. ARGUMENTS may be added to. */
  gboolean (*prepare) (struct call_backend *backend, json_t *arguments, gpointer data, GError **error);
  gpointer data;
};

/* The exit code. Where it is 0, *RET_REPLY is what the tool answered, the caller's; otherwise NULL, and
 * standard error says why. */
int tool_command_call (struct tool_command *command, json_t **ret_reply);
