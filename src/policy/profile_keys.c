/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of profiles by their type: one place that parses, shows and releases each. */
#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "policy/profile_groups.h"
#include "policy/profile_list.h"

#define FIELD(profile, key, type) ((type *)(void *)((char *)(guintptr)(profile) + (key)->offset))

static gboolean profile_keys_invalid (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
profile_keys_invalid (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, text);
  return FALSE;
}

/* ---- setting ---- */

static gboolean
profile_keys_set_text (const struct profile_key *key, struct profile *profile, const char *value,
                       GError **error)
{
  if (value[0] == '\0')
    return profile_keys_invalid (error, "the value is empty");
  if (key->check && !key->check (value, error))
    return FALSE;
  char **field = FIELD (profile, key, char *);
  g_free (*field);
  *field = g_strdup (value);
  return TRUE;
}

static gboolean
set_choice (const struct profile_key *key, struct profile *profile, const char *value, GError **error)
{
  for (guint i = 0; key->choices[i]; i++)
    if (strcmp (key->choices[i], value) == 0) {
      *FIELD (profile, key, guint) = i;
      return TRUE;
    }
  g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)key->choices);
  return profile_keys_invalid (error, "\"%s\" is not one of: %s", value, known);
}

static gboolean
profile_keys_set_boolean (const struct profile_key *key, struct profile *profile, const char *value,
                          GError **error)
{
  gboolean yes = strcmp (value, "true") == 0;
  if (!yes && strcmp (value, "false") != 0)
    return profile_keys_invalid (error, "\"%s\" is neither true nor false", value);
  *FIELD (profile, key, gboolean) = yes;
  return TRUE;
}

static enum limit_unit
profile_keys_unit_of (const struct profile_key *key)
{
  return key->type == PROFILE_DURATION ? UNIT_MS : UNIT_COUNT;
}

static gboolean
profile_keys_set_number (const struct profile_key *key, struct profile *profile, const char *value,
                         GError **error)
{
  guint64 number;
  if (!quantity_parse (value, profile_keys_unit_of (key), &number, error))
    return FALSE;
  if (number < key->minimum || number > key->maximum) {
    g_autofree char *least = quantity_format (key->minimum, profile_keys_unit_of (key));
    g_autofree char *most = quantity_format (key->maximum, profile_keys_unit_of (key));
    return profile_keys_invalid (error, "%s is not between %s and %s", value, least, most);
  }
  *FIELD (profile, key, guint64) = number;
  return TRUE;
}

static gboolean
profile_keys_set_list (const struct profile_key *key, struct profile *profile, const char *value,
                       GError **error)
{
  g_auto (GStrv) words = profile_list_parse (value, error);
  if (!words)
    return FALSE;
  for (gsize i = 0; key->check && words[i]; i++)
    if (!key->check (words[i], error))
      return FALSE;
  GStrv *field = FIELD (profile, key, GStrv);
  g_strfreev (*field);
  *field = g_steal_pointer (&words);
  return TRUE;
}

static gboolean
set_by_type (const struct profile_key *key, struct profile *profile, const char *value, GError **error)
{
  switch (key->type) {
  case PROFILE_TEXT:
    return profile_keys_set_text (key, profile, value, error);
  case PROFILE_CHOICE:
    return set_choice (key, profile, value, error);
  case PROFILE_BOOLEAN:
    return profile_keys_set_boolean (key, profile, value, error);
  case PROFILE_LIST:
    return profile_keys_set_list (key, profile, value, error);
  case PROFILE_COUNT:
  case PROFILE_DURATION:
    break;
  }
  return profile_keys_set_number (key, profile, value, error);
}

static gboolean
no_such_key (const struct profile_group *group, const char *name, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  g_autoptr (GString) known = g_string_new (NULL);
  for (const struct profile_key *key = group->keys; key->name; key++) {
    text_consider (&guess, name, key->name);
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", key->name);
  }
  return guess.best ? profile_keys_invalid (error, "there is no such key; did you mean %s?", guess.best)
                    : profile_keys_invalid (error, "there is no such key; there are %s", known->str);
}

gboolean
profile_group_set (const struct profile_group *group, struct profile *profile, const char *name,
                   const char *value, GError **error)
{
  if (group->set)
    return group->set (profile, name, value, error);
  for (const struct profile_key *key = group->keys; key->name; key++)
    if (strcmp (key->name, name) == 0)
      return set_by_type (key, profile, value, error);
  return no_such_key (group, name, error);
}

/* ---- showing ---- */

static json_t *
profile_keys_value_json (const struct profile_key *key, const struct profile *profile)
{
  GStrv words;
  switch (key->type) {
  case PROFILE_TEXT:
    return json_text_or_null (*FIELD (profile, key, char *));
  case PROFILE_CHOICE:
    return json_string (key->choices[*FIELD (profile, key, guint)]);
  case PROFILE_BOOLEAN:
    return json_boolean (*FIELD (profile, key, gboolean));
  case PROFILE_LIST:
    words = *FIELD (profile, key, GStrv);
    return words ? json_of_texts ((const char *const *)words) : json_null ();
  case PROFILE_COUNT:
  case PROFILE_DURATION:
    break;
  }
  guint64 number = *FIELD (profile, key, guint64);
  return number < key->minimum ? json_null () : json_integer ((json_int_t)number);
}

json_t *
profile_group_show (const struct profile_group *group, const struct profile *profile)
{
  if (group->show)
    return group->show (profile);
  json_t *object = json_object ();
  for (const struct profile_key *key = group->keys; key && key->name; key++)
    json_object_set_new (object, key->name, profile_keys_value_json (key, profile));
  return object;
}

/* ---- releasing ---- */

static void
clear_key (const struct profile_key *key, struct profile *profile)
{
  if (key->type == PROFILE_TEXT)
    g_clear_pointer (FIELD (profile, key, char *), g_free);
  else if (key->type == PROFILE_LIST)
    g_clear_pointer (FIELD (profile, key, GStrv), g_strfreev);
}

void
profile_groups_clear (struct profile *profile)
{
  for (const struct profile_group *group = profile_groups; group->name; group++)
    for (const struct profile_key *key = group->keys; key && key->name; key++)
      clear_key (key, profile);
  g_clear_pointer (&profile->variables, g_hash_table_unref);
}
