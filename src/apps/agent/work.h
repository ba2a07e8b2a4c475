/* SPDX-License-Identifier: Apache-2.0 */
/* What a command needs to have an agent work: its options, and what they open. `adder agent` and `adder chat`
 * share it. */
#pragma once

#include "apps/agent/agent.h"
#include "apps/agent/event_log.h"
#include "interfaces/cli/signal_handler.h"

struct agent_options {
  char *toolset, *model, *conversation, *role, *transcript, *record, *out, *wait_approval;
  char *budget[BUDGET_ITEMS];
  char **tools;
  gboolean read_only, accept_all, json, no_daemon;
};
void agent_options_clear (struct agent_options *options);
/* An entry for each of them, to which a command adds its own. The caller's (g_array_unref); good as long as
 * OPTIONS. */
GArray *agent_options_entries (struct agent_options *options);

struct agent_work {
  const struct agent_options *options;
  const struct toolset *toolset;
  struct config *config;
  struct model *model;
  struct call_backend *backend;
  GPtrArray *external;
  struct caller_context context;
  char *out; /* the directory for pictures; NULL: none */
  int out_fd;
  guint64 wait_ms;
  gboolean typed;
  const char *intro; /* as in struct agent_settings */
  struct budget budget;
  struct signal_handler *signals;
  struct event_source *ending; /* what signals end: the command's */
  struct event_log *transcript, *json;
  struct agent *agent;
};

/* Call it before anything that may start a thread. */
void agent_work_init (struct agent_work *work, const struct agent_options *options,
                      struct event_source *ending);

/* Opens all that the options name, and makes the agent; toolset, out, typed and intro are the command's to
 * set before. REPORTS: as in struct toolbox_settings. When it fails, agent_work_end releases what there is.
 */
gboolean agent_work_begin (struct agent_work *work, gboolean reports, GError **error);

/* Releases all of it; what could not be written is an error now. */
gboolean agent_work_end (struct agent_work *work, GError **error);

/* "model", "provider", "replay", "toolset", "conversation" and when it began, into LINE. */
void agent_work_describe (const struct agent_work *work, json_t *line);

/* Says at once that the answers come from a replay, where they do. */
void agent_work_warn (const struct agent_work *work);

/* Writes LINE, which is taken, to where lines of JSON go. */
void agent_work_write (struct agent_work *work, json_t *line);
