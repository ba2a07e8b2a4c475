/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/identify_browser.h"

#include <arpa/inet.h>
#include <string.h>

#include "adder.h"
#include "common/text.h"

#define DNS_NAME_MAX 253 /* of a host, by the DNS */
#define HEADERS_MAX  1000
#define SECRET_MAX   8192
#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* ---- names ---- */

static gboolean
is_port (const char *text)
{
  gsize length = strlen (text);
  return length >= 1 && length <= 5 && strspn (text, "0123456789") == length;
}

/* The host of HOST[:PORT] or [ADDRESS][:PORT], in lower case; NULL: it is neither. The caller's. */
static char *
identify_browser_host_of (const char *text)
{
  const char *end;
  gboolean bracketed = text[0] == '[';
  if (bracketed)
    end = strchr (++text, ']');
  else
    end = text + strcspn (text, ":");
  gsize length = end ? (gsize)(end - text) : 0;
  if (length == 0 || length > DNS_NAME_MAX)
    return NULL;
  const char *rest = bracketed ? end + 1 : end;
  if (rest[0] != '\0' && (rest[0] != ':' || !is_port (rest + 1)))
    return NULL;
  g_autofree char *host = g_ascii_strdown (text, (gssize)length);
  if (strspn (host, bracketed ? "0123456789abcdef:.%" : ALPHANUMERIC "-._") != length)
    return NULL;
  return g_steal_pointer (&host);
}

/* Whether HOST is an address, except for 0.0.0.0 and its like, by which pages of others reach this machine.
 */
static gboolean
is_address (const char *host)
{
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton (AF_INET, host, &four) == 1)
    return four.s_addr != INADDR_ANY;
  if (inet_pton (AF_INET6, host, &six) != 1)
    return FALSE;
  gboolean zero = six.s6_addr32[3] == 0;
  return !IN6_IS_ADDR_UNSPECIFIED (&six) && !(IN6_IS_ADDR_V4MAPPED (&six) && zero);
}

/* ---- words ---- */

typedef gboolean (*word_test) (const char *word, gconstpointer data);

/* Whether TEST accepts any word of LIST; *RET_WORD (may be NULL) is that word, the caller's. */
static gboolean
any_word (const char *list, word_test test, gconstpointer data, char **ret_word)
{
  g_auto (GStrv) words = g_strsplit_set (list ? list : "", " \t,;", -1);
  for (gsize i = 0; words[i]; i++)
    if (words[i][0] && test (words[i], data)) {
      if (ret_word)
        *ret_word = g_strdup (words[i]);
      return TRUE;
    }
  return FALSE;
}

static gboolean
identify_browser_is_word (const char *word, gconstpointer data)
{
  return g_ascii_strcasecmp (word, data) == 0;
}

static gboolean
is_no_host (const char *word, gconstpointer data)
{
  (void)data;
  g_autofree char *host = identify_browser_host_of (word);
  return !host || g_ascii_strcasecmp (host, word) != 0;
}

/* The part of an origin after its scheme; NULL: malformed. */
static const char *
after_scheme (const char *origin)
{
  const char *colon = strstr (origin, "://");
  return colon && colon > origin && strspn (origin, ALPHANUMERIC "+-.") == (gsize)(colon - origin) ? colon + 3
                                                                                                   : NULL;
}

static gboolean
is_no_origin (const char *word, gconstpointer data)
{
  (void)data;
  const char *rest = after_scheme (word);
  g_autofree char *host = rest ? identify_browser_host_of (rest) : NULL;
  return host == NULL;
}

gboolean
browser_check_origins (const char *origins, GError **error)
{
  g_autofree char *word = NULL;
  if (!any_word (origins, is_no_origin, NULL, &word))
    return TRUE;
  g_autofree char *shown = text_one_line (word, DNS_NAME_MAX);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[http] origins: \"%s\" is no origin, as https://app.example or http://localhost:3000", shown);
  return FALSE;
}

gboolean
browser_check_hosts (const char *hosts, GError **error)
{
  g_autofree char *word = NULL;
  if (!any_word (hosts, is_no_host, NULL, &word))
    return TRUE;
  g_autofree char *shown = text_one_line (word, DNS_NAME_MAX);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[http] hosts: \"%s\" is no host's name or address, without a port", shown);
  return FALSE;
}

/* ---- headers ---- */

gboolean
browser_host_is_known (const char *host, const char *hosts)
{
  g_autofree char *name = identify_browser_host_of (host);
  if (!name)
    return FALSE;
  return strcmp (name, "localhost") == 0 || is_address (name) ||
         any_word (hosts, identify_browser_is_word, name, NULL);
}

enum browser_origin
browser_origin (const char *origin, const char *host, gboolean tls, const char *origins)
{
  if (!origin)
    return BROWSER_NO_PAGE;
  g_autofree char *own = g_strconcat (tls ? "https://" : "http://", host ? host : "", NULL);
  if (host && g_ascii_strcasecmp (origin, own) == 0)
    return BROWSER_OWN;
  return any_word (origins, identify_browser_is_word, origin, NULL) ? BROWSER_LISTED : BROWSER_FOREIGN;
}

gboolean
browser_is_header_list (const char *text)
{
  gsize length = strlen (text);
  return length <= HEADERS_MAX && strspn (text, ALPHANUMERIC "-_, ") == length;
}

gboolean
browser_is_secret (const char *text)
{
  gsize length = strlen (text), fit = strspn (text, ALPHANUMERIC "-._~+/");
  return length > 0 && length <= SECRET_MAX && fit > 0 && fit + strspn (text + fit, "=") == length;
}

const char *
browser_bearer (const char *authorization)
{
  if (g_ascii_strncasecmp (authorization, "Bearer ", 7) != 0)
    return NULL;
  const char *secret = authorization + 7 + strspn (authorization + 7, " ");
  return browser_is_secret (secret) ? secret : NULL;
}
