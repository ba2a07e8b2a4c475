/* SPDX-License-Identifier: Apache-2.0 */
/* The loop in which a model calls tools: one question, what the answer calls for, its results, and again,
 * until the model is done or a budget is used up. `adder agent` has one turn; a chat has one for each thing
 * that a person says. Nothing here prints: whoever shows it is told by events. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "apps/agent/budget.h"
#include "apps/agent/toolbox.h"
#include "models/model.h"

#define AGENT_UNREADABLE 3  /* answers running that are no step: the turn ends */
#define AGENT_CALLS      32 /* of one answer, which is one step whatever it holds */

enum agent_reason {
  AGENT_COMPLETED,
  AGENT_FAILED, /* the model says that it cannot be done */
  AGENT_STEPS,
  AGENT_TOKENS,
  AGENT_TIME,
  AGENT_COST,
  AGENT_LOOP,
  AGENT_MODEL, /* it could not be asked, refused, or did not make sense */
  AGENT_CANCELLED,
};
extern const char *const agent_reason_names[]; /* "completed", ... */

struct agent_turn {
  enum agent_reason reason;
  char *answer;      /* what the model reported, or said last; may be empty */
  char *message;     /* but for AGENT_COMPLETED: why it ended, in one sentence; or NULL */
  gboolean is_fault; /* the model could not be asked at all */
  struct budget budget;
  gint64 took_ms;
};
void agent_turn_clear (struct agent_turn *turn);
/* {"completed", "reason", "answer", "message", "steps", "tokens", "tokens_estimated", "cost", "took_ms"}, the
 * cost null where it is not known. The caller's. */
json_t *agent_turn_json (const struct agent_turn *turn);

/* Told in the thread of agent_say. Each may be NULL. A step is an object (docs/agent.md):
 * {"step", "current_state", "function": {"name", "arguments"}}, and when it is over also
 * "result", "is_error", "pictures", "unsaved_pictures", "took_ms", "usage". */
struct agent_events {
  void (*asking) (gpointer data, guint64 step);
  /* The text of the answer under way, as it comes; TEXT NULL: it begins from nothing. */
  void (*text) (gpointer data, const char *text, gsize length);
  /* An answer is there whole; TEXT is all of its text, perhaps "". */
  void (*answered) (gpointer data, const char *text);
  void (*began) (gpointer data, const json_t *step);
  void (*ended) (gpointer data, const json_t *step);
  void (*note) (gpointer data, const char *text); /* one sentence for people */
};

struct agent_settings {
  struct model *model;
  /* conversation NULL: one is made; cancel_fd and place.sees are the agent's own affair. With reports the
   * turn ends by report_completion; without, as soon as the model answers without a call. */
  struct toolbox_settings tools;
  struct budget budget; /* of each turn */
  gboolean typed;       /* steps are calls of next_step (steps.h) */
  const char *intro;    /* what the instructions begin with; NULL: as the loop has it (prompts.h) */
};

struct agent;

/* What SETTINGS point to must outlive it. NULL with ERROR. */
struct agent *agent_new (const struct agent_settings *settings, GError **error);
/* NULL is allowed. */
void agent_free (struct agent *agent);

/* EVENTS and DATA must outlive it; any number of listeners, told in turn. */
void agent_listen (struct agent *agent, const struct agent_events *events, gpointer data);

/* One turn: TEXT is a user's. Never fails: what is wrong is the turn. */
void agent_say (struct agent *agent, const char *text, struct agent_turn *ret_turn);

/* From any thread: ends the turn under way at once, the question or the call that it is in included. */
void agent_cancel (struct agent *agent);

/* When the turn under way is out of time, of g_get_monotonic_time; 0: there is none. */
gint64 agent_deadline_us (const struct agent *agent);

const char *agent_conversation (const struct agent *agent);

/* MODEL, which must outlive it, answers from the next turn on. */
void agent_use_model (struct agent *agent, struct model *model);

/* Its tools, for calls that a person asks for; between turns. */
struct toolbox *agent_toolbox (struct agent *agent);

/* What was said is forgotten. */
void agent_forget (struct agent *agent);
