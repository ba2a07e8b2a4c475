/* SPDX-License-Identifier: Apache-2.0 */
/* Browsers sign in with a one-time code or a token, and get it back as a cookie that pages cannot read. */
#include <string.h>

#include "common/field_rows.h"
#include "common/json.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/identify_cookie.h"
#include "operations/fields.h"
#include "operations/operation.h"

#define SIGN_IN "/v1/sign-in"

/* ---- handlers ---- */

/* SECRET for AGE_S seconds; 0: none any more. A proxy may speak TLS for the server, which the browser then
 * says. */
static void
set_cookie (struct http_request *request, const char *secret, gint64 age_s)
{
  gboolean tls = request->connection->listener->tls;
  const char *origin = http_header (request, "Origin");
  g_autofree char *name = cookie_name (http_header (request, "Host"), tls);
  gboolean secure = tls || (origin && g_ascii_strncasecmp (origin, "https://", 8) == 0);
  char *header = cookie_header (name, secret, age_s, secure);
  http_set_header (request, "Set-Cookie", header);
  explicit_bzero (header, strlen (header));
  g_free (header);
}

static void
reply_unknown (struct http_request *request, const struct identity *identity)
{
  http_set_identity_headers (request, identity);
  http_reply_problem_status (request, identity->status, identity->problem);
}

/* What GET /v1/caller answers to WHO. */
static void
reply_caller (struct http_request *request, const struct principal *who)
{
  g_autoptr (GError) problem = NULL;
  struct operation_caller caller = OPERATION_CALLER (http_service (request)->engine, who->owner, who->role);
  caller.profiles = principal_run_profiles (who);
  caller.who = who;
  json_t *value = operation_call (&caller, "caller.show", json_object (), &problem);
  if (value)
    http_reply_json (request, 200, value);
  else
    http_reply_problem (request, problem);
}

static void
sign_in (struct http_request *request)
{
  struct identify *identify = http_server_of (request)->identify;
  const json_t *body = http_body (request);
  const char *code = json_string_value (json_object_get (body, "code"));
  const char *token = json_string_value (json_object_get (body, "token"));
  struct identify_facts facts;
  struct identity identity;
  struct sign_in made = {0};
  if (!code == !token) {
    http_reply_fault (request, 400, "the body must have a code or a token, and not both");
    return;
  }
  http_facts (request, &facts);
  gboolean ok = code ? identify_exchange_code (identify, &facts, code, &made, &identity)
                     : identify_take_token (identify, &facts, token, &made, &identity);
  if (ok) {
    set_cookie (request, made.secret, made.age_s);
    explicit_bzero (made.secret, strlen (made.secret));
    g_free (made.secret);
    reply_caller (request, identity.who);
  } else
    reply_unknown (request, &identity);
  identity_clear (&identity);
}

static void
sign_out (struct http_request *request)
{
  struct identify_facts facts;
  struct identity identity;
  http_facts (request, &facts);
  if (identify_sign_out (http_server_of (request)->identify, &facts, &identity)) {
    set_cookie (request, "", 0);
    http_reply_status (request, 204);
  } else
    reply_unknown (request, &identity);
  identity_clear (&identity);
}

/* ---- the table ---- */

static const struct field sign_in_fields[] = {
    ASK_TEXT ("code", 128, "A one-time code of `adder open`."),
    ASK_TEXT ("token", 8192, "A token, of `adder token` or of the authorization server."),
    {0},
};

const struct http_route http_routes_sign_in[] = {
    {
        .method = "POST",
        .path = SIGN_IN,
        .operation = "signIn",
        .tag = "sign-in",
        .title = "Sign a browser in",
        .text =
            "Sets a cookie that identifies the caller in requests of this server's own pages, and answers "
            "what `GET /v1/caller` then does. Wrong codes and tokens get 401, and 429 if there are too "
            "many.",
        .flags = HTTP_OPEN | HTTP_SIGNS_IN,
        .body = sign_in_fields,
        .replies = caller_replies,
        .status = 200,
        .handle = sign_in,
    },
    {
        .method = "DELETE",
        .path = SIGN_IN,
        .operation = "signOut",
        .tag = "sign-in",
        .title = "Sign a browser out",
        .text = "Removes the cookie. A token that was made for this browser alone ends.",
        .flags = HTTP_OPEN | HTTP_SIGNS_IN,
        .status = 204,
        .handle = sign_out,
    },
    {0},
};
