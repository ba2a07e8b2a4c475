/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 9728: tells clients which authorization server issues tokens for this one. */
#include "adder.h"
#include "interfaces/http/http.h"
#include "interfaces/http/oauth.h"

static void
routes_oauth_reply (struct http_request *request, const char *suffix)
{
  json_t *document = oauth_document (http_service (request)->config, suffix);
  if (document) {
    http_set_header (request, "Cache-Control", "max-age=300");
    http_reply_json (request, 200, document);
    return;
  }
  g_autoptr (GError) problem = g_error_new (
      ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
      "this server takes no tokens of an authorization server: adder.conf has no [oauth] issuer");
  http_reply_problem (request, problem);
}

static void
routes_oauth_show_whole (struct http_request *request)
{
  routes_oauth_reply (request, "");
}

static void
show_mcp (struct http_request *request)
{
  routes_oauth_reply (request, "/mcp");
}

static const struct field document[] = {
    {"resource", FIELD_TEXT, .text = "The URL that tokens must be for."},
    {"authorization_servers", FIELD_LIST, .items = FIELD_TEXT, .text = "Who gives tokens for it."},
    {"scopes_supported", FIELD_LIST, .items = FIELD_TEXT, .text = "Scopes that make a role here."},
    {"bearer_methods_supported", FIELD_LIST, .items = FIELD_TEXT, .text = "Where a token may stand."},
    {"resource_name", FIELD_TEXT, .text = "A name for people."},
    FIELD_END ("ProtectedResource"),
};
static const struct field *const documents[] = {document, NULL};

const struct http_route http_routes_oauth[] = {
    {"GET", "/.well-known/oauth-protected-resource", "protectedResource", "meta", "who gives tokens",
     "The document of RFC 9728 for the whole server, where it takes tokens of an authorization server.",
     .flags = HTTP_OPEN, .replies = documents, .status = 200, .handle = routes_oauth_show_whole},
    {"GET", "/.well-known/oauth-protected-resource/mcp", "protectedResourceMcp", "meta",
     "who gives tokens for MCP", "The same for the endpoint of MCP.", .flags = HTTP_OPEN,
     .replies = documents, .status = 200, .handle = show_mcp},
    {NULL},
};
