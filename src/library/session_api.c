/* SPDX-License-Identifier: Apache-2.0 */
/* Making sessions, and ending one for a reason; what else is done with them is operations/session.c. */
#include "common/json.h"
#include "engine/session/sessions.h"
#include "library/library.h"

json_t *
library_session_new (AdderEngine *engine, const AdderRequest *options, const char *name, GError **error)
{
  struct run_request *request = library_resolve (engine, options);
  library_fetch_inputs (engine, request, TRUE);
  library_set_recorder (engine, request, TRUE);
  struct session *session = session_create (engine->engine, request, name, FALSE, error);
  request_free (request);
  json_t *shown = session ? sessions_show (session) : NULL;
  session_unref (session);
  return shown;
}

char *
adder_session_new (AdderEngine *engine, const AdderRequest *options, const char *name, GError **error)
{
  g_return_val_if_fail (engine != NULL && options != NULL, NULL);
  g_autoptr (json_t) shown = library_session_new (engine, options, name, error);
  return shown ? json_to_text (shown) : NULL;
}

gboolean
library_end_session (AdderEngine *engine, const char *owner, const char *session, const char *reason,
                     GError **error)
{
  struct session *found = sessions_find (engine->engine->sessions, owner, session, error);
  if (found)
    sessions_end (found, reason);
  session_unref (found);
  return found != NULL;
}
