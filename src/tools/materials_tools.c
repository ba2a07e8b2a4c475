/* SPDX-License-Identifier: Apache-2.0 */
/* search_materials and list_materials_providers. */
#include "tools/materials_tools.h"

#include "common/json.h"
#include "materials/providers.h"
#include "tools/materials_call.h"
#include "tools/shapes.h"

#define ROWS_STANDARD 50

/* ---- search_materials ---- */

const struct field search_materials_parameters[] = {
    MATERIALS_QUERY_FIELDS,
    {.name = "rows",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = MATERIALS_STANDARD (ROWS_STANDARD),
     .minimum = 0,
     .maximum = MATERIALS_ROWS_MAX,
     .text = "How many materials the reply shows."},
    {.name = "explain",
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "false",
     .text = "Ask nobody: only say what would be asked."},
    {0},
};

static const struct field search_reply[] = {
    {.name = "rows",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "The materials, as many as the parameter rows says."},
    WHOLE ("materials", "How many there are."),
    MATERIALS_REPLY_FIELDS,
    {0},
};

static const struct field request_fields[] = {
    TEXT ("provider", "Who would be asked."),
    TEXT ("url", "With what."),
    {0},
};
static const struct field explain_reply[] = {
    TEXT ("filter", "What would be asked, in OPTIMADE's language."),
    LIST ("requests", request_fields, "The first request to each database."),
    {0},
};
const struct field *const search_materials_replies[] = {search_reply, explain_reply, NULL};

/* FOUND with its first rows alone; takes it. */
static json_t *
materials_tools_shorten (json_t *found, gsize most)
{
  json_t *rows = json_object_get (found, "rows");
  json_object_set_new (found, "materials", json_integer ((json_int_t)json_array_size (rows)));
  while (json_array_size (rows) > most)
    json_array_remove (rows, json_array_size (rows) - 1);
  return found;
}

void
search_materials_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct materials_call asked;
  struct materials_watch watch;
  materials_call_read (call, &asked);
  materials_call_watch (call, &watch);
  gboolean explain = call_flag (call, "explain");
  json_t *answer = explain ? materials_explain (&asked.search, &problem)
                           : materials_search (&asked.search, &watch, &problem);
  if (!answer)
    call_fail (call, problem);
  else
    call_reply (call, explain ? answer : materials_tools_shorten (answer, (gsize)call_integer (call, "rows")),
                NULL);
  materials_call_clear (&asked);
}

/* ---- list_materials_providers ---- */

const struct field list_materials_providers_parameters[] = {
    {.name = "refresh",
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "false",
     .text = "Read the federation's index now, however lately it was read."},
    {0},
};

static const struct field known_fields[] = {
    TEXT ("name", "By which it is named in parameters and sources."),
    TEXT ("title", "For people."),
    TEXT ("url", "Where it is."),
    TEXT ("source", "Who named it: configuration, built-in or index."),
    FLAG ("is_default", "Whether it is asked where nobody names one."),
    FLAG ("key", "Whether a key is sent to it."),
    {0},
};
static const struct field providers_reply[] = {
    LIST ("providers", known_fields, "Those that are known."),
    TEXTS ("warnings", "What else is to be known, such as that the index cannot be read."),
    {0},
};
const struct field *const list_materials_providers_replies[] = {providers_reply, NULL};

static json_t *
describe_providers (const GPtrArray *providers)
{
  json_t *list = json_array ();
  for (guint i = 0; i < providers->len; i++) {
    const struct provider *provider = g_ptr_array_index (providers, i);
    json_array_append_new (list, json_pack ("{s:s, s:s, s:s, s:s, s:b, s:b}", "name", provider->name, "title",
                                            provider->title ? provider->title : provider->name, "url",
                                            provider->url, "source", provider->source, "is_default",
                                            provider->is_default, "key", provider->key != NULL));
  }
  return list;
}

static json_t *
materials_tools_texts_of (const GPtrArray *texts)
{
  json_t *list = json_array ();
  for (guint i = 0; i < texts->len; i++)
    json_array_append_new (list, json_text_or_null (g_ptr_array_index (texts, i)));
  return list;
}

void
list_materials_providers_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) providers = providers_read (call->tools->config, call_flag (call, "refresh"),
                                                    call_cancel_fd (call), warnings, &problem);
  if (providers)
    call_reply (call,
                json_pack ("{s:o, s:o}", "providers", describe_providers (providers), "warnings",
                           materials_tools_texts_of (warnings)),
                NULL);
  else
    call_fail (call, problem);
}
