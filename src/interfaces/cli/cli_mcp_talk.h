/* SPDX-License-Identifier: Apache-2.0 */
/* What of a client's conversation must outlive the daemon that it is had with: calls that nobody would answer
 * any more, and what a new daemon has to hear first, so that the client need not notice that it is another.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

struct cli_mcp_talk;

struct cli_mcp_talk *cli_mcp_talk_new (void);
void cli_mcp_talk_free (struct cli_mcp_talk *talk);

/* Takes in MESSAGE (any JSON, or NULL), which goes to the daemon now. */
void cli_mcp_talk_say (struct cli_mcp_talk *talk, json_t *message);
/* Takes in the LINE of LENGTH bytes, which the daemon says. FALSE: it is not for the client, since it answers
 * what cli_mcp_talk_again said. From any thread. */
gboolean cli_mcp_talk_hear (struct cli_mcp_talk *talk, const char *line, gsize length);

/* The daemon ended, or cannot be reached: the lines that answer each request under way by REASON, one
 * sentence. The caller's. */
char *cli_mcp_talk_give_up (struct cli_mcp_talk *talk, const char *reason);
/* The lines that a new daemon must hear before all else. The caller's. */
char *cli_mcp_talk_again (struct cli_mcp_talk *talk);
