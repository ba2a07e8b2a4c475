/* SPDX-License-Identifier: Apache-2.0 */
/* A turn as a person sees it while it happens: steps on standard error, at a terminal with what is being
 * waited for. Without a terminal nothing is written twice and nothing is coloured. */
#pragma once

#include "apps/agent/agent.h"
#include "interfaces/cli/view/terminal_text.h"

struct agent_view {
  const char *model;         /* its name */
  struct terminal_text text; /* where what the model says goes; stream NULL: nowhere */
  gboolean waiting;          /* a line that says so is on the terminal */
  gboolean streamed;         /* the text of the answer under way was shown */
};

/* TEXT: where what the model says goes; NULL: nowhere. */
void agent_view_init (struct agent_view *view, const char *model, FILE *text);

/* For agent_listen, with the view. */
extern const struct agent_events agent_view_events;

/* Says how the turn ended, where it did not as it should have. */
void agent_view_end (struct agent_view *view, const struct agent_turn *turn);
