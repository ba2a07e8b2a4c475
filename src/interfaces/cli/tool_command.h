/* SPDX-License-Identifier: Apache-2.0 */
/* A command that calls a tool. At a terminal it shows the call's progress. The first Ctrl-C ends the call
 * early, and its reply still comes; the second ends the program. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/socket/call_backend.h"

struct tool_command {
  const char *toolset, *tool;
  json_t *arguments; /* taken; NULL: an argument was not UTF-8 */
  gboolean no_daemon;
  /* Called once with the call's target, before the call, to prepare what it needs; may be NULL. FALSE with
   * ERROR: no call. ARGUMENTS may be added to. */
  gboolean (*prepare) (struct call_backend *backend, json_t *arguments, gpointer data, GError **error);
  gpointer data;
};

/* The exit code. If it is 0, *RET_REPLY is the tool's reply, the caller's; otherwise NULL, and standard error
 * says why. */
int tool_command_call (struct tool_command *command, json_t **ret_reply);
