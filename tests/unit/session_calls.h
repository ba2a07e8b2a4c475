/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on sessions as functions, by adder_call. */
#pragma once

#include <jansson.h>

#include "adder.h"

/* PARAMS are taken. */
static inline char *
called (AdderEngine *engine, const char *owner, const char *operation, json_t *params, GError **error)
{
  char *text = json_dumps (params, 0);
  const AdderCaller caller = {.owner = owner, .watch_fd = -1, .fd = -1};
  char *answer = adder_call (engine, &caller, operation, text, error);
  free (text);
  json_decref (params);
  return answer;
}

static inline gboolean
called_well (AdderEngine *engine, const char *owner, const char *operation, json_t *params, GError **error)
{
  g_autofree char *answer = called (engine, owner, operation, params, error);
  return answer != NULL;
}

static inline char *
called_session_list (AdderEngine *engine, const char *owner, GError **error)
{
  return called (engine, owner, "session.list", json_object (), error);
}

static inline char *
called_session_show (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return called (engine, owner, "session.show", json_pack ("{s:s}", "session", session), error);
}

static inline char *
called_session_history (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return called (engine, owner, "session.history", json_pack ("{s:s}", "session", session), error);
}

static inline char *
called_session_variables (AdderEngine *engine, const char *owner, const char *session,
                          const char *const *names, GError **error)
{
  json_t *params = json_pack ("{s:s}", "session", session);
  for (gsize i = 0; names && names[i]; i++) {
    if (i == 0)
      json_object_set_new (params, "names", json_array ());
    json_array_append_new (json_object_get (params, "names"), json_string (names[i]));
  }
  return called (engine, owner, "session.variables", params, error);
}

static inline gboolean
called_session_reset (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return called_well (engine, owner, "session.reset", json_pack ("{s:s}", "session", session), error);
}

static inline gboolean
called_session_interrupt (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return called_well (engine, owner, "session.interrupt", json_pack ("{s:s}", "session", session), error);
}

static inline gboolean
called_session_end (AdderEngine *engine, const char *owner, const char *session, GError **error)
{
  return called_well (engine, owner, "session.end", json_pack ("{s:s}", "session", session), error);
}

static inline char *
called_session_checkpoint (AdderEngine *engine, const char *owner, const char *session, const char *name,
                           GError **error)
{
  json_t *params = json_pack ("{s:s, s:s*}", "session", session, "name", name);
  return called (engine, owner, "session.checkpoint", params, error);
}

static inline gboolean
called_session_rollback (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                         GError **error)
{
  json_t *params = json_pack ("{s:s, s:s}", "session", session, "checkpoint", checkpoint);
  return called_well (engine, owner, "session.rollback", params, error);
}

static inline gboolean
called_session_forget (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                       GError **error)
{
  json_t *params = json_pack ("{s:s, s:s}", "session", session, "checkpoint", checkpoint);
  return called_well (engine, owner, "session.forget", params, error);
}

static inline char *
called_session_branch (AdderEngine *engine, const char *owner, const char *session, const char *checkpoint,
                       unsigned count, GError **error)
{
  json_t *params =
      json_pack ("{s:s, s:s*, s:i}", "session", session, "checkpoint", checkpoint, "count", (int)count);
  return called (engine, owner, "session.branch", params, error);
}
