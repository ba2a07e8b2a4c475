/* SPDX-License-Identifier: Apache-2.0 */
/* A question to a model, its answer, and what can go wrong: what model.h and all that stands behind a model
 * speak of. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "models/message.h"

#define MODEL_ERROR (model_error_quark ())
enum model_error {
  MODEL_ERROR_INVALID,     /* the question, or a setting of the model */
  MODEL_ERROR_KEY,         /* no key, or one that is refused */
  MODEL_ERROR_UNKNOWN,     /* no such model: here, or at its server */
  MODEL_ERROR_CONTEXT,     /* the conversation is longer than the model can read */
  MODEL_ERROR_RATE,        /* too many questions, or nothing left to pay with */
  MODEL_ERROR_UNAVAILABLE, /* the server is overloaded, fails, or cannot be reached */
  MODEL_ERROR_TIMEOUT,
  MODEL_ERROR_CANCELLED,
  MODEL_ERROR_CUT,       /* the answer broke off */
  MODEL_ERROR_MALFORMED, /* an answer that is none */
  MODEL_ERROR_MISMATCH,  /* a replay was asked something else than it was recorded with */
};
GQuark model_error_quark (void);
extern const char *const model_error_names[]; /* "invalid" to "mismatch", and then NULL */

enum model_stop {
  MODEL_STOP_END,    /* it said what it had to say */
  MODEL_STOP_CALLS,  /* it waits for results of its calls */
  MODEL_STOP_LENGTH, /* output_tokens, or its own limit */
  MODEL_STOP_REFUSAL,
};
extern const char *const model_stop_names[]; /* "end", "calls", "length", "refusal", and then NULL */

/* What one answer is counted as at most, whatever a server says: sums of such numbers overflow nowhere. */
#define MODEL_TOKENS_MAX (G_GINT64_CONSTANT (1000) * 1000 * 1000 * 1000)
#define MODEL_COST_MAX   1e12

/* -1 and a negative cost: not known. */
struct model_usage {
  gint64 input_tokens;  /* of which */
  gint64 cached_tokens; /* were read from the server's cache */
  gint64 output_tokens;
  double cost; /* in the currency of the model's prices */
};

/* {"input_tokens", "cached_tokens", "output_tokens", "cost"}, null where it is not known. The caller's. */
json_t *model_usage_json (const struct model_usage *usage);

struct model_question {
  const char *instructions; /* the system prompt, or NULL */
  const json_t *messages;   /* message.h; the last one is a user's or a tool's */
  const json_t *tools;      /* [{"name", "description", "parameters"}], or NULL */
  const char *tool;         /* the one that must be called; "": one of them must be; NULL: as it likes */
  guint64 output_tokens;    /* at most; 0: the model's setting */
  gint64 deadline_us;       /* of g_get_monotonic_time; 0: the model's time limit from now on */
  int cancel_fd;            /* asking ends as MODEL_ERROR_CANCELLED when this can be read; -1: none */
  /* Told of the answer's text as it comes, and (TEXT NULL) of a new attempt, which begins from nothing; NULL:
   * nobody. Within model_ask, in its thread. */
  void (*saw) (gpointer data, const char *text, gsize length);
  gpointer saw_data;
};

struct model_answer {
  json_t *message; /* an assistant's */
  enum model_stop stop;
  struct model_usage usage;
  guint attempts; /* that it took */
  gint64 took_ms;
};
void model_answer_clear (struct model_answer *answer);

/* What is known of a model; its strings live as long as it does. */
struct model_facts {
  const char *name; /* as the user calls it: "gpt", "replay:FILE" */
  const char
      *provider; /* one phrase for people: "OpenAI Chat Completions at 127.0.0.1:8080", "a replay of FILE" */
  gboolean is_replay;
  gboolean sees;         /* pictures */
  gint64 context_tokens; /* -1: not known */
};
