/* SPDX-License-Identifier: Apache-2.0 */
/* A turn as JSON lines (docs/agent.md): a head, a line for each step as soon as it is over, and the end. */
#pragma once

#include "apps/agent/agent.h"

struct event_log;

/* Lines go to the end of FILE, which is made for its user alone where it is not there; NULL: to standard
 * output. NULL with ERROR. */
struct event_log *event_log_open (const char *file, GError **error);

/* What could not be written is an error of the end: FALSE. NULL is allowed. */
gboolean event_log_close (struct event_log *log, GError **error);

void event_log_write (struct event_log *log, const json_t *line);

/* For agent_listen, with the log. */
extern const struct agent_events event_log_events;
