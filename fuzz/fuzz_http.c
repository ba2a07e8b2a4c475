/* SPDX-License-Identifier: Apache-2.0 */
/* What a request over HTTP says, as far as we read it ourselves. The first byte chooses the part: hosts and
 * origins, paths, queries, forms, ranges, the file of tokens, an authorization server's answer, cookies. */
#include <string.h>

#include "common/json.h"
#include "fuzz/fuzz.h"
#include "interfaces/http/http_multipart.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/http_range.h"
#include "interfaces/http/identify_browser.h"
#include "interfaces/http/identify_cookie.h"
#include "interfaces/http/oauth.h"
#include "policy/tokens_file.h"

/* A host that is known is one of those that may be; an origin that is let in is own or listed. */
static void
try_browser (const char *text, gsize length)
{
  (void)length;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 2);
  const char *host = lines[0] ? lines[0] : "", *origin = lines[0] && lines[1] ? lines[1] : "";
  if (browser_host_is_known (host, "adder.lan"))
    FUZZ_REQUIRE (g_ascii_strncasecmp (host, "localhost", 9) == 0 ||
                  strspn (host, "0123456789.") == strcspn (host, ":") ||
                  g_ascii_strncasecmp (host, "adder.lan", 9) == 0 || host[0] == '[');
  if (browser_origin (origin, host, FALSE, "https://app.example") == BROWSER_LISTED)
    FUZZ_REQUIRE (g_ascii_strcasecmp (origin, "https://app.example") == 0);
  if (browser_is_header_list (text))
    FUZZ_REQUIRE (!strpbrk (text, "\r\n:"));
  const char *secret = browser_bearer (text);
  FUZZ_REQUIRE (!secret || (secret > text && !strpbrk (secret, " \t\r\n\",;")));
  g_autoptr (GError) problem = NULL;
  FUZZ_REQUIRE (browser_check_origins (text, &problem) == !problem);
}

static void
try_path (const char *text, gsize length)
{
  (void)length;
  http_operations_fill ();
  g_autoptr (GHashTable) parameters = NULL;
  g_autofree char *allow = NULL;
  const struct http_route *route = http_route_find (http_all_routes, "GET", text, &parameters, &allow);
  GHashTableIter iter;
  gpointer name, value;
  if (!route)
    return;
  g_hash_table_iter_init (&iter, parameters);
  while (g_hash_table_iter_next (&iter, &name, &value))
    FUZZ_REQUIRE (strchr (route->path, '{') && g_utf8_validate (value, -1, NULL));
}

static void
try_query (const char *text, gsize length)
{
  (void)length;
  http_operations_fill ();
  for (gsize t = 0; http_all_routes[t]; t++)
    for (const struct http_route *route = http_all_routes[t]; route->path; route++) {
      g_autoptr (GError) problem = NULL;
      g_autoptr (json_t) query = route->query ? http_query_parse (route, text, &problem) : NULL;
      FUZZ_REQUIRE (!route->query || (query != NULL) == (problem == NULL));
    }
}

static gboolean
read_form (const char *text, gsize length, gsize step, guint64 *ret_bytes, gsize *ret_count)
{
  struct http_multipart *form = http_multipart_new ("multipart/form-data; boundary=b", NULL);
  gboolean ok = TRUE;
  for (gsize at = 0; ok && at < length; at += step)
    ok = http_multipart_add (form, text + at, MIN (step, length - at), NULL);
  ok = ok && http_multipart_end (form, NULL);
  const struct http_part *parts = http_multipart_parts (form, ret_count);
  *ret_bytes = 0;
  for (gsize i = 0; ok && i < *ret_count; i++)
    *ret_bytes += parts[i].bytes;
  FUZZ_REQUIRE (!ok || *ret_bytes <= length);
  http_multipart_free (form);
  return ok;
}

/* However the bytes come in pieces, the parts are the same. */
static void
try_form (const char *text, gsize length)
{
  guint64 whole_bytes, single_bytes;
  gsize whole_count, single_count;
  gboolean whole = read_form (text, length, length + 1, &whole_bytes, &whole_count);
  gboolean single = read_form (text, length, 1, &single_bytes, &single_count);
  FUZZ_REQUIRE (whole == single);
  FUZZ_REQUIRE (!whole || (whole_count == single_count && whole_bytes == single_bytes));
}

static void
try_range (const char *text, gsize length)
{
  (void)length;
  static const guint64 totals[] = {0, 1, 100, G_MAXINT64};
  for (gsize i = 0; i < G_N_ELEMENTS (totals); i++) {
    guint64 first = 0, count = 0;
    if (http_range_parse (text, totals[i], &first, &count) == HTTP_RANGE_PART)
      FUZZ_REQUIRE (count > 0 && first < totals[i] && count <= totals[i] - first);
  }
  (void)http_range_has_tag (text, "\"abc\"", TRUE);
}

static void
try_tokens (const char *text, gsize length)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GPtrArray) tokens = tokens_parse (text, length, &problem);
  FUZZ_REQUIRE ((tokens != NULL) == (problem == NULL));
  for (guint i = 0; tokens && i < tokens->len; i++) {
    const struct token *token = tokens->pdata[i];
    FUZZ_REQUIRE (token_check_name (token->name, NULL) && strlen (token->digest) == 64);
    FUZZ_REQUIRE (token->role <= ROLE_ADMIN && token->expires_ms >= 0);
  }
}

static void
try_answer (const char *text, gsize length)
{
  static const struct config config = {
      .oauth_issuer = (char *)"https://as.example",
      .oauth_resource = (char *)"https://adder.example",
      .oauth_scopes = (char *)"run=user",
      .role_default = (char *)"guest",
  };
  struct principal *who = NULL;
  gint64 until_ms = 0;
  enum oauth_answer answer = oauth_judge (&config, text, length, 1000, &who, &until_ms);
  FUZZ_REQUIRE ((answer == OAUTH_KNOWN) == (who != NULL));
  FUZZ_REQUIRE (!who ||
                (who->role == ROLE_USER && g_str_has_prefix (who->owner, "oauth") && !who->may_decide));
  principal_unref (who);
}

/* A host, then cookies: what is found can be sent back as a cookie, and stands in them. */
static void
try_cookie (const char *text, gsize length)
{
  (void)length;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 2);
  g_autofree char *name = cookie_name (lines[0], FALSE);
  FUZZ_REQUIRE (g_str_has_prefix (name, "adder-token-") && strlen (name) <= strlen ("adder-token-65535"));
  g_autofree char *found = cookie_find (lines[0] ? lines[1] : NULL, name);
  if (!found)
    return;
  FUZZ_REQUIRE (cookie_may_hold (found) && strstr (lines[1], name) && strstr (lines[1], found));
  g_autofree char *set = cookie_header (name, found, 1, FALSE);
  FUZZ_REQUIRE (!strpbrk (set, "\r\n") && strchr (set, ';') == set + strlen (name) + 1 + strlen (found));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static void (*const parts[]) (const char *text, gsize length) = {
      try_browser, try_path, try_query, try_form, try_range, try_tokens, try_answer, try_cookie,
  };
  if (size < 2)
    return 0;
  g_autofree char *text = g_strndup ((const char *)data + 1, size - 1);
  g_autofree char *bytes = g_memdup2 (data + 1, size - 1);
  gsize part = data[0] % G_N_ELEMENTS (parts);
  gboolean binary = parts[part] == try_form || parts[part] == try_tokens || parts[part] == try_answer;
  parts[part](binary ? bytes : text, binary ? size - 1 : strlen (text));
  return 0;
}
