/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools on the local socket. CALL and its ANSWER:
 *
 *     tool          text       as tool_find has it
 *     toolset       text
 *     arguments     {...}
 *     conversation  text
 *     role          text
 *     read_only     bool
 *     approval      text       the id of a yes
 *     accept_all    bool       yes to everything; the log says so
 *     directory     text       where the caller works; its descriptor comes along
 *     variables     {...}      of their environment, texts by name
 *     python        text       the interpreter of their own environment, an absolute path
 *     progress      bool       they want to be told how far it is: PROGRESS, before the answer
 *
 *     reply         {...}
 *     exit_code     number
 *     fault         bool       nothing is wrong with the call: Adder could not carry it out
 *
 * Only "tool" must be there. What is wrong with a call is its reply; a caller that hangs up cancels it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/tools.h"

/* The question for TOOL of TOOLSET (NULL: as tool_find decides) with ARGUMENTS, which are taken, by CALLER,
 * whose owner and descriptors are not in it. NULL where a text is not UTF-8. The caller's. */
json_t *server_tools_question (const char *tool, const char *toolset, json_t *arguments,
                               const struct tool_caller *caller);

/* Carries out QUESTION; owner and descriptors are CALLER's. NULL with ERROR where it is no question. The
 * caller's. */
json_t *server_tools_call (struct tools *tools, const struct tool_caller *caller, const json_t *question,
                           GError **error);

/* Whether QUESTION names a directory just where DIRECTORY_FD is one (-1: none). */
gboolean server_tools_has_directory (const json_t *question, int directory_fd, GError **error);
