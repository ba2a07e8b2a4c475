/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions in include/adder.h: finding one of the owner's, and JSON as text. */
#include "common/json.h"
#include "engine/sessions.h"
#include "library/library.h"

/* Takes VALUE; NULL stays NULL. */
static char *
text_of (json_t *value)
{
  char *text = value ? json_to_text (value) : NULL;
  json_decref (value);
  return text;
}

char *
adder_session_new (AdderEngine *engine, const AdderRequest *options, const char *name, GError **error)
{
  g_return_val_if_fail (engine != NULL && options != NULL, NULL);
  struct run_request *request = library_resolve (engine, options);
  library_fetch_inputs (engine, request, TRUE);
  library_set_keeper (engine, request, TRUE);
  struct session *session = session_create (engine->engine, request, name, FALSE, error);
  request_free (request);
  char *text = session ? text_of (sessions_show (session)) : NULL;
  session_unref (session);
  return text;
}

char *
adder_session_list (AdderEngine *engine, const char *owner, G_GNUC_UNUSED GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return text_of (sessions_list (engine->engine->sessions, owner));
}

static struct session *
find (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  g_return_val_if_fail (engine != NULL && session != NULL, NULL);
  return sessions_find (engine->engine->sessions, owner, session, error);
}

char *
adder_session_show (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  char *text = found ? text_of (sessions_show (found)) : NULL;
  session_unref (found);
  return text;
}

char *
adder_session_history (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  char *text = found ? text_of (sessions_history (found)) : NULL;
  session_unref (found);
  return text;
}

char *
adder_session_variables (AdderEngine *engine, const char *owner, const char *session,
                         const char *const *names, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  char *text = found ? text_of (session_ask (found, names ? "value" : "variables", names, error)) : NULL;
  session_unref (found);
  return text;
}

gboolean
adder_session_reset (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  g_autoptr (json_t) left = found ? session_ask (found, "reset", NULL, error) : NULL;
  session_unref (found);
  return left != NULL;
}

gboolean
adder_session_interrupt (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  gboolean done = found && sessions_interrupt (found, error);
  session_unref (found);
  return done;
}

char *
adder_session_checkpoint (AdderEngine *engine, const char *owner, const char *session, const char *name,
                          GError **error)
{
  struct session *found = find (engine, owner, session, error);
  char *text = found ? text_of (session_checkpoint (found, name, error)) : NULL;
  session_unref (found);
  return text;
}

gboolean
adder_session_rollback (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                        GError **error)
{
  g_return_val_if_fail (checkpoint != NULL, FALSE);
  struct session *found = find (engine, owner, session, error);
  gboolean done = found && session_rollback (found, checkpoint, error);
  session_unref (found);
  return done;
}

gboolean
adder_session_forget (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                      GError **error)
{
  g_return_val_if_fail (checkpoint != NULL, FALSE);
  struct session *found = find (engine, owner, session, error);
  gboolean done = found && session_forget_checkpoint (found, checkpoint, error);
  session_unref (found);
  return done;
}

char *
adder_session_branch (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                      unsigned count, GError **error)
{
  struct session *found = find (engine, owner, session, error);
  char *text = found ? text_of (session_branch (found, checkpoint, count, error)) : NULL;
  session_unref (found);
  return text;
}

gboolean
adder_session_end (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return library_end_session (engine, owner, session, "it was told to", error);
}

gboolean
library_end_session (AdderEngine *engine, const char *owner, const char *session, const char *reason,
                     GError **error)
{
  struct session *found = find (engine, owner, session, error);
  if (found)
    sessions_end (found, reason);
  session_unref (found);
  return found != NULL;
}
