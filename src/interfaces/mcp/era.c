/* SPDX-License-Identifier: Apache-2.0 */
/* Which era a message belongs to.
 *
 * The body comes first: a request whose _meta names a version is modern, whatever came before it on this
 * connection. Then HTTP headers: a modern version without its _meta is a mistake of a modern client, which
 * could not read a legacy answer. Then `initialize`, which only the legacy era has; a connection that began
 * with it stays legacy. */
#include "interfaces/mcp/era.h"

#include <string.h>

#include "interfaces/mcp/request.h"

#define BAD_REQUEST 400

static const char *const legacy_versions[] = {MCP_LEGACY_VERSION, "2025-06-18", MCP_BATCH_VERSION, NULL};

const char *
era_legacy_version (const char *version)
{
  for (gsize i = 0; legacy_versions[i]; i++)
    if (g_strcmp0 (legacy_versions[i], version) == 0)
      return legacy_versions[i];
  return NULL;
}

json_t *
era_versions (void)
{
  return json_pack ("[s]", MCP_MODERN_VERSION);
}

static gboolean
era_refuse (const struct mcp_request *request, int code, const char *text, json_t *data,
            struct mcp_reply *ret_reply)
{
  *ret_reply = (struct mcp_reply){mcp_error_message (request->id, code, text, data), BAD_REQUEST};
  return FALSE;
}

static gboolean
refuse_version (const struct mcp_request *request, const char *requested, struct mcp_reply *ret_reply)
{
  json_t *data = json_pack ("{s:o, s:s}", "supported", era_versions (), "requested", requested);
  return era_refuse (request, MCP_UNSUPPORTED_VERSION, "this version of the protocol is not spoken here",
                     data, ret_reply);
}

/* ---- the modern era ---- */

static const char *
find_modern_fault (const json_t *meta)
{
  const json_t *client = json_object_get (meta, MCP_META_CLIENT),
               *level = json_object_get (meta, MCP_META_LOG);
  enum mcp_level parsed;
  if (!json_is_string (json_object_get (meta, MCP_META_VERSION)))
    return "_meta has no text " MCP_META_VERSION;
  if (!json_is_object (json_object_get (meta, MCP_META_CAN)))
    return "_meta has no object " MCP_META_CAN;
  if (client && !json_is_object (client))
    return MCP_META_CLIENT " of _meta must be an object";
  if (level && !mcp_level_parse (json_string_value (level), &parsed))
    return MCP_META_LOG " of _meta must be a level: debug, info, notice, warning, error, critical, alert or "
                        "emergency";
  return NULL;
}

static gboolean
take_modern (struct mcp_request *request, struct mcp_reply *ret_reply)
{
  const char *fault = find_modern_fault (request->meta);
  const char *version = json_string_value (json_object_get (request->meta, MCP_META_VERSION));
  if (version && strcmp (version, MCP_MODERN_VERSION) != 0)
    return refuse_version (request, version, ret_reply);
  if (fault)
    return era_refuse (request, MCP_INVALID_PARAMS, fault, NULL, ret_reply);
  request->era = MCP_MODERN;
  request->version = MCP_MODERN_VERSION;
  request->capabilities = json_object_get (request->meta, MCP_META_CAN);
  request->client = json_object_get (request->meta, MCP_META_CLIENT);
  request->level = MCP_LEVEL_NONE;
  mcp_level_parse (json_string_value (json_object_get (request->meta, MCP_META_LOG)), &request->level);
  return TRUE;
}

/* Versions are dates, which compare as texts. */
static gboolean
is_modern_header (const char *header)
{
  return header && strcmp (header, MCP_MODERN_VERSION) >= 0;
}

static gboolean
refuse_modern (const struct mcp_request *request, const char *header, struct mcp_reply *ret_reply)
{
  if (strcmp (header, MCP_MODERN_VERSION) != 0)
    return refuse_version (request, header, ret_reply);
  return era_refuse (request, MCP_INVALID_PARAMS, find_modern_fault (request->meta), NULL, ret_reply);
}

/* ---- the legacy era ---- */

/* Requests before or outside any session. */
static gboolean
is_outside (const char *method)
{
  return strcmp (method, "initialize") == 0 || strcmp (method, "ping") == 0;
}

static void
take_legacy (struct mcp_request *request)
{
  struct mcp_session *session = request->session;
  request->era = MCP_LEGACY;
  request->version = MCP_LEGACY_VERSION;
  request->level = MCP_LEVEL_INFO;
  if (!session)
    return;
  g_mutex_lock (&session->lock);
  if (session->version)
    request->version = session->version;
  request->level = session->level;
  /* They are set once, by initialize, and live as long as the session. */
  if (session->capabilities)
    request->capabilities = session->capabilities;
  request->client = session->client;
  g_mutex_unlock (&session->lock);
}

static gboolean
has_begun (struct mcp_session *session)
{
  if (!session)
    return FALSE;
  g_mutex_lock (&session->lock);
  gboolean begun = session->version != NULL;
  g_mutex_unlock (&session->lock);
  return begun;
}

gboolean
era_decide (struct mcp_request *request, const char *method, const char *header, struct mcp_reply *ret_reply)
{
  gboolean notice = !request->id;
  if (json_object_get (request->meta, MCP_META_VERSION) && !notice)
    return take_modern (request, ret_reply);
  if (is_modern_header (header) && !notice)
    return refuse_modern (request, header, ret_reply);
  if (!notice && !is_outside (method) && !has_begun (request->session))
    return era_refuse (request, MCP_INVALID_PARAMS,
                       "the request has no _meta with " MCP_META_VERSION
                       ", and there was no initialize before it",
                       NULL, ret_reply);
  take_legacy (request);
  return TRUE;
}
