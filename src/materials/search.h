/* SPDX-License-Identifier: Apache-2.0 */
/* A search: all providers at once, page after page of each, until there is enough. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "materials/query.h"

#define SEARCH_LIMIT         100
#define SEARCH_LIMIT_MAX     20000 /* records of each provider */
#define SEARCH_PROVIDERS_MAX 50
#define SEARCH_WAIT_MS       60000 /* of the whole */
#define SEARCH_WAIT_MAX_MS   3600000

struct materials_search {
  const struct config *config;
  struct materials_query query;
  const char *const
      *providers;  /* names; NULL: those that are asked by default; "all" alone: every one known */
  guint limit;     /* records of each provider */
  guint64 wait_ms; /* for the whole */
  gboolean raw;
};

/* How far it is, now and then, from the thread of the search. */
struct materials_progress {
  const char *provider; /* whose page came, or who is done */
  guint providers_done, providers;
  guint pages, rows; /* in all */
};

struct materials_watch {
  int cancel_fd; /* the search ends with what it has when this can be read; -1: never */
  void (*saw) (gpointer data, const struct materials_progress *progress); /* or NULL */
  gpointer data;
};

/* Searches. Never fails for what a provider did. A new reference:
 *
 *   { "filter": "...", "rows": [ rows of record.h, merged ], "records": 812, "complete": true, "interrupted":
 * false, "providers": [ { "name", "title", "url", "state": "ok" | "partial" | "failed", "records", "pages",
 * "available": int | null, "duplicates", "skipped", "wall_ms", "error": text | null, "hint": text | null } ],
 *     "warnings": [ text ] }
 *
 * complete: every provider gave all that it has within the limit. state partial: it gave some, then failed or
 * was cut off. NULL with ERROR: the question is none, a provider is not known, materials.conf cannot be read.
 */
json_t *materials_search (const struct materials_search *search, const struct materials_watch *watch,
                          GError **error);

/* What would be asked, without asking: { "filter", "requests": [ { "provider", "url" } ] }. */
json_t *materials_explain (const struct materials_search *search, GError **error);
