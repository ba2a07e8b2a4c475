/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked: databases that speak OPTIMADE. Those of materials.conf and the list that Adder comes with
 * stand before those of the federation's index, which is read now and then and kept in the cache. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"

#define PROVIDER_NAME_MAX 64
#define PROVIDERS_MAX     500
#define PROVIDERS_FILE    "materials.conf" /* in the folder of the configuration; a group is a provider */

struct provider {
  char *name;           /* "mp": what people call it, [a-z0-9_-] */
  char *title;          /* for people */
  char *url;            /* base URL, versioned or not, without a slash at its end */
  char *key;            /* sent as X-API-KEY, or NULL */
  char *unfit;          /* why it cannot be asked: its key cannot be had; or NULL */
  const char *source;   /* "configuration", "built-in", "index"; static */
  gboolean only_public; /* of the index, which does not decide what in an intranet is asked */
  gboolean is_default;  /* asked where nobody names one */
  guint page_limit;     /* records a page asked for */
  guint64 wait_ms;      /* for one page */
};

/* All that are known, as array of struct provider, freed with it. Reads the cache, refreshes it over the
 * network where it is older than [materials] index_age_ms (REFRESH: at once); that the index cannot be had is
 * a line in WARNINGS (of char *), and what is known otherwise stands. CONFIG NULL: without the index. NULL
 * with ERROR: materials.conf cannot be read. */
GPtrArray *providers_read (const struct config *config, gboolean refresh, int cancel_fd, GPtrArray *warnings,
                           GError **error);

/* The one called NAME. ADDER_ERROR_NOT_FOUND says which was meant, or how they are listed. */
const struct provider *providers_find (const GPtrArray *providers, const char *name, GError **error);

void provider_free (struct provider *provider);

/* ---- where they come from ---- */

/* Of materials.conf, in the file's order; none where there is no file. */
GPtrArray *providers_of_file (GError **error);
/* Those that Adder comes with. */
GPtrArray *providers_of_ours (void);
/* Of the federation's index, from the cache or over the network. What went wrong is a line in WARNINGS. */
GPtrArray *providers_of_index (const struct config *config, gboolean refresh, int cancel_fd,
                               GPtrArray *warnings);

/* A provider with what is usual; URL is cleaned. NULL with ERROR where NAME or URL will not do. */
struct provider *provider_new (const char *name, const char *title, const char *url, const char *source,
                               GError **error);
