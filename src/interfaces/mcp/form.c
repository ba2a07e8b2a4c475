/* SPDX-License-Identifier: Apache-2.0 */
/* Forms are flat: an object of texts, numbers, booleans, and choices of one or several. */
#include "interfaces/mcp/form.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"

#define SHOWN 60 /* bytes of a name in an error */

static gboolean
form_wrong (GError **error, const char *name, const char *what)
{
  g_autofree char *shown = text_one_line (name, SHOWN);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s %s", shown, what);
  return FALSE;
}

/* ---- texts ---- */

static gboolean
form_is_digits (const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isdigit (text[i]))
      return FALSE;
  return TRUE;
}

/* Whether TEXT begins with YYYY-MM-DD, a valid date. */
static gboolean
has_date (const char *text)
{
  if (strlen (text) < 10 || !form_is_digits (text, 4) || text[4] != '-' || !form_is_digits (text + 5, 2) ||
      text[7] != '-' || !form_is_digits (text + 8, 2))
    return FALSE;
  guint year = (guint)g_ascii_strtoull (text, NULL, 10), month = (guint)g_ascii_strtoull (text + 5, NULL, 10);
  guint day = (guint)g_ascii_strtoull (text + 8, NULL, 10);
  return year >= 1 && month >= 1 && month <= 12 &&
         g_date_valid_dmy ((GDateDay)day, (GDateMonth)month, (GDateYear)year);
}

static gboolean
is_date (const char *text)
{
  return strlen (text) == 10 && has_date (text);
}

static gboolean
is_moment (const char *text)
{
  if (!has_date (text) || strlen (text) > 64)
    return FALSE;
  g_autoptr (GDateTime) moment = g_date_time_new_from_iso8601 (text, NULL);
  return moment != NULL; /* without an offset: invalid */
}

static gboolean
is_email (const char *text)
{
  const char *at = strrchr (text, '@');
  return at && at > text && at[1] != '\0' && !strpbrk (text, " \t\r\n<>") && at - text <= 64;
}

static gboolean
is_uri (const char *text)
{
  return g_uri_is_valid (text, G_URI_FLAGS_NONE, NULL);
}

static const struct {
  const char *name;
  gboolean (*fits) (const char *text);
} formats[] = {{"date", is_date}, {"date-time", is_moment}, {"email", is_email}, {"uri", is_uri}};

static gboolean
check_format (const char *name, const json_t *row, const char *text, GError **error)
{
  const char *format = json_string_value (json_object_get (row, "format"));
  for (gsize i = 0; format && i < G_N_ELEMENTS (formats); i++)
    if (strcmp (formats[i].name, format) == 0 && !formats[i].fits (text)) {
      g_autofree char *what = g_strdup_printf ("must be of the format %s", format);
      return form_wrong (error, name, what);
    }
  return TRUE;
}

/* ---- bounds ---- */

/* Whether VALUE is between the members LEAST and MOST of ROW, if present. */
static gboolean
form_check_bounds (const char *name, const json_t *row, const char *least, const char *most, double value,
                   const char *of, GError **error)
{
  const json_t *low = json_object_get (row, least), *high = json_object_get (row, most);
  g_autofree char *what = NULL;
  if (json_is_number (low) && value < json_number_value (low))
    what = g_strdup_printf ("must have %s %g at least", of, json_number_value (low));
  else if (json_is_number (high) && value > json_number_value (high))
    what = g_strdup_printf ("must have %s %g at most", of, json_number_value (high));
  return !what || form_wrong (error, name, what);
}

/* ---- choices ---- */

/* The words that ROW ("enum", "oneOf" or "anyOf" of constants) allows; FALSE: it is no choice. */
static gboolean
form_is_choice (const json_t *row)
{
  return json_is_array (json_object_get (row, "enum")) || json_is_array (json_object_get (row, "oneOf")) ||
         json_is_array (json_object_get (row, "anyOf"));
}

static gboolean
has_choice (const json_t *row, const json_t *value)
{
  static const char *const lists[] = {"oneOf", "anyOf"};
  gsize index;
  json_t *item;
  json_array_foreach (json_object_get (row, "enum"), index, item)
  {
    if (json_equal (item, value))
      return TRUE;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    json_array_foreach (json_object_get (row, lists[i]), index, item)
    {
      if (json_equal (json_object_get (item, "const"), value))
        return TRUE;
    }
  return FALSE;
}

/* ---- types ---- */

static gboolean
form_check_text (const char *name, const json_t *row, const json_t *value, GError **error)
{
  if (!json_is_string (value))
    return form_wrong (error, name, "must be text");
  if (form_is_choice (row))
    return has_choice (row, value) || form_wrong (error, name, "is not one of the choices");
  const char *text = json_string_value (value);
  return form_check_bounds (name, row, "minLength", "maxLength", (double)g_utf8_strlen (text, -1),
                            "a number of characters of", error) &&
         check_format (name, row, text, error);
}

static gboolean
form_check_number (const char *name, const json_t *row, const json_t *value, GError **error)
{
  if (!json_is_number (value))
    return form_wrong (error, name, "must be a number");
  return form_check_bounds (name, row, "minimum", "maximum", json_number_value (value), "a value of", error);
}

static gboolean
check_integer (const char *name, const json_t *row, const json_t *value, GError **error)
{
  /* 3.0 is an integer to JSON Schema. */
  double number = json_number_value (value);
  if (!json_is_integer (value) &&
      !(json_is_real (value) && number >= -1e15 && number <= 1e15 && number - (double)(gint64)number == 0.0))
    return form_wrong (error, name, "must be an integer");
  return form_check_number (name, row, value, error);
}

static gboolean
check_boolean (const char *name, G_GNUC_UNUSED const json_t *row, const json_t *value, GError **error)
{
  return json_is_boolean (value) || form_wrong (error, name, "must be true or false");
}

static gboolean
check_list (const char *name, const json_t *row, const json_t *value, GError **error)
{
  const json_t *items = json_object_get (row, "items");
  gsize index;
  json_t *item;
  if (!json_is_array (value))
    return form_wrong (error, name, "must be a list");
  if (!form_check_bounds (name, row, "minItems", "maxItems", (double)json_array_size (value),
                          "a number of items of", error))
    return FALSE;
  json_array_foreach (value, index, item)
  {
    if (!json_is_string (item) || !has_choice (items, item))
      return form_wrong (error, name, "has something that is not one of the choices");
  }
  return TRUE;
}

static const struct {
  const char *type;
  gboolean (*check) (const char *name, const json_t *row, const json_t *value, GError **error);
} types[] = {
    {"string", form_check_text}, {"number", form_check_number}, {"integer", check_integer},
    {"boolean", check_boolean},  {"array", check_list},
};

static gboolean
check_member (const char *name, const json_t *row, const json_t *value, GError **error)
{
  const char *type = json_member_text (row, "type");
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].type, type) == 0)
      return types[i].check (name, row, value, error);
  return has_choice (row, value) || form_wrong (error, name, "is not one of the choices");
}

static gboolean
form_is_required (const json_t *schema, const char *name)
{
  gsize index;
  json_t *item;
  json_array_foreach (json_object_get (schema, "required"), index, item)
  {
    if (g_strcmp0 (json_string_value (item), name) == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
mcp_form_check (const json_t *schema, const json_t *content, GError **error)
{
  const char *name;
  json_t *row;
  if (!json_is_object (content))
    return form_wrong (error, "content", "must be an object");
  json_object_foreach (json_object_get (schema, "properties"), name, row)
  {
    const json_t *value = json_object_get (content, name);
    if (json_is_null (value)) /* clients that send all fields use null for omitted ones */
      value = NULL;
    if (!value && form_is_required (schema, name))
      return form_wrong (error, name, "must be given");
    if (value && !check_member (name, row, value, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- answers ---- */

static gboolean
is_url_mode (const json_t *params)
{
  return strcmp (json_member_text (params, "mode"), "url") == 0;
}

static gboolean
check_elicitation (const json_t *params, const json_t *answer, GError **error)
{
  const char *action = json_member_text (answer, "action");
  if (strcmp (action, "decline") == 0 || strcmp (action, "cancel") == 0)
    return TRUE;
  if (strcmp (action, "accept") != 0)
    return form_wrong (error, "action", "must be accept, decline or cancel");
  return is_url_mode (params) || mcp_form_check (json_object_get (params, "requestedSchema"),
                                                 json_object_get (answer, "content"), error);
}

static gboolean
check_message (G_GNUC_UNUSED const json_t *params, const json_t *answer, GError **error)
{
  const json_t *content = json_object_get (answer, "content");
  const char *role = json_member_text (answer, "role");
  if (strcmp (role, "assistant") != 0 && strcmp (role, "user") != 0)
    return form_wrong (error, "role", "must be assistant or user");
  return json_is_object (content) || json_is_array (content) ||
         form_wrong (error, "content", "must be an object or a list");
}

static gboolean
form_check_roots (G_GNUC_UNUSED const json_t *params, const json_t *answer, GError **error)
{
  const json_t *roots = json_object_get (answer, "roots");
  gsize index;
  json_t *root;
  if (!json_is_array (roots))
    return form_wrong (error, "roots", "must be a list");
  json_array_foreach (roots, index, root)
  {
    if (!json_is_string (json_object_get (root, "uri")))
      return form_wrong (error, "roots", "has something without a uri");
  }
  return TRUE;
}

static const struct {
  const char *method, *capability;
  gboolean (*check) (const json_t *params, const json_t *answer, GError **error);
} methods[] = {
    {"elicitation/create", "elicitation", check_elicitation},
    {"sampling/createMessage", "sampling", check_message},
    {"roots/list", "roots", form_check_roots},
};

gboolean
mcp_answer_check (const char *method, const json_t *params, const json_t *answer, GError **error)
{
  if (!json_is_object (answer))
    return form_wrong (error, "the answer", "must be an object");
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    if (strcmp (methods[i].method, method) == 0)
      return methods[i].check (params, answer, error);
  return form_wrong (error, method, "is nothing that a client is asked");
}

json_t *
mcp_answer_needs (const char *method, const json_t *params)
{
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    if (strcmp (methods[i].method, method) == 0)
      return is_url_mode (params) ? json_pack ("{s:{s:{}}}", methods[i].capability, "url")
                                  : json_pack ("{s:{}}", methods[i].capability);
  return NULL;
}

gboolean
mcp_answer_is_able (const json_t *capabilities, const json_t *needs)
{
  const char *name;
  json_t *need;
  json_object_foreach ((json_t *)(guintptr)needs, name, need)
  {
    const json_t *has = json_object_get (capabilities, name);
    if (!json_is_object (has) || !mcp_answer_is_able (has, need))
      return FALSE;
  }
  /* A client that lists its ways of eliciting supports no others; one that lists none supports forms. */
  const json_t *elicitation = json_object_get (capabilities, "elicitation");
  if (json_object_size (json_object_get (needs, "elicitation")) > 0 ||
      !json_object_get (needs, "elicitation"))
    return TRUE;
  return json_object_size (elicitation) == 0 || json_object_get (elicitation, "form");
}
