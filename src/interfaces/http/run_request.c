/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the identity, permissions and directories of the caller to the body of a run that came by HTTP. */
#include "interfaces/http/run_request.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "operations/operation.h"
#include "operations/run_body.h"
#include "policy/roots.h"

int
run_request_open_root (struct http_request *request, const json_t *place, const char *mode, char **ret_path,
                       GError **error)
{
  const struct config *config = http_service (request)->config;
  const char *path = json_string_value (json_object_get (place, "path"));
  return root_open (config, http_who (request), json_member_text (place, "root"), path, mode, ret_path,
                    error);
}

/* Without confinement a run can do what the daemon can. */
static gboolean
check_isolation (struct http_request *request, const json_t *body, GError **error)
{
  if (http_who (request)->role == ROLE_ADMIN || strcmp (json_member_text (body, "isolation"), "none") != 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "isolation none is for admins alone");
  return FALSE;
}

/* That the session of BODY, where there is one, is of who asks, and lives. */
static gboolean
check_session (struct http_request *request, const json_t *body, GError **error)
{
  const char *session = json_string_value (json_object_get (body, "session"));
  if (!session)
    return TRUE;
  const struct operation_caller caller =
      OPERATION_CALLER (http_service (request)->engine, http_who (request)->owner, http_who (request)->role);
  g_autoptr (json_t) shown =
      operation_call (&caller, "session.show", json_pack ("{s:s}", "session", session), error);
  if (!shown)
    return FALSE;
  if (strcmp (json_member_text (shown, "state"), "ended") != 0)
    return TRUE;
  g_autofree char *name = text_one_line (session, 64);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_ENDED, "the session %s has ended: %s", name,
               json_member_text (shown, "reason"));
  return FALSE;
}

/* Puts the directory that BODY names, and a descriptor, in the place of its root. *RET_FD stays -1 where
 * there is none. */
static gboolean
open_workdir (struct http_request *request, json_t *body, int *ret_fd, GError **error)
{
  const json_t *place = json_object_get (body, "workdir");
  if (!json_is_object (place))
    return TRUE;
  g_autofree char *path = NULL;
  const char *mode = json_member_text (place, "mode");
  *ret_fd = run_request_open_root (request, place, mode, &path, error);
  if (*ret_fd >= 0)
    json_object_set_new (body, "workdir", json_pack ("{s:s, s:s}", "path", path, "mode", mode));
  return *ret_fd >= 0;
}

AdderRequest *
run_request_new (struct http_request *request, const json_t *checked, GError **error)
{
  const struct principal *who = http_who (request);
  g_autoptr (json_t) body = json_copy ((json_t *)(guintptr)checked);
  autoclose int workdir_fd = -1;
  if (!check_session (request, body, error) || !check_isolation (request, body, error) ||
      !open_workdir (request, body, &workdir_fd, error))
    return NULL;
  const struct run_body_source source = {
      .owner = who->owner, .fds = &workdir_fd, .fd_count = workdir_fd >= 0 ? 1 : 0};
  AdderRequest *asked = run_body_read (body, &source, error);
  if (!asked)
    return NULL;
  adder_request_set_role (asked, role_name (who->role));
  adder_request_set_profiles_allowed (asked, principal_run_profiles (who));
  adder_request_set_origin (asked, "http", NULL, NULL);
  adder_request_set_watch (asked, http_watch_fd (request));
  return asked;
}
