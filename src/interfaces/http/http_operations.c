/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as routes: made from their rows, and handled by one function, except those of run_routes.c. */
#include "interfaces/http/http_operations.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "interfaces/http/run_routes.h"
#include "policy/roots.h"

#define VERSION "/v1/"

struct http_route http_routes_operations[HTTP_OPERATIONS_MAX + 1];

/* ---- handling ---- */

int
http_open_root (struct http_request *request, const json_t *place, const char *mode, char **ret_path,
                GError **error)
{
  const struct config *config = http_service (request)->config;
  const char *path = json_string_value (json_object_get (place, "path"));
  return root_open (config, http_who (request), json_member_text (place, "root"), path, mode, ret_path,
                    error);
}

/* The parameters of all three places as one object, the caller's. */
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

/* CALL's descriptor stays -1 without a directory. */
static gboolean
http_operations_open_directory (struct http_request *request, struct http_call *call, GError **error)
{
  const json_t *place = json_object_get (call->params, "workdir");
  if (!json_is_object (place))
    return TRUE;
  g_autofree char *path = NULL;
  const char *mode = json_object_get (place, "mode") ? json_member_text (place, "mode") : "rw";
  call->directory_fd = http_open_root (request, place, mode, &path, error);
  if (call->directory_fd < 0)
    return FALSE;
  json_object_set_new (call->params, "workdir", json_pack ("{s:s, s:s}", "path", path, "mode", mode));
  return TRUE;
}

gboolean
http_call_init (struct http_request *request, struct http_call *ret_call, GError **error)
{
  *ret_call = (struct http_call){gather_params (request, http_route (request)->called), -1, {0}};
  gboolean ok = http_operations_open_directory (request, ret_call, error);
  http_call_caller (request, &ret_call->caller);
  ret_call->caller.fd = ret_call->directory_fd;
  return ok;
}

void
http_call_caller (struct http_request *request, struct operation_caller *ret_caller)
{
  *ret_caller = (struct operation_caller){
      .engine = http_service (request)->engine,
      .owner = http_who (request)->owner,
      .role = http_who (request)->role,
      .profiles = principal_run_profiles (http_who (request)),
      .who = http_who (request),
      .is_exposed = http_is_exposed (request),
      .front_end = "http",
      .at_terminal = http_at_terminal (request),
      .watch_fd = http_watch_fd (request),
      .fd = -1,
  };
}

void
http_call_clear (struct http_call *call)
{
  g_clear_pointer (&call->params, json_decref);
  fd_close (&call->directory_fd);
}

/* The location of the new object, which is VALUE. */
static void
set_location (struct http_request *request, const json_t *value)
{
  const struct operation *operation = http_route (request)->called;
  if (!operation->http.made)
    return;
  g_autofree char *place =
      g_strconcat (operation->http.path, "/", json_member_text (value, operation->http.made), NULL);
  http_set_header (request, "Location", place);
}

void
http_call_operation (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const struct http_route *route = http_route (request);
  struct service *service = http_service (request);
  struct http_call call;
  json_t *value = NULL;
  if (http_call_init (request, &call, &problem) &&
      service_begin_operation (service, route->called, &problem)) {
    value = operation_run (route->called, &call.caller, call.params, &problem);
    service_end_operation (service, route->called);
  }
  http_call_clear (&call);
  if (value && route->status == 204) {
    json_decref (value);
    http_reply_status (request, route->status);
  } else if (value) {
    set_location (request, value);
    http_reply_json (request, route->status, value);
  } else
    http_reply_problem (request, problem);
}

/* ---- the table ---- */

static gboolean
is_in_path (const struct field *field, const char *path)
{
  g_autofree char *part = g_strdup_printf ("{%s}", field->name);
  return strstr (path, part) != NULL;
}

/* The parameters of OPERATION that are in its path, or the others; NULL: none. They live as long as the
 * process. */
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
  const struct run_route *own = run_route_find (operation->name);
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
      .handle = http_call_operation,
      .called = operation,
  };
  if (own)
    run_route_fill (own, route);
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
