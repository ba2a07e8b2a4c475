/* SPDX-License-Identifier: Apache-2.0 */
/* Methods independent of what is offered: the beginning of a session, and the calls of providers.
 *
 * A list goes through the providers in turn. Its cursor is the number of a provider and that provider's own
 * cursor, in base64url to make it opaque: "2:" is where the third one begins. */
#include <string.h>

#include "common/config.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/era.h"
#include "interfaces/mcp/mcp_private.h"
#include "interfaces/mcp/request.h"
#include "interfaces/mcp/server.h"

#define CURSOR_BYTES    2048
#define COMPLETIONS_MAX 100 /* that one answer may have, by the protocol */
#define SHOWN_BYTES     128
#define CLIENT_BYTES    65536 /* of a client's description of itself, which its session keeps */

/* ---- the legacy era's beginning ---- */

void
method_initialize (struct mcp_request *request)
{
  const char *asked = json_string_value (json_object_get (request->params, "protocolVersion"));
  json_t *capabilities = json_object_get (request->params, "capabilities");
  json_t *client = json_object_get (request->params, "clientInfo");
  struct mcp_session *session = request->session;
  if (!asked || !json_is_object (capabilities) || !json_is_object (client)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL,
                 "initialize has the text protocolVersion and the objects capabilities and clientInfo");
    return;
  }
  if (json_dumpb (capabilities, NULL, 0, JSON_COMPACT) > CLIENT_BYTES ||
      json_dumpb (client, NULL, 0, JSON_COMPACT) > CLIENT_BYTES) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "capabilities and clientInfo have %d bytes each at most",
                 CLIENT_BYTES);
    return;
  }
  const char *known = era_legacy_version (asked), *version = known ? known : MCP_LEGACY_VERSION;
  gboolean again = FALSE;
  if (session) {
    g_mutex_lock (&session->lock);
    again = session->version != NULL;
    if (!again) {
      session->version = version;
      session->capabilities = json_incref (capabilities);
      session->client = json_incref (client);
    }
    g_mutex_unlock (&session->lock);
  }
  if (again) {
    mcp_problem (request, MCP_INVALID_REQUEST, NULL, "the session was initialized already");
    return;
  }
  request->version = version;
  g_autofree char *instructions = server_instructions (request);
  mcp_result (request, json_pack ("{s:s, s:o, s:o, s:s*}", "protocolVersion", version, "capabilities",
                                  server_capabilities (request), "serverInfo",
                                  server_info (mcp_speaks (request, MCP_TITLES_VERSION)), "instructions",
                                  instructions));
}

void
method_initialized (struct mcp_request *request)
{
  if (!request->session)
    return;
  g_mutex_lock (&request->session->lock);
  request->session->ready = TRUE;
  g_mutex_unlock (&request->session->lock);
  mcp_subscriptions_join (request);
}

void
method_ping (struct mcp_request *request)
{
  mcp_result (request, json_object ());
}

/* Already done by a transport, or not requested. */
void
method_ignore (G_GNUC_UNUSED struct mcp_request *request)
{
}

void
method_set_level (struct mcp_request *request)
{
  enum mcp_level level;
  if (!mcp_level_parse (json_string_value (json_object_get (request->params, "level")), &level)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL,
                 "level must be debug, info, notice, warning, error, critical, alert or emergency");
    return;
  }
  if (request->session) {
    g_mutex_lock (&request->session->lock);
    request->session->level = level;
    g_mutex_unlock (&request->session->lock);
  }
  mcp_result (request, json_object ());
}

/* ---- the modern era's ---- */

void
method_discover (struct mcp_request *request)
{
  g_autofree char *instructions = server_instructions (request);
  mcp_result (request, json_pack ("{s:o, s:o, s:s*}", "supportedVersions", era_versions (), "capabilities",
                                  server_capabilities (request), "instructions", instructions));
}

/* ---- lists ---- */

struct place {
  guint provider;
  char *cursor; /* the provider's own, or NULL */
};

static char *
place_to_text (guint provider, const char *cursor)
{
  g_autofree char *plain = g_strdup_printf ("%u:%s", provider, cursor ? cursor : "");
  char *text = g_base64_encode ((const guchar *)plain, strlen (plain));
  g_strdelimit (text, "+", '-');
  g_strdelimit (text, "/", '_');
  text[strcspn (text, "=")] = '\0';
  return text;
}

/* Exactly as place_to_text wrote it. */
static gboolean
place_from_text (const char *text, struct place *ret_place)
{
  g_autofree char *padded = g_strconcat (text, "===", NULL);
  padded[(strlen (text) + 3) / 4 * 4] = '\0';
  g_strdelimit (padded, "-", '+');
  g_strdelimit (padded, "_", '/');
  gsize length;
  g_autofree guchar *raw = g_base64_decode (padded, &length);
  g_autofree char *plain = g_strndup ((const char *)raw, length);
  char *colon = strchr (plain, ':');
  if (!colon || colon == plain || colon - plain > 4)
    return FALSE;
  *colon = '\0';
  guint64 number;
  if (!g_ascii_string_to_unsigned (plain, 10, 0, 9999, &number, NULL))
    return FALSE;
  const char *cursor = colon[1] != '\0' ? colon + 1 : NULL;
  g_autofree char *again = place_to_text ((guint)number, cursor);
  if (strcmp (again, text) != 0)
    return FALSE;
  *ret_place = (struct place){(guint)number, g_strdup (cursor)};
  return TRUE;
}

static mcp_list
methods_list_of (const struct mcp_provider *provider, gsize member)
{
  return *(const mcp_list *)(gconstpointer)((const char *)provider + member);
}

/* The first provider from FROM on that has the list MEMBER; the number of providers if none has. */
static guint
next_with (const GPtrArray *providers, guint from, gsize member)
{
  while (from < providers->len && !methods_list_of (g_ptr_array_index (providers, from), member))
    from++;
  return from;
}

/* Fills ROWS up to MOST. PLACE is where to continue; beyond the last provider the list ends. FALSE when a
 * provider replied with a problem. */
static gboolean
methods_gather (struct mcp_request *request, gsize member, guint most, json_t *rows, struct place *place)
{
  const GPtrArray *providers = request->server->providers;
  place->provider = next_with (providers, place->provider, member);
  while (place->provider < providers->len && json_array_size (rows) < most) {
    mcp_list list = methods_list_of (g_ptr_array_index (providers, place->provider), member);
    char *next = NULL;
    g_autoptr (json_t) page = list (request, place->cursor, most - (guint)json_array_size (rows), &next);
    if (!page)
      return FALSE;
    json_array_extend (rows, page);
    g_free (place->cursor);
    place->cursor = next;
    if (!next)
      place->provider = next_with (providers, place->provider + 1, member);
  }
  return TRUE;
}

static gboolean
bad_cursor (struct mcp_request *request)
{
  mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is no such cursor: begin again without one");
  return FALSE;
}

/* A client without a cursor may send an empty one. */
static gboolean
take_cursor (struct mcp_request *request, gsize member, struct place *place)
{
  const GPtrArray *providers = request->server->providers;
  const json_t *given = json_object_get (request->params, "cursor");
  const char *text = json_string_value (given);
  if (!given || (text && text[0] == '\0'))
    return TRUE;
  if (!text || strlen (text) > CURSOR_BYTES || !place_from_text (text, place) ||
      place->provider >= providers->len ||
      !methods_list_of (g_ptr_array_index (providers, place->provider), member))
    return bad_cursor (request);
  return TRUE;
}

static void
methods_list (struct mcp_request *request, const char *name, gsize member)
{
  struct place place = {0};
  guint most = (guint)request->server->service->config->mcp_page_rows;
  json_t *rows = json_array ();
  if (take_cursor (request, member, &place) && methods_gather (request, member, most, rows, &place)) {
    json_t *result = json_pack ("{s:O}", name, rows);
    if (place.provider < request->server->providers->len) {
      g_autofree char *cursor = place_to_text (place.provider, place.cursor);
      json_object_set_new (result, "nextCursor", json_string (cursor));
    }
    mcp_result (request, result);
  }
  json_decref (rows);
  g_free (place.cursor);
}

#define LIST(member) offsetof (struct mcp_provider, member)

void
method_list_tools (struct mcp_request *request)
{
  methods_list (request, "tools", LIST (list_tools));
}

void
method_list_resources (struct mcp_request *request)
{
  methods_list (request, "resources", LIST (list_resources));
}

void
method_list_templates (struct mcp_request *request)
{
  methods_list (request, "resourceTemplates", LIST (list_templates));
}

void
method_list_prompts (struct mcp_request *request)
{
  methods_list (request, "prompts", LIST (list_prompts));
}

json_t *
mcp_page (struct mcp_request *request, json_t *whole, const char *cursor, guint most, char **ret_cursor)
{
  guint64 from = 0, count = json_array_size (whole);
  if (cursor && !g_ascii_string_to_unsigned (cursor, 10, 1, count, &from, NULL)) {
    json_decref (whole);
    bad_cursor (request);
    return NULL;
  }
  if (from == 0 && count <= most)
    return whole;
  json_t *page = json_array ();
  for (guint64 i = from; i < count && i < from + most; i++)
    json_array_append (page, json_array_get (whole, i));
  if (from + most < count)
    *ret_cursor = g_strdup_printf ("%" G_GUINT64_FORMAT, from + most);
  json_decref (whole);
  return page;
}

/* ---- by name ---- */

/* The text NAME of the params, or NULL with a problem. */
static const char *
methods_take_text (struct mcp_request *request, const char *name)
{
  const char *text = json_string_value (json_object_get (request->params, name));
  if (!text)
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s must be text", name);
  return text;
}

/* The object "arguments" of the params: *RET_OWNED, the caller's, if absent. NULL with a problem. */
static json_t *
take_arguments (struct mcp_request *request, json_t **ret_owned)
{
  json_t *arguments = json_object_get (request->params, "arguments");
  if (!arguments || json_is_null (arguments))
    return *ret_owned = json_object ();
  if (json_is_object (arguments))
    return arguments;
  mcp_problem (request, MCP_INVALID_PARAMS, NULL, "arguments must be an object");
  return NULL;
}

static void
methods_not_there (struct mcp_request *request, const char *what, const char *name)
{
  g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
  mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is no %s \"%s\"", what, shown);
}

gboolean
mcp_server_call_tool (struct mcp_request *request, const char *name, json_t *arguments)
{
  const GPtrArray *providers = request->server->providers;
  for (guint i = 0; i < providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    if (provider->call_tool && provider->call_tool (request, name, arguments))
      return TRUE;
  }
  return FALSE;
}

void
method_call_tool (struct mcp_request *request)
{
  g_autoptr (json_t) owned = NULL;
  const char *name = methods_take_text (request, "name");
  json_t *arguments = name ? take_arguments (request, &owned) : NULL;
  if (arguments)
    mcp_tasks_call (request, name, arguments);
}

void
method_read_resource (struct mcp_request *request)
{
  const GPtrArray *providers = request->server->providers;
  const char *uri = methods_take_text (request, "uri");
  for (guint i = 0; uri && i < providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    if (provider->read_resource && provider->read_resource (request, uri))
      return;
  }
  if (uri)
    mcp_problem (request, MCP_RESOURCE_NOT_FOUND, json_pack ("{s:s}", "uri", uri),
                 "there is no such resource");
}

void
method_get_prompt (struct mcp_request *request)
{
  const GPtrArray *providers = request->server->providers;
  g_autoptr (json_t) owned = NULL;
  const char *name = methods_take_text (request, "name");
  json_t *arguments = name ? take_arguments (request, &owned) : NULL;
  for (guint i = 0; arguments && i < providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    if (provider->get_prompt && provider->get_prompt (request, name, arguments))
      return;
  }
  if (arguments)
    methods_not_there (request, "prompt", name);
}

/* ---- completion ---- */

void
method_complete (struct mcp_request *request)
{
  const GPtrArray *providers = request->server->providers;
  const json_t *ref = json_object_get (request->params, "ref");
  const json_t *argument = json_object_get (request->params, "argument");
  const char *type = json_string_value (json_object_get (ref, "type"));
  const char *name = json_string_value (json_object_get (argument, "name"));
  const char *value = json_string_value (json_object_get (argument, "value"));
  const json_t *known = json_object_get (json_object_get (request->params, "context"), "arguments");
  if (!type || !name || !value || (known && !json_is_object (known))) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL,
                 "completion has ref {type, ...} and argument {name, value}, texts");
    return;
  }
  for (guint i = 0; i < providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    if (provider->complete && provider->complete (request, ref, name, value, known))
      return;
  }
  mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is nothing of that reference to complete");
}

void
mcp_completion (struct mcp_request *request, json_t *values)
{
  gsize count = json_array_size (values);
  while (json_array_size (values) > COMPLETIONS_MAX)
    json_array_remove (values, json_array_size (values) - 1);
  mcp_result (request, json_pack ("{s:{s:o, s:I, s:b}}", "completion", "values", values, "total",
                                  (json_int_t)count, "hasMore", count > COMPLETIONS_MAX));
}
