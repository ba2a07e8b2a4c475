/* SPDX-License-Identifier: Apache-2.0 */
/* A turn as JSON lines (docs/agent.md): a head, a line for each step as soon as it is over, and the end. */
#pragma once

#include "frontends/agent/agent.h"

struct journal;

/* Lines go to the end of FILE, which is made for its user alone where it is not there; NULL: to standard
 * output. NULL with ERROR. */
struct journal *journal_open (const char *file, GError **error);

/* What could not be written is an error of the end: FALSE. NULL is allowed. */
gboolean journal_close (struct journal *journal, GError **error);

void journal_write (struct journal *journal, const json_t *line);

/* For agent_listen, with the journal. */
extern const struct agent_events journal_events;
