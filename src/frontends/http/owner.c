/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/http/owner.h"

#include <string.h>

#include "common/json.h"

gboolean
owner_asked_for (struct http_request *request, const char **ret_owner)
{
  const struct principal *who = http_who (request);
  const char *named = json_string_value (json_object_get (http_query (request), "owner"));
  if (!named || strcmp (named, who->owner) == 0) {
    *ret_owner = who->owner;
    return TRUE;
  }
  if (who->role >= ROLE_ADMIN) {
    *ret_owner = strcmp (named, "all") == 0 ? NULL : named;
    return TRUE;
  }
  g_autoptr (GError) problem =
      g_error_new_literal (ADDER_ERROR, ADDER_ERROR_REFUSED, "only an admin may ask for what is another's");
  http_reply_problem (request, problem);
  return FALSE;
}

char *
owner_filters (struct http_request *request)
{
  g_autoptr (json_t) filters = json_object ();
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)http_query (request), name, value)
  {
    if (!json_is_null (value) && strcmp (name, "owner") != 0)
      json_object_set (filters, name, value);
  }
  return json_to_text (filters);
}
