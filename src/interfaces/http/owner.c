/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/owner.h"

#include "operations/operation.h"

gboolean
owner_asked_for (struct http_request *request, const char **ret_owner)
{
  g_autoptr (GError) problem = NULL;
  const struct principal *who = http_who (request);
  const char *named = json_string_value (json_object_get (http_query (request), "owner"));
  if (operation_resolve_owner (who->owner, who->role, named, ret_owner, &problem))
    return TRUE;
  http_reply_problem (request, problem);
  return FALSE;
}
