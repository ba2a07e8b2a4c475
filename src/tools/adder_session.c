/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the toolset `adder`: made by session_new, or when run_python first names them. */
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/session/sessions.h"
#include "library/library.h"
#include "tools/toolset_adder.h"

#define LISTED_MOST 10 /* suggested for ending: the default limit of sessions */

static AdderRequest *
adder_session_options (const struct call *call, GError **error)
{
  AdderRequest *options = call_request (call, "", call_text (call, "profile"));
  if (!adder_settle (call, options, error))
    g_clear_pointer (&options, adder_request_free);
  return options;
}

/* Whether a session of that name lives. If not and there was one, *RET_REASON (may be NULL) is why it ended,
 * in this daemon or the previous one; the caller's. */
static gboolean
adder_session_lives (const struct call *call, const char *session, char **ret_reason)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) shown =
      call_operation (call, "session.show", json_pack ("{s:s}", "session", session), &problem);
  gboolean lives = shown && strcmp (json_member_text (shown, "state"), "ended") != 0;
  if (!lives && ret_reason && shown)
    *ret_reason = g_strdup (json_member_text (shown, "reason"));
  else if (!lives && ret_reason && g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_ENDED))
    *ret_reason = g_strdup (error_reason (problem));
  return lives;
}

/* Adds SESSION (of session.list) to TEXT, as a model names it. */
static void
adder_session_add (GString *text, const json_t *session)
{
  const char *name = json_member_text (session, "name");
  const json_t *idle_ms = json_object_get (session, "idle_ms");
  guint64 idle_s = MAX (1, (guint64)json_integer_value (idle_ms) / 1000);
  g_autofree char *idle = duration_format (idle_s * 1000);
  g_string_append_printf (text, "%s%s (%s%s)", text->len > 0 ? ", " : "",
                          name[0] ? name : json_member_text (session, "session_id"),
                          json_is_integer (idle_ms) ? "idle for " : "busy",
                          json_is_integer (idle_ms) ? idle : "");
}

/* The caller's living sessions, at most LISTED_MOST. The caller's. */
static char *
adder_session_names (const struct call *call)
{
  g_autoptr (json_t) list = call_operation (call, "session.list", json_object (), NULL);
  GString *text = g_string_new (NULL);
  gsize index, count = 0;
  json_t *session;
  json_array_foreach (json_object_get (list, "sessions"), index, session)
  {
    if (count < LISTED_MOST && strcmp (json_member_text (session, "state"), "ended") != 0) {
      adder_session_add (text, session);
      count++;
    }
  }
  return g_string_free (text, FALSE);
}

/* If *PROBLEM is that there are too many sessions, adds what this caller can do about it. */
static void
adder_session_advise (const struct call *call, GError **problem)
{
  if (!g_error_matches (*problem, ADDER_ERROR, ADDER_ERROR_BUSY) || !error_is_lasting (*problem))
    return;
  g_autofree char *fact = error_fact (*problem);
  g_autofree char *names = adder_session_names (call);
  int code = (*problem)->code;
  g_clear_error (problem);
  if (names[0] == '\0') /* all of them are others' */
    g_set_error (problem, ADDER_ERROR, code, "%s: run the code without a session, or try again later", fact);
  else
    g_set_error (problem, ADDER_ERROR, code,
                 "%s: go on in one of them, %s, or run the code without a session; they are %s", fact,
                 call->caller->makes_sessions ? "end one by run_python with its name and end_session true"
                                              : "end one by session_end",
                 names);
}

gboolean
adder_session_ensure (const struct call *call, char **ret_note, GError **error)
{
  const char *name = call_text (call, "session");
  g_autoptr (GError) problem = NULL;
  g_autofree char *reason = NULL;
  if (!name || !call->caller->makes_sessions || adder_session_lives (call, name, &reason))
    return TRUE;
  if (g_uuid_string_is_valid (name)) {
    g_set_error (error, ADDER_ERROR, reason ? ADDER_ERROR_ENDED : ADDER_ERROR_NOT_FOUND,
                 "there is no session %s%s%s: a name of your choice makes a new one", name,
                 reason ? " any more, since it ended: " : "", reason ? reason : "");
    return FALSE;
  }
  AdderRequest *options = adder_session_options (call, error);
  if (!options)
    return FALSE;
  g_autoptr (json_t) made = library_session_new (call->tools->engine, options, name, &problem);
  adder_request_free (options);
  if (made && reason)
    *ret_note = g_strdup_printf ("%s is a new session: the last one of that name ended (%s)", name, reason);
  if (made || adder_session_lives (call, name, NULL)) /* another call made it meanwhile */
    return TRUE;
  adder_session_advise (call, &problem);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

void
adder_session_end_after (const struct call *call, struct ran *ran)
{
  json_t *session = json_object_get (ran->result, "session");
  const char *id = json_string_value (json_object_get (session, "session_id"));
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) ended =
      id ? call_operation (call, "session.end", json_pack ("{s:s}", "session", id), &problem) : NULL;
  if (ended) {
    json_object_set_new (session, "status", json_string ("[session ended]"));
    json_object_set_new (session, "expires_in_ms", json_null ());
  } else if (problem) {
    g_autofree char *text = g_strdup_printf ("the session was not ended: %s", problem->message);
    json_array_append_new (json_object_get (ran->result, "warnings"), json_text_or_null (text));
  }
}

void
adder_session_new_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  json_t *made = NULL;
  AdderRequest *options = adder_session_options (call, &problem);
  if (options)
    made = library_session_new (call->tools->engine, options, call_text (call, "name"), &problem);
  g_clear_pointer (&options, adder_request_free);
  if (problem)
    adder_session_advise (call, &problem);
  call_reply_value (call, made, problem);
}
