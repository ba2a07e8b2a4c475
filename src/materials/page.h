/* SPDX-License-Identifier: Apache-2.0 */
/* One page of an answer of OPTIMADE's /structures, as a provider gave it: read strictly, believed in nothing.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

struct page {
  json_t *entries;     /* array */
  char *next;          /* where the next page is, or NULL */
  gboolean leads_away; /* it says that the next one is on another server */
  gint64 available;    /* entries that fit the filter, as the provider counts them; -1: it does not say */
  gboolean has_more;   /* the provider says that there are more, whether it says where or not */
};
void page_clear (struct page *page);

/* Reads TEXT, the page at URL. ADDER_ERROR_INVALID says in a few words what is wrong with it. */
gboolean page_read (const char *text, gsize length, const char *url, struct page *ret_page, GError **error);

/* What a provider says of its refusal, in one line, or NULL. The caller's. */
char *page_read_refusal (const char *text, gsize length);

/* URL, absolute or as it stands on the page at BASE; NULL where it leads elsewhere than to BASE's scheme,
 * host and port. The caller's. */
char *page_url_here (const char *base, const char *url);
