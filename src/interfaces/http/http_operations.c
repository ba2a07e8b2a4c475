/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as routes: made from their rows, and all handled by one function. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "interfaces/http/http.h"
#include "interfaces/http/run_request.h"
#include "operations/operation.h"

#define VERSION "/v1/"

struct http_route http_routes_operations[HTTP_OPERATIONS_MAX + 1];

/* ---- handling ---- */

/* The three places of parameters as one object, which the caller gets. */
static json_t *
gather_params (struct http_request *request, const struct operation *operation)
{
  json_t *params = json_copy ((json_t *)(guintptr)http_query (request));
  json_object_update (params, (json_t *)(guintptr)http_body (request));
  for (const struct field *field = operation->params; field->name; field++)
    if (!json_object_get (params, field->name))
      json_object_set_new (params, field->name, json_string (http_parameter (request, field->name)));
  return params;
}

/* A directory is named by a root of the configuration. *RET_FD stays -1 where there is none. */
static gboolean
open_directory (struct http_request *request, const json_t *params, int *ret_fd, GError **error)
{
  const json_t *place = json_object_get (params, "workdir");
  if (!json_is_object (place))
    return TRUE;
  g_autofree char *path = NULL;
  *ret_fd = run_request_open_root (request, place, "rw", &path, error);
  return *ret_fd >= 0;
}

static void
handle_operation (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const struct http_route *route = http_route (request);
  g_autoptr (json_t) params = gather_params (request, route->called);
  autoclose int directory_fd = -1;
  json_t *value = NULL;
  struct service *service = http_service (request);
  if (open_directory (request, params, &directory_fd, &problem) &&
      service_begin_operation (service, route->called, &problem)) {
    const struct operation_caller caller = {
        .engine = service->engine,
        .owner = http_who (request)->owner,
        .role = http_who (request)->role,
        .profiles = principal_run_profiles (http_who (request)),
        .watch_fd = http_watch_fd (request),
        .fd = directory_fd,
    };
    value = operation_run (route->called, &caller, params, &problem);
    service_end_operation (service, route->called);
  }
  if (value && route->status == 204) {
    json_decref (value);
    http_reply_status (request, route->status);
  } else if (value)
    http_reply_json (request, route->status, value);
  else
    http_reply_problem (request, problem);
}

/* ---- the table ---- */

static gboolean
is_in_path (const struct field *field, const char *path)
{
  g_autofree char *part = g_strdup_printf ("{%s}", field->name);
  return strstr (path, part) != NULL;
}

/* Those parameters of OPERATION that are parts of its path, or those that are not; NULL: there are none. They
 * live as long as the process. */
static const struct field *
select_params (const struct operation *operation, gboolean in_path)
{
  struct field *selected = NULL;
  gsize count = 0;
  for (const struct field *field = operation->params; field->name; field++) {
    if (is_in_path (field, operation->http.path) != in_path)
      continue;
    selected = g_renew (struct field, selected, count + 2);
    selected[count++] = *field;
    selected[count] = (struct field){0};
  }
  return selected;
}

static void
fill_route (struct http_route *route, const struct operation *operation)
{
  const char *path = operation->http.path, *noun = path + strlen (VERSION);
  gboolean has_body = strcmp (operation->http.method, "POST") == 0;
  const struct field *others = select_params (operation, FALSE);
  *route = (struct http_route){
      .method = operation->http.method,
      .path = path,
      .operation = operation->http.id,
      .tag = g_strndup (noun, strcspn (noun, "/")),
      .title = operation->title,
      .text = operation->text,
      .role = operation->role,
      .flags = operation->flags & OPERATION_DECIDES ? HTTP_DECIDES : 0,
      .parameters = select_params (operation, TRUE),
      .query = has_body ? NULL : others,
      .body = has_body ? others : NULL,
      .replies = operation->http.status == 204 ? NULL : operation->replies,
      .status = operation->http.status,
      .handle = handle_operation,
      .called = operation,
  };
}

static gpointer
fill_routes (gpointer unused)
{
  gsize count = 0;
  for (gsize noun = 0; operations[noun]; noun++)
    for (const struct operation *row = operations[noun]; row->name; row++)
      if (row->http.method) {
        g_assert (count < HTTP_OPERATIONS_MAX);
        fill_route (&http_routes_operations[count++], row);
      }
  return unused;
}

void
http_operations_fill (void)
{
  static GOnce once = G_ONCE_INIT;
  g_once (&once, fill_routes, NULL);
}
