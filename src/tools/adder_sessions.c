/* SPDX-License-Identifier: Apache-2.0 */
/* The tools about sessions of the toolset `adder`: each is a function of the library. */
#include "tools/toolset_adder.h"

static const char *
session_of (const struct call *call)
{
  return call_text (call, "session");
}

static char *
show (struct call *call, GError **error)
{
  return adder_session_show (call->tools->engine, call->caller->owner, session_of (call), error);
}

void
adder_session_new_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  char *text = NULL;
  AdderRequest *options = call_request (call, "", call_text (call, "profile"));
  if (adder_settle (call, options, &problem))
    text = adder_session_new (call->tools->engine, options, call_text (call, "name"), &problem);
  adder_request_free (options);
  call_reply_text (call, text, problem);
}

/* What asks, and changes nothing. */

static void
reply_asked (struct call *call,
             char *(*ask) (AdderEngine *engine, const char *owner, const char *session, GError **error))
{
  g_autoptr (GError) problem = NULL;
  char *text = ask (call->tools->engine, call->caller->owner, session_of (call), &problem);
  call_reply_text (call, text, problem);
}

void
adder_session_list_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_session_list (call->tools->engine, call->caller->owner, &problem);
  call_reply_text (call, text, problem);
}

void
adder_session_show_tool (struct call *call)
{
  reply_asked (call, adder_session_show);
}

void
adder_session_history_tool (struct call *call)
{
  reply_asked (call, adder_session_history);
}

void
adder_session_variables_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  char *text =
      adder_session_variables (call->tools->engine, call->caller->owner, session_of (call), NULL, &problem);
  call_reply_text (call, text, problem);
}

/* What acts, and then shows the session. */

static void
reply_acted (struct call *call,
             gboolean (*act) (AdderEngine *engine, const char *owner, const char *session, GError **error))
{
  g_autoptr (GError) problem = NULL;
  gboolean ok = act (call->tools->engine, call->caller->owner, session_of (call), &problem);
  call_reply_text (call, ok ? show (call, &problem) : NULL, problem);
}

void
adder_session_reset_tool (struct call *call)
{
  reply_acted (call, adder_session_reset);
}

void
adder_session_interrupt_tool (struct call *call)
{
  reply_acted (call, adder_session_interrupt);
}

void
adder_session_end_tool (struct call *call)
{
  reply_acted (call, adder_session_end);
}

void
adder_session_rollback_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  gboolean ok = adder_session_rollback (call->tools->engine, call->caller->owner, session_of (call),
                                        call_text (call, "checkpoint"), &problem);
  call_reply_text (call, ok ? show (call, &problem) : NULL, problem);
}

void
adder_session_checkpoint_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_session_checkpoint (call->tools->engine, call->caller->owner, session_of (call),
                                         call_text (call, "name"), &problem);
  call_reply_text (call, text, problem);
}

void
adder_session_branch_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  char *text =
      adder_session_branch (call->tools->engine, call->caller->owner, session_of (call),
                            call_text (call, "checkpoint"), (unsigned)call_integer (call, "count"), &problem);
  call_reply_text (call, text, problem);
}
