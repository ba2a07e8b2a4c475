/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked: databases that speak OPTIMADE. Those of materials.conf and the list that Adder comes with
 * stand before those of the federation's index, which is read now and then and kept in the cache. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define PROVIDER_NAME_MOST 64
#define PROVIDERS_MOST     200

struct provider {
  char *name;          /* "mp": what people call it, [a-z0-9_-] */
  char *title;         /* for people */
  char *url;           /* base URL, versioned or not, without a slash at its end */
  char *key;           /* sent as X-API-KEY, or NULL */
  const char *source;  /* "configuration", "built-in", "index"; static */
  gboolean is_default; /* asked where nobody names one */
  guint page_limit;    /* records a page asked for */
  guint64 wait_ms;     /* for one page */
};

/* All that are known, as array of struct provider, freed with it. Reads the cache, refreshes it over the
 * network where it is older than [materials] index_age_ms (REFRESH: at once); that the index cannot be had is
 * a line in WARNINGS (of char *), and what is known otherwise stands. NULL with ERROR: materials.conf cannot
 * be read. */
GPtrArray *providers_read (gboolean refresh, int cancel_fd, GPtrArray *warnings, GError **error);

/* The one called NAME. ADDER_ERROR_NOT_FOUND says which was meant, or how they are listed. */
const struct provider *providers_find (const GPtrArray *providers, const char *name, GError **error);

void provider_free (struct provider *provider);
