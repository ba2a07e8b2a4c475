/* SPDX-License-Identifier: Apache-2.0 */
/* The cookie of a browser that signed in. Its value is a token's secret. Pure functions of bytes from
 * outside. */
#pragma once

#include <glib.h>

#include "interfaces/http/identify_browser.h"

/* Browsers take cookies of up to 4096 bytes, with their names and attributes. */
#define COOKIE_SECRET_MAX 3500

/* What a browser says of a request. Missing headers are NULL. */
struct cookie_request {
  const char *method;
  enum browser_origin origin;          /* by the header Origin */
  const char *fetch_site, *fetch_mode; /* Sec-Fetch-Site, Sec-Fetch-Mode */
};

/* Whether a cookie of this request counts: a page of this server's sent it, or the user did by opening an
 * address or a download. SameSite=Strict alone does not suffice, since all ports of a host are one site. */
gboolean cookie_counts (const struct cookie_request *request);

/* "adder-token-PORT", by the port that the browser sees, which is in HOST, the header (NULL: none): browsers
 * send the cookies of one port to all others. The caller's. */
char *cookie_name (const char *host, gboolean tls);

/* The value of the cookie NAME in COOKIES, the header (may be NULL). The caller's. NULL: it is missing, no
 * secret of a token, or there twice: another port, or a neighbouring domain, can add one of its own, and
 * nothing tells which is whose. */
char *cookie_find (const char *cookies, const char *name);

/* Whether SECRET may be a cookie's value. */
gboolean cookie_may_hold (const char *secret);

/* The header Set-Cookie for the cookie NAME with SECRET (cookie_may_hold) for AGE_S seconds; 0 removes it.
 * The caller's. */
char *cookie_header (const char *name, const char *secret, gint64 age_s, gboolean tls);
