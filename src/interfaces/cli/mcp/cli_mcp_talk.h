/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a client's conversation that must outlive its daemon: calls that would go unanswered, and what
 * a new daemon has to hear first, so that the client does not notice the change. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct cli_mcp_talk;

struct cli_mcp_talk *cli_mcp_talk_new (void);
void cli_mcp_talk_free (struct cli_mcp_talk *talk);

/* Takes MESSAGE (any JSON, or NULL), which goes to the daemon now. */
void cli_mcp_talk_say (struct cli_mcp_talk *talk, json_t *message);
/* Takes the LINE of LENGTH bytes from the daemon. FALSE: it is not for the client, since it answers
 * cli_mcp_talk_again. From any thread. */
gboolean cli_mcp_talk_hear (struct cli_mcp_talk *talk, const char *line, gsize length);

/* The daemon ended, or cannot be reached: the lines that answer each pending request with REASON, one
 * sentence. The caller's. */
char *cli_mcp_talk_give_up (struct cli_mcp_talk *talk, const char *reason);
/* The lines that a new daemon must get first. The caller's. */
char *cli_mcp_talk_again (struct cli_mcp_talk *talk);
