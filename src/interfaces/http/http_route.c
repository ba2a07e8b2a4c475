/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to the row of a table of routes. */
#include <string.h>

#include "interfaces/http/http_private.h"

/* Whether PATH matches ROUTE, whose parts in braces match any one non-empty part. *RET_LITERAL: how many
 * parts are the row's own words; the texts of the others go into PARAMETERS, unless it is NULL. */
static gboolean
http_route_fits (const char *route, const char *path, guint *ret_literal, GHashTable *parameters)
{
  guint literal = 0;
  while (*route == '/' && *path == '/') {
    gsize of_route = strcspn (++route, "/"), of_path = strcspn (++path, "/");
    if (*route == '{') {
      if (of_path == 0)
        return FALSE;
      char *text = http_decode (path, of_path, FALSE);
      if (!text)
        return FALSE;
      if (parameters)
        g_hash_table_insert (parameters, g_strndup (route + 1, of_route - 2), text);
      else
        g_free (text);
    } else if (of_route == of_path && strncmp (route, path, of_path) == 0)
      literal++;
    else
      return FALSE;
    route += of_route;
    path += of_path;
  }
  *ret_literal = literal;
  return *route == '\0' && *path == '\0';
}

static void
allow_method (GPtrArray *methods, const char *method)
{
  if (!g_ptr_array_find_with_equal_func (methods, method, g_str_equal, NULL))
    g_ptr_array_add (methods, (char *)method);
}

static char *
name_methods (GPtrArray *methods)
{
  if (methods->len == 0)
    return NULL;
  if (g_ptr_array_find_with_equal_func (methods, "GET", g_str_equal, NULL))
    allow_method (methods, "HEAD");
  allow_method (methods, "OPTIONS");
  g_ptr_array_add (methods, NULL);
  return g_strjoinv (", ", (char **)methods->pdata);
}

const struct http_route *
http_route_find (const struct http_route *const *tables, const char *method, const char *path,
                 GHashTable **ret_parameters, char **ret_allow)
{
  const struct http_route *best = NULL;
  guint literal, most = 0;
  g_autoptr (GPtrArray) methods = g_ptr_array_new ();
  for (gsize t = 0; tables[t]; t++)
    for (const struct http_route *route = tables[t]; route->path; route++) {
      if (!http_route_fits (route->path, path, &literal, NULL))
        continue;
      allow_method (methods, route->method);
      /* The row with the most words of its own wins: /v1/records/stats before /v1/records/{run}. */
      if (strcmp (route->method, method) == 0 && (!best || literal > most)) {
        best = route;
        most = literal;
      }
    }
  if (!best) {
    *ret_allow = name_methods (methods);
    return NULL;
  }
  *ret_parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  http_route_fits (best->path, path, &literal, *ret_parameters);
  return best;
}
