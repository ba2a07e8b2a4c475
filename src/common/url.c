/* SPDX-License-Identifier: Apache-2.0 */
#include "common/url.h"

#include <arpa/inet.h>

gboolean
url_host_is_local (const char *host)
{
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton (AF_INET, host, &four) == 1)
    return (ntohl (four.s_addr) >> 24) == 127;
  if (inet_pton (AF_INET6, host, &six) == 1)
    return IN6_IS_ADDR_LOOPBACK (&six);
  return g_ascii_strcasecmp (host, "localhost") == 0 || g_str_has_suffix (host, ".localhost");
}

gboolean
url_keeps_secrets (GUri *uri)
{
  const char *host = g_uri_get_host (uri);
  return g_str_equal (g_uri_get_scheme (uri), "https") ||
         (host && g_str_equal (g_uri_get_scheme (uri), "http") && url_host_is_local (host));
}
