/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/materials_words.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/size.h"
#include "materials/query.h"

void
materials_words_clear (struct materials_words *words)
{
  char **texts[] = {&words->elements, &words->formula,   &words->nsites,
                    &words->filter,   &words->providers, &words->timeout};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_clear_pointer (texts[i], g_free);
}

GOptionEntry *
materials_words_entries (struct materials_words *words, const GOptionEntry *own, gsize count)
{
  const GOptionEntry entries[] = {
      {"elements", 0, 0, G_OPTION_ARG_FILENAME, &words->elements,
       "Elements that a material must all contain: Ti,O", "LIST"},
      {"formula", 0, 0, G_OPTION_ARG_FILENAME, &words->formula, "A formula: TiO2", "FORMULA"},
      {"nsites", 0, 0, G_OPTION_ARG_FILENAME, &words->nsites,
       "Number of atoms in the cell: 12, 1-20, 5-, or -20", "N-M"},
      {"filter", 0, 0, G_OPTION_ARG_FILENAME, &words->filter, "An additional filter, in OPTIMADE's language",
       "FILTER"},
      {"providers", 0, 0, G_OPTION_ARG_FILENAME, &words->providers,
       "The databases to query: mp,oqmd, or all (adder search providers)", "LIST"},
      {"limit", 'n', 0, G_OPTION_ARG_INT, &words->limit, "Maximum number of records of each database (100)",
       "N"},
      {"timeout", 't', 0, G_OPTION_ARG_FILENAME, &words->timeout,
       "Maximum time; the answers so far are used (1m)", "TIME"},
  };
  GOptionEntry *all = g_new0 (GOptionEntry, G_N_ELEMENTS (entries) + count);
  memcpy (all, entries, sizeof entries);
  memcpy (all + G_N_ELEMENTS (entries), own, count * sizeof *own);
  words->limit = G_MININT; /* not said */
  return all;
}

/* ---- to arguments ---- */

static gboolean
materials_words_set_text (json_t *arguments, const char *name, const char *text, GError **error)
{
  if (!text || json_object_set_new (arguments, name, json_string (text)) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value of --%s is not UTF-8", name);
  return FALSE;
}

/* "Ti, O" */
static gboolean
materials_words_set_list (json_t *arguments, const char *name, const char *text, GError **error)
{
  if (!text)
    return TRUE;
  if (text[0] == '\0' || !g_utf8_validate (text, -1, NULL)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--%s: names with commas in between are wanted",
                 name);
    return FALSE;
  }
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  json_t *list = json_array ();
  for (gsize i = 0; parts[i]; i++)
    json_array_append_new (list, json_string (g_strstrip (parts[i])));
  json_object_set_new (arguments, name, list);
  return TRUE;
}

/* A bound, of which *AT begins; nothing there: none. */
static gboolean
take_bound (const char **at, const char *name, json_t *arguments)
{
  guint64 bound;
  gsize digits = strspn (*at, "0123456789");
  g_autofree char *text = g_strndup (*at, digits);
  if (digits == 0)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 1, QUERY_NSITES_MAX, &bound, NULL))
    return FALSE;
  json_object_set_new (arguments, name, json_integer ((json_int_t)bound));
  *at += digits;
  return TRUE;
}

static gboolean
set_nsites (json_t *arguments, const char *text, GError **error)
{
  const char *at = text;
  if (!text)
    return TRUE;
  gboolean ok = take_bound (&at, "nsites_min", arguments);
  if (ok && at > text && *at == '\0')
    json_object_set (arguments, "nsites_max", json_object_get (arguments, "nsites_min"));
  else
    ok = ok && *at++ == '-' && take_bound (&at, "nsites_max", arguments) && *at == '\0' && strlen (text) > 1;
  if (!ok) {
    g_autofree char *shown = g_utf8_make_valid (text, -1);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "--nsites: %s is neither a number nor a range such as 1-20 (1 to %d)", shown,
                 QUERY_NSITES_MAX);
  }
  return ok;
}

static gboolean
set_timeout (json_t *arguments, const char *text, GError **error)
{
  guint64 wait_ms;
  if (!text)
    return TRUE;
  if (!duration_parse (text, 1000, &wait_ms, error)) {
    g_prefix_error (error, "--timeout: ");
    return FALSE;
  }
  json_object_set_new (arguments, "timeout", json_integer ((json_int_t)((wait_ms + 999) / 1000)));
  return TRUE;
}

json_t *
materials_words_arguments (const struct materials_words *words, GError **error)
{
  g_autoptr (json_t) arguments = json_object ();
  if (words->limit != G_MININT)
    json_object_set_new (arguments, "limit", json_integer (words->limit));
  gboolean ok = materials_words_set_list (arguments, "elements", words->elements, error) &&
                materials_words_set_text (arguments, "formula", words->formula, error) &&
                set_nsites (arguments, words->nsites, error) &&
                materials_words_set_text (arguments, "filter", words->filter, error) &&
                materials_words_set_list (arguments, "providers", words->providers, error) &&
                set_timeout (arguments, words->timeout, error);
  return ok ? g_steal_pointer (&arguments) : NULL;
}
