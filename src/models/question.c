/* SPDX-License-Identifier: Apache-2.0 */
#include "models/question.h"

/* Not G_DEFINE_QUARK: common/error.c says why. */
GQuark
model_error_quark (void)
{
  return g_quark_from_static_string ("adder-model-error-quark");
}

const char *const model_error_names[] = {"invalid", "key",         "unknown",  "context",
                                         "rate",    "unavailable", "timeout",  "cancelled",
                                         "cut",     "malformed",   "mismatch", NULL};
const char *const model_stop_names[] = {"end", "calls", "length", "refusal", NULL};

void
model_answer_clear (struct model_answer *answer)
{
  g_clear_pointer (&answer->message, json_decref);
}

/* ---- to JSON ---- */

static json_t *
tokens_json (gint64 tokens)
{
  return tokens < 0 ? json_null () : json_integer (tokens);
}

json_t *
model_usage_json (const struct model_usage *usage)
{
  return json_pack ("{s:o, s:o, s:o, s:o}", "input_tokens", tokens_json (usage->input_tokens),
                    "cached_tokens", tokens_json (usage->cached_tokens), "output_tokens",
                    tokens_json (usage->output_tokens), "cost",
                    usage->cost < 0 ? json_null () : json_real (usage->cost));
}
