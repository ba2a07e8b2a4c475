/* SPDX-License-Identifier: Apache-2.0 */
/* One table of keys; a default is text that goes through the same parser as what somebody wrote. */
#include "models/settings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "models/question.h"

const char *const model_dialect_names[] = {"chat", "responses", "messages", NULL};

#define AT(field) offsetof (struct model_settings, field)
#define SECOND    G_GUINT64_CONSTANT (1000)
#define HOUR      (3600 * SECOND)
#define MIB       (G_GUINT64_CONSTANT (1) << 20)

/* What a million tokens of the dearest model could cost, in any currency. */
#define PRICE_MAX 1e6

/* Longer than any URL, path or id. */
#define TEXT_MAX 2000

const struct model_setting model_setting_table[] = {
    {"dialect", SETTING_DIALECT, AT (dialect), "chat",
     .text = "The API of the server: `chat` is OpenAI's Chat Completions and compatible "
             "servers, `responses` OpenAI's Responses, `messages` Anthropic's Messages."},
    {"base_url", SETTING_URL, AT (base_url),
     .text = "The URL of the API, without `/chat/completions`, `/responses` or "
             "`/v1/messages`."},
    {"model", SETTING_TEXT, AT (model), .text = "The model's name on the server."},
    {"key_env", SETTING_VARIABLE, AT (key_env), .text = "The environment variable that contains the key."},
    {"key_file", SETTING_PATH, AT (key_file),
     .text = "The file that contains the key; yours, with mode 0600."},
    {"sees", SETTING_BOOLEAN, AT (sees), "false", .text = "Whether the model accepts images."},
    {"stream", SETTING_BOOLEAN, AT (stream), "true",
     .text = "Whether answers are streamed, and so displayed as they arrive."},
    {"context_tokens", SETTING_COUNT, AT (context_tokens), "0", .maximum = 100 * 1000 * 1000,
     .text = "The size of the model's context. 0: unknown."},
    {"output_tokens", SETTING_COUNT, AT (output_tokens), "8192", .minimum = 1, .maximum = 1000 * 1000,
     .text = "The maximum length of an answer, including reasoning."},
    {"timeout_ms", SETTING_DURATION, AT (timeout_ms), "5min", .minimum = 100, .maximum = 2 * HOUR,
     .text = "The time for one answer, including retries and the waits before them."},
    {"idle_ms", SETTING_DURATION, AT (idle_ms), "2min", .minimum = 100, .maximum = HOUR,
     .text = "How long the server may pause within an answer."},
    {"connect_ms", SETTING_DURATION, AT (connect_ms), "10s", .minimum = 100, .maximum = 5 * 60 * SECOND,
     .text = "The time for connecting to the server."},
    {"retries", SETTING_COUNT, AT (retries), "4", .maximum = 20,
     .text = "Retries when the server is busy, fails, or cannot be reached."},
    {"answer_bytes", SETTING_SIZE, AT (answer_bytes), "8MiB", .minimum = 1024, .maximum = 256 * MIB,
     .text = "The maximum size of an answer, as the server sends it."},
    {"input_price", SETTING_PRICE, AT (input_price),
     .text = "The price per million input tokens, in any currency: costs are then reported in it."},
    {"output_price", SETTING_PRICE, AT (output_price), .text = "The price per million output tokens."},
    {"cached_price", SETTING_PRICE, AT (cached_price),
     .text = "The price per million cached input tokens; by default that of other input tokens."},
    {"unix_socket", SETTING_PATH, AT (unix_socket),
     .text = "The socket of a server on this machine; the URL's host is then only a name."},
    {"proxy", SETTING_URL, AT (proxy), .text = "The proxy, instead of the one in the environment."},
    {"ca_file", SETTING_PATH, AT (ca_file),
     .text = "The CA certificates (PEM) to trust, instead of the host's."},
    {NULL},
};

#define FIELD(settings, row, type) ((type *)(void *)((char *)(settings) + (row)->offset))

static gboolean
settings_is_text (const struct model_setting *row)
{
  return row->kind == SETTING_TEXT || row->kind == SETTING_URL || row->kind == SETTING_PATH ||
         row->kind == SETTING_VARIABLE;
}

/* ---- values ---- */

static gboolean
settings_wrong (GError **error, const char *what)
{
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID, what);
  return FALSE;
}

/* A password in a URL would be shown wherever the URL is. */
static gboolean
settings_check_url (const char *value, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (value, G_URI_FLAGS_NONE, NULL);
  if (!uri || !g_uri_get_host (uri) || g_uri_get_host (uri)[0] == '\0' ||
      (strcmp (g_uri_get_scheme (uri), "http") != 0 && strcmp (g_uri_get_scheme (uri), "https") != 0))
    return settings_wrong (error, "a URL looks like https://api.example.org/v1");
  if (g_uri_get_userinfo (uri))
    return settings_wrong (error,
                           "a URL has neither a user nor a password in it: a key belongs into a file or a "
                           "variable of the environment");
  if (g_uri_get_query (uri) || g_uri_get_fragment (uri))
    return settings_wrong (error, "nothing may come after the path of the URL");
  return TRUE;
}

static gboolean
settings_check_variable (const char *value, GError **error)
{
  gboolean ok = g_ascii_isalpha (value[0]) || value[0] == '_';
  for (const char *rest = value; *rest && ok; rest++)
    ok = g_ascii_isalnum (*rest) || *rest == '_';
  return ok || settings_wrong (error,
                               "the name of a variable has letters, digits and \"_\": the key itself belongs "
                               "into it, not here");
}

static gboolean
settings_set_text (struct model_settings *settings, const struct model_setting *row, const char *value,
                   GError **error)
{
  if (value[0] == '\0' || strlen (value) > TEXT_MAX || !g_utf8_validate (value, -1, NULL) ||
      strpbrk (value, "\r\n"))
    return settings_wrong (error, "it must be one line that is neither empty nor very long");
  if (row->kind == SETTING_URL && !settings_check_url (value, error))
    return FALSE;
  if (row->kind == SETTING_VARIABLE && !settings_check_variable (value, error))
    return FALSE;
  if (row->kind == SETTING_PATH && !g_path_is_absolute (value))
    return settings_wrong (error, "a path must be absolute");
  char *copy = g_strdup (value);
  for (gsize length = strlen (copy); row->kind == SETTING_URL && copy[length - 1] == '/'; length--)
    copy[length - 1] = '\0';
  g_free (*FIELD (settings, row, char *));
  *FIELD (settings, row, char *) = copy;
  return TRUE;
}

static gboolean
set_dialect (struct model_settings *settings, const char *value, GError **error)
{
  for (guint i = 0; model_dialect_names[i]; i++)
    if (strcmp (value, model_dialect_names[i]) == 0) {
      settings->dialect = (enum dialect)i;
      return TRUE;
    }
  return settings_wrong (error, "the dialects are chat, responses and messages");
}

static gboolean
settings_set_boolean (struct model_settings *settings, const struct model_setting *row, const char *value,
                      GError **error)
{
  gboolean yes = strcmp (value, "true") == 0;
  if (!yes && strcmp (value, "false") != 0)
    return settings_wrong (error, "it is true or false");
  *FIELD (settings, row, gboolean) = yes;
  return TRUE;
}

static gboolean
set_price (struct model_settings *settings, const struct model_setting *row, const char *value,
           GError **error)
{
  char *end;
  double price = g_ascii_strtod (value, &end);
  if (!g_ascii_isdigit (value[0]) || *end != '\0' || !isfinite (price) || price > PRICE_MAX)
    return settings_wrong (error, "a price is a number such as 2.50, for a million tokens");
  *FIELD (settings, row, double) = price;
  return TRUE;
}

static enum limit_unit
settings_unit_of (const struct model_setting *row)
{
  if (row->kind == SETTING_SIZE)
    return UNIT_BYTES;
  return row->kind == SETTING_DURATION ? UNIT_MS : UNIT_COUNT;
}

static gboolean
settings_set_number (struct model_settings *settings, const struct model_setting *row, const char *value,
                     GError **error)
{
  guint64 number;
  g_autoptr (GError) problem = NULL;
  if (!quantity_parse (value, settings_unit_of (row), &number, &problem))
    return settings_wrong (error, problem->message);
  if (number < row->minimum || number > row->maximum) {
    g_autofree char *least = quantity_format (row->minimum, settings_unit_of (row));
    g_autofree char *most = quantity_format (row->maximum, settings_unit_of (row));
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "it must be from %s to %s", least, most);
    return FALSE;
  }
  *FIELD (settings, row, guint64) = number;
  return TRUE;
}

static gboolean
settings_set_value (struct model_settings *settings, const struct model_setting *row, const char *value,
                    GError **error)
{
  if (settings_is_text (row))
    return settings_set_text (settings, row, value, error);
  if (row->kind == SETTING_DIALECT)
    return set_dialect (settings, value, error);
  if (row->kind == SETTING_BOOLEAN)
    return settings_set_boolean (settings, row, value, error);
  if (row->kind == SETTING_PRICE)
    return set_price (settings, row, value, error);
  return settings_set_number (settings, row, value, error);
}

/* ---- settings ---- */

struct model_settings *
model_settings_new (const char *name)
{
  struct model_settings *settings = g_new0 (struct model_settings, 1);
  settings->name = g_strdup (name);
  settings->input_price = settings->output_price = settings->cached_price = -1;
  for (const struct model_setting *row = model_setting_table; row->key; row++) {
    g_autoptr (GError) problem = NULL;
    if (row->standard && !settings_set_value (settings, row, row->standard, &problem))
      g_error ("the default of %s is wrong: %s", row->key, problem->message);
  }
  return settings;
}

void
model_settings_free (struct model_settings *settings)
{
  if (!settings)
    return;
  for (const struct model_setting *row = model_setting_table; row->key; row++)
    if (settings_is_text (row))
      g_free (*FIELD (settings, row, char *));
  if (settings->key)
    explicit_bzero (settings->key, strlen (settings->key));
  g_free (settings->key);
  g_free (settings->name);
  g_free (settings);
}

const struct model_setting *
model_setting_find (const char *key)
{
  for (const struct model_setting *row = model_setting_table; row->key; row++)
    if (strcmp (row->key, key) == 0)
      return row;
  return NULL;
}

/* The value is not in the message: somebody may have put a key there. */
gboolean
model_settings_set (struct model_settings *settings, const char *key, const char *value, GError **error)
{
  const struct model_setting *row = model_setting_find (key);
  if (!row) {
    struct text_guess guess = TEXT_GUESS_NONE;
    for (row = model_setting_table; row->key; row++)
      text_consider (&guess, key, row->key);
    g_autofree char *shown = text_one_line (key, 64);
    g_autofree char *meant = guess.best ? g_strdup_printf ("; did you mean %s?", guess.best) : g_strdup ("");
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "there is no setting %s of a model%s", shown,
                 meant);
    return FALSE;
  }
  g_autoptr (GError) problem = NULL;
  if (settings_set_value (settings, row, value, &problem))
    return TRUE;
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "the %s of the model %s is wrong: %s", key,
               settings->name, problem->message);
  return FALSE;
}

gboolean
model_settings_check (const struct model_settings *settings, GError **error)
{
  const char *missing =
      !settings->base_url ? "base_url: say where its API is, with --provider or --base-url of adder model new"
      : !settings->model  ? "model: say what its server calls it, with --model of adder model new"
                          : NULL;
  if (missing) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "the model %s has no %s", settings->name, missing);
    return FALSE;
  }
  if (settings->key_env && settings->key_file) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                 "the model %s has both a key_env and a key_file: leave one of them out", settings->name);
    return FALSE;
  }
  return TRUE;
}

/* ---- showing ---- */

char *
model_settings_text (const struct model_settings *settings, const struct model_setting *row)
{
  struct model_settings *from = (struct model_settings *)(guintptr)settings;
  if (settings_is_text (row))
    return g_strdup (*FIELD (from, row, char *));
  if (row->kind == SETTING_DIALECT)
    return g_strdup (model_dialect_names[settings->dialect]);
  if (row->kind == SETTING_BOOLEAN)
    return g_strdup (*FIELD (from, row, gboolean) ? "true" : "false");
  if (row->kind != SETTING_PRICE)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, *FIELD (from, row, guint64));
  double price = *FIELD (from, row, double);
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return price < 0 ? NULL : g_strdup (g_ascii_formatd (text, sizeof text, "%.10g", price));
}

static json_t *
settings_value_json (const struct model_settings *settings, const struct model_setting *row)
{
  struct model_settings *from = (struct model_settings *)(guintptr)settings;
  if (row->kind == SETTING_BOOLEAN)
    return json_boolean (*FIELD (from, row, gboolean));
  if (row->kind == SETTING_PRICE)
    return *FIELD (from, row, double) < 0 ? json_null () : json_real (*FIELD (from, row, double));
  if (row->kind == SETTING_COUNT || row->kind == SETTING_DURATION || row->kind == SETTING_SIZE)
    return json_integer ((json_int_t)*FIELD (from, row, guint64));
  g_autofree char *text = model_settings_text (settings, row);
  return json_text_or_null (text);
}

json_t *
model_settings_json (const struct model_settings *settings)
{
  json_t *all = json_pack ("{s:s}", "name", settings->name);
  for (const struct model_setting *row = model_setting_table; row->key; row++)
    json_object_set_new (all, row->key, settings_value_json (settings, row));
  return all;
}
