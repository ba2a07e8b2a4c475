/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/budget.h"

#include <math.h>
#include <string.h>

#include "adder.h"
#include "common/size.h"
#include "common/text.h"

#define MILLION         1e6
#define BYTES_OF_TOKEN  4
#define MINUTE_MS       (60 * G_GUINT64_CONSTANT (1000))
#define COST_PARSED_MAX 1e9 /* far from what a number cannot hold */
#define COST_TEXT_BYTES G_ASCII_DTOSTR_BUF_SIZE

const struct budget_row budget_rows[BUDGET_ITEMS] = {
    [BUDGET_STEPS] = {"max-steps", "steps", 10, 1000, "N", "Maximum number of steps (default: 10)"},
    [BUDGET_TOKENS] = {"max-tokens", "tokens", 200000, 100000000, "N",
                       "Maximum number of tokens, input and output (200000)"},
    [BUDGET_TIME] = {"max-time", "", 10 * MINUTE_MS, 24 * 60 * MINUTE_MS, "TIME", "Maximum time (10m)"},
    [BUDGET_COST] = {"max-cost", "of the model's currency", 1000000, G_GUINT64_CONSTANT (1000) * 1000000,
                     "AMOUNT", "Maximum cost, by the model's prices (1)"},
};

void
budget_init (struct budget *budget)
{
  *budget = (struct budget){0};
  for (gsize i = 0; i < BUDGET_ITEMS; i++)
    budget->most[i] = budget_rows[i].standard;
}

/* ---- settings ---- */

static gboolean
parse_cost (const char *text, guint64 *ret_value, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);
  gsize plain = strspn (text, G_CSET_DIGITS ".");
  if (!g_ascii_isdigit (text[0]) || text[plain] != '\0' || *end != '\0' || value > COST_PARSED_MAX) {
    g_autofree char *shown = text_one_line (text, 40);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is no amount, such as 0.50", shown);
    return FALSE;
  }
  *ret_value = (guint64)llround (value * MILLION);
  return TRUE;
}

static gboolean
budget_parse (enum budget_item item, const char *text, guint64 *ret_value, GError **error)
{
  switch (item) {
  case BUDGET_TIME:
    return duration_parse (text, 1000, ret_value, error);
  case BUDGET_COST:
    return parse_cost (text, ret_value, error);
  default:
    return count_parse (text, ret_value, error);
  }
}

/* The caller's. */
static char *
format (enum budget_item item, guint64 value)
{
  char text[COST_TEXT_BYTES];
  if (item == BUDGET_TIME)
    return duration_format (value);
  if (item == BUDGET_COST)
    g_ascii_formatd (text, sizeof text, "%.6g", (double)value / MILLION);
  else
    (void)g_snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, value);
  return g_strdup_printf ("%s %s", text, budget_rows[item].unit);
}

gboolean
budget_set (struct budget *budget, enum budget_item item, const char *text, GError **error)
{
  const struct budget_row *row = &budget_rows[item];
  guint64 value;
  if (!budget_parse (item, text, &value, error)) {
    g_prefix_error (error, "--%s: ", row->option);
    return FALSE;
  }
  if (value == 0 || value > row->maximum) {
    g_autofree char *most = format (item, row->maximum);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--%s has to be more than 0 and at most %s",
                 row->option, most);
    return FALSE;
  }
  budget->most[item] = value;
  budget->asked[item] = TRUE;
  return TRUE;
}

/* ---- use ---- */

void
budget_begin (struct budget *budget)
{
  for (gsize i = 0; i < BUDGET_ITEMS; i++)
    budget->used[i] = 0;
  budget->estimated = budget->cost_unknown = FALSE;
  budget->began_us = g_get_monotonic_time ();
}

gint64
budget_deadline_us (const struct budget *budget)
{
  return budget->began_us + (gint64)budget->most[BUDGET_TIME] * 1000;
}

/* What the server says, or a guess. */
static guint64
budget_tokens_of (struct budget *budget, gint64 counted, gsize bytes)
{
  if (counted >= 0)
    return (guint64)counted;
  budget->estimated = TRUE;
  return (bytes + BYTES_OF_TOKEN - 1) / BYTES_OF_TOKEN;
}

void
budget_spend (struct budget *budget, const struct model_usage *usage, gsize asked_bytes, gsize answer_bytes)
{
  budget->used[BUDGET_STEPS]++;
  budget->used[BUDGET_TOKENS] += budget_tokens_of (budget, usage->input_tokens, asked_bytes) +
                                 budget_tokens_of (budget, usage->output_tokens, answer_bytes);
  if (usage->cost >= 0 && usage->cost < COST_PARSED_MAX)
    budget->used[BUDGET_COST] += (guint64)llround (usage->cost * MILLION);
  else
    budget->cost_unknown = TRUE;
}

guint64
budget_steps_left (const struct budget *budget)
{
  return budget->most[BUDGET_STEPS] - MIN (budget->used[BUDGET_STEPS], budget->most[BUDGET_STEPS]);
}

static gboolean
is_used_up (const struct budget *budget, enum budget_item item)
{
  if (item == BUDGET_TIME)
    return g_get_monotonic_time () >= budget_deadline_us (budget);
  if (item == BUDGET_COST && budget->cost_unknown && budget->asked[BUDGET_COST])
    return TRUE;
  return budget->used[item] >= budget->most[item];
}

gboolean
budget_is_over (const struct budget *budget, enum budget_item *ret_item)
{
  for (enum budget_item item = 0; item < BUDGET_ITEMS; item++)
    if (is_used_up (budget, item)) {
      *ret_item = item;
      return TRUE;
    }
  return FALSE;
}

char *
budget_say (const struct budget *budget, enum budget_item item)
{
  g_autofree char *most = format (item, budget->most[item]);
  if (item == BUDGET_COST && budget->cost_unknown && budget->asked[BUDGET_COST])
    return g_strdup ("what the model costs is not known, so --max-cost cannot be held to: give the model its "
                     "prices, or leave the option out");
  return g_strdup_printf ("the %s of its budget are used up: --%s gives it more", most,
                          budget_rows[item].option);
}
