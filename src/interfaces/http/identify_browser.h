/* SPDX-License-Identifier: Apache-2.0 */
/* What a browser says of the page that made it ask: the headers Host and Origin. Pure functions of bytes from
 * outside. */
#pragma once

#include <glib.h>

/* An attacker's page can make a browser send requests anywhere (by a name of theirs that resolves there), but
 * not lie about the name. So: whether HOST, the header, is "localhost", an address, which is no name (behind
 * a mapped port it is not that of the connection), or one of HOSTS, words between blanks (may be NULL); with
 * or without a port. */
gboolean browser_host_is_known (const char *host, const char *hosts);

enum browser_origin {
  BROWSER_NO_PAGE, /* no browser, or a user's own navigation */
  BROWSER_OWN,     /* a page of this server's */
  BROWSER_LISTED,  /* another, of ORIGINS */
  BROWSER_FOREIGN,
};
/* The relation of ORIGIN (may be NULL) to a server called HOST. ORIGINS: words between blanks; may be
 * NULL. */
enum browser_origin browser_origin (const char *origin, const char *host, gboolean tls, const char *origins);

/* Whether each word of ORIGINS is SCHEME://HOST[:PORT]. ADDER_ERROR_INVALID names one that is not. */
gboolean browser_check_origins (const char *origins, GError **error);
/* The same for names of hosts. */
gboolean browser_check_hosts (const char *hosts, GError **error);

/* Whether TEXT is a list of header names, safe to send back. */
gboolean browser_is_header_list (const char *text);

/* Whether TEXT has the form of a bearer token (RFC 6750). */
gboolean browser_is_secret (const char *text);

/* The secret of "Bearer SECRET"; into AUTHORIZATION. NULL: it has another form. */
const char *browser_bearer (const char *authorization);
