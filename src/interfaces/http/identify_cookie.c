/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/identify_cookie.h"

#include <string.h>

#define COOKIE_PREFIX "adder-token-"
#define PORT_MAX      65535

/* ---- the request ---- */

static gboolean
cookie_changes_nothing (const char *method)
{
  return strcmp (method, "GET") == 0 || strcmp (method, "HEAD") == 0;
}

gboolean
cookie_counts (const struct cookie_request *request)
{
  if (request->origin == BROWSER_FOREIGN)
    return FALSE;
  /* Browsers that are old, and all of them where the server is another machine without TLS. */
  if (!request->fetch_site)
    return request->origin == BROWSER_OWN;
  if (strcmp (request->fetch_site, "same-origin") == 0)
    return TRUE;
  /* "none" is the user's own doing: an address that was typed, a bookmark. */
  return strcmp (request->fetch_site, "none") == 0 && cookie_changes_nothing (request->method) &&
         request->origin == BROWSER_NO_PAGE && g_strcmp0 (request->fetch_mode, "navigate") == 0;
}

/* ---- names ---- */

char *
cookie_name (const char *host, gboolean tls)
{
  const char *bracket = host ? strrchr (host, ']') : NULL;
  const char *colon = host ? strrchr (bracket ? bracket : host, ':') : NULL;
  guint64 port;
  if (!colon || !g_ascii_string_to_unsigned (colon + 1, 10, 1, PORT_MAX, &port, NULL))
    port = tls ? 443 : 80;
  return g_strdup_printf (COOKIE_PREFIX "%" G_GUINT64_FORMAT, port);
}

/* ---- values ---- */

gboolean
cookie_may_hold (const char *secret)
{
  return strnlen (secret, COOKIE_SECRET_MAX + 1) <= COOKIE_SECRET_MAX && browser_is_secret (secret);
}

/* The value in PART, "NAME=VALUE" of LENGTH bytes with blanks around it; NULL: it has another name. The
 * caller's. */
static char *
cookie_value_of (const char *part, gsize length, const char *name)
{
  while (length > 0 && (*part == ' ' || *part == '\t')) {
    part++;
    length--;
  }
  while (length > 0 && (part[length - 1] == ' ' || part[length - 1] == '\t'))
    length--;
  gsize named = strlen (name);
  return length > named && part[named] == '=' && memcmp (part, name, named) == 0
             ? g_strndup (part + named + 1, length - named - 1)
             : NULL;
}

char *
cookie_find (const char *cookies, const char *name)
{
  g_autofree char *found = NULL;
  while (cookies && *cookies) {
    gsize length = strcspn (cookies, ";");
    char *value = cookie_value_of (cookies, length, name);
    if (value && found) {
      g_free (value);
      return NULL;
    }
    found = value ? value : found;
    cookies += length + (cookies[length] == ';');
  }
  return found && cookie_may_hold (found) ? g_steal_pointer (&found) : NULL;
}

char *
cookie_header (const char *name, const char *secret, gint64 age_s, gboolean tls)
{
  return g_strdup_printf ("%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%" G_GINT64_FORMAT "%s", name,
                          age_s > 0 ? secret : "", MAX (age_s, 0), tls ? "; Secure" : "");
}
