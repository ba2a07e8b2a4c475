/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn of an agent may use: steps, tokens, time, money. */
#pragma once

#include <glib.h>

#include "models/model.h"

enum budget_item { BUDGET_STEPS, BUDGET_TOKENS, BUDGET_TIME, BUDGET_COST, BUDGET_ITEMS };

struct budget_row {
  const char *option;        /* "max-steps" */
  const char *unit;          /* for people: "steps" */
  guint64 standard, maximum; /* time in milliseconds, cost in millionths */
  const char *argument;      /* in a list of options: "N" */
  const char *text;          /* the same */
};
extern const struct budget_row budget_rows[BUDGET_ITEMS];

struct budget {
  guint64 most[BUDGET_ITEMS];
  gboolean asked[BUDGET_ITEMS]; /* for, by the user: what cannot be held to is then an end */
  guint64 used[BUDGET_ITEMS];   /* but for time */
  gint64 began_us;
  gboolean estimated;    /* some tokens, from the length of text: the model's server does not count */
  gboolean cost_unknown; /* of some answer */
};

/* All as standard. */
void budget_init (struct budget *budget);

/* TEXT as a person writes it: "10", "200000", "5m", "0.50". ADDER_ERROR_INVALID names the option. */
gboolean budget_set (struct budget *budget, enum budget_item item, const char *text, GError **error);

/* Nothing is used yet, and time begins. */
void budget_begin (struct budget *budget);
gint64 budget_deadline_us (const struct budget *budget);

/* One step that came of an answer, which was asked for with so many bytes and has so many. */
void budget_spend (struct budget *budget, const struct model_usage *usage, gsize asked_bytes,
                   gsize answer_bytes);

guint64 budget_steps_left (const struct budget *budget);

/* Whether something is used up, and what. */
gboolean budget_is_over (const struct budget *budget, enum budget_item *ret_item);

/* That ITEM is used up, in one sentence that says how there is more. The caller's. */
char *budget_say (const struct budget *budget, enum budget_item item);
