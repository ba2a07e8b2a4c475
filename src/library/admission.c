/* SPDX-License-Identifier: Apache-2.0 */
/* Admission of every run, whatever interface it came by. */
#include "common/log.h"
#include "engine/session/sessions.h"
#include "library/library.h"
#include "policy/approval_run.h"

static gboolean
get_approval (AdderEngine *engine, struct run_request *resolved, const struct approval_run *run,
              const char *given, GError **error)
{
  struct approval_answer answer;
  const struct approval_subject subject = {
      .kind = APPROVAL_OF_RUN,
      .owner = resolved->owner,
      .conversation = resolved->conversation,
      .digest = run->digest,
      .place = run->place,
      .shown = run->shown,
  };
  if (!approvals_decide (engine->approvals, &subject, given, &answer, error))
    return FALSE;
  if (answer.granted) {
    resolved->approved = answer.id ? answer.id : g_strdup ("always");
    resolved->approved_by = answer.decided;
    return TRUE;
  }
  resolved->approval_id = answer.id;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_APPROVAL, "nothing ran: a person must approve it first%s%s",
               answer.note ? "; " : "", answer.note ? answer.note : "");
  return FALSE;
}

static gboolean
ask_approval (AdderEngine *engine, struct run_request *resolved, const struct run_request *settled,
              const char *given, GError **error)
{
  struct approval_run run;
  if (!approval_run_make (resolved, settled, &run, error))
    return FALSE;
  gboolean waived = resolved->accept_all || (settled && settled->accept_all);
  if (waived) {
    resolved->approved = g_strdup ("accepted all");
    log_warning ("%s accepts all: it runs without approval, profile %s, digest %s",
                 resolved->owner ? resolved->owner : "nobody", settled ? settled->profile : resolved->profile,
                 run.digest);
  }
  gboolean ok = waived || get_approval (engine, resolved, &run, given, error);
  approval_run_clear (&run);
  return ok;
}

void
library_admit (AdderEngine *engine, const AdderRequest *request, struct run_request *resolved)
{
  if (resolved->invalid)
    return;
  /* By the id that the request was bound to. */
  struct session *session =
      resolved->session ? sessions_find (engine->engine->sessions, resolved->owner, resolved->session, NULL)
                        : NULL;
  gboolean stands = resolved->session ? session && !sessions_has_ended (session) : TRUE;
  const struct run_request *settled = session ? session->options : NULL;
  enum approval_mode mode = (enum approval_mode) (settled ? settled->approval : resolved->approval);
  GError *problem = NULL;
  /* A request that cannot run needs no approval: the run itself says why. */
  if (stands && approval_run_is_needed (mode, resolved) && request_check (resolved, NULL) &&
      !ask_approval (engine, resolved, settled, library_approval (request), &problem))
    resolved->invalid = problem;
  session_unref (session);
}
