/* SPDX-License-Identifier: Apache-2.0 */
/* What is set for a model: one table of keys, each number with default and maximum. models.conf has them
 * (models_file.h), and so do the options of `adder model new`. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whose API the server speaks: the rows of model_dialect_names. */
enum dialect { DIALECT_CHAT, DIALECT_RESPONSES, DIALECT_MESSAGES };
extern const char *const model_dialect_names[]; /* "chat", "responses", "messages", and then NULL */

struct model_settings {
  char *name; /* as the user calls it */
  enum dialect dialect;
  char *base_url;         /* what "/chat/completions" and its like are put after; no "/" at its end */
  char *model;            /* as its server calls it */
  char *key_env;          /* where its key is: a variable of the environment, */
  char *key_file;         /* or an absolute path; both NULL: it needs none */
  char *key;              /* the key itself, once keys_resolve() read it; NULL: none */
  char *unix_socket;      /* absolute path; NULL: TCP */
  char *proxy;            /* URL; NULL: what the environment says, as curl reads it */
  char *ca_file;          /* absolute path, PEM; NULL: the host's */
  guint64 timeout_ms;     /* of one question, attempts and waits included */
  guint64 idle_ms;        /* without a byte of the answer */
  guint64 connect_ms;     /* of one connection */
  guint64 retries;        /* after the first attempt */
  guint64 output_tokens;  /* of one answer */
  guint64 context_tokens; /* that it can read; 0: not known */
  guint64 answer_bytes;   /* of one answer, as it comes over the wire */
  gboolean sees;          /* pictures */
  gboolean stream;        /* whether answers are asked for piece by piece */
  double input_price, output_price, cached_price; /* of a million tokens; negative: not known */
};

enum setting_kind {
  SETTING_TEXT,
  SETTING_URL,
  SETTING_PATH,
  SETTING_VARIABLE,
  SETTING_DIALECT,
  SETTING_BOOLEAN,
  SETTING_COUNT,
  SETTING_DURATION,
  SETTING_SIZE,
  SETTING_PRICE,
};

struct model_setting {
  const char *key;
  enum setting_kind kind;
  gsize offset;             /* in struct model_settings */
  const char *standard;     /* NULL: nothing */
  guint64 minimum, maximum; /* of counts, durations and sizes */
  const char *text;         /* what it is, in Markdown */
};
extern const struct model_setting model_setting_table[]; /* ends with a row without a key */
/* The row of KEY, or NULL. */
const struct model_setting *model_setting_find (const char *key);

/* The model NAME with everything as it is when nobody says otherwise; base_url and model are NULL. */
struct model_settings *model_settings_new (const char *name);
/* NULL is allowed. The key is overwritten. */
void model_settings_free (struct model_settings *settings);
typedef struct model_settings model_settings_auto; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (model_settings_auto, model_settings_free)

/* Sets the KEY of the table to what VALUE says. MODEL_ERROR_INVALID names key, value and what may stand
 * there. */
gboolean model_settings_set (struct model_settings *settings, const char *key, const char *value,
                             GError **error);

/* Whether what must be there is there (base_url, model). */
gboolean model_settings_check (const struct model_settings *settings, GError **error);

/* The value of ROW as model_settings_set takes it, or NULL where it has none. The caller's. */
char *model_settings_text (const struct model_settings *settings, const struct model_setting *row);

/* All of them by their keys, null where there is none; with "name", without the key itself. The caller's. */
json_t *model_settings_json (const struct model_settings *settings);
