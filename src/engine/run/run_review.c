/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run under review: its changes are kept until somebody decides, or the run says why they cannot
 * be. */
#include <errno.h>
#include <fcntl.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/request/explain.h"
#include "engine/run/run_private.h"
#include "sandbox/mounts.h"

#define UNREAD "what the code changed in the work directory cannot be read"

static int
run_review_open_upper (const struct adder_run *run)
{
  int root_fd = run->workspace_fd >= 0 ? run->workspace_fd : run->sandbox->workspace_fd;
  return openat (root_fd, MOUNTS_UPPER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void
run_collect_changes (struct adder_run *run)
{
  const struct workdir *workdir = &run->request->workdir;
  if (workdir->fd < 0 || !workdir_is_overlay (workdir->mode) || run->facts.stop == STOP_CANCELLED)
    return;
  run_end_sandbox (run);
  if (!run->sandbox->ended) {
    g_set_error_literal (&run->unread, ADDER_ERROR, ADDER_ERROR_FAILED, UNREAD ": its processes do not end");
    return;
  }
  autoclose int upper_fd = run_review_open_upper (run);
  if (upper_fd < 0) {
    (void)error_from_errno (&run->unread, errno, UNREAD);
    return;
  }
  run->changes = changes_collect (upper_fd, workdir->fd, workdir->begun_ns, run->warnings);
  if (workdir->mode == WORKDIR_OVERLAY && run->changes->obstacle)
    g_ptr_array_add (run->warnings,
                     g_strdup_printf ("these changes could not be made: %s", run->changes->obstacle));
}

/* An empty list would mean that nothing changed, and nobody would be asked. For a run that failed by itself
 * this is not the main problem. */
static json_t *
fail_unread (struct adder_run *run, struct verdict *verdict)
{
  if (verdict->outcome != ADDER_OUTCOME_OK) {
    g_ptr_array_add (run->warnings, g_strdup (run->unread->message));
    return NULL;
  }
  verdict->outcome = ADDER_OUTCOME_FAILED;
  verdict->exit_code = outcome_exit_code (verdict->outcome);
  return explain_unread (run->unread);
}

static gboolean
run_review_keep (struct adder_run *run, GError **error)
{
  struct run_request *request = run->request;
  if (run->changes->obstacle) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the changes cannot be made: %s",
                 run->changes->obstacle);
    return FALSE;
  }
  if (!request->review.submit) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "changes cannot be reviewed here");
    return FALSE;
  }
  autoclose int upper_fd = run_review_open_upper (run);
  if (upper_fd < 0)
    return error_from_errno (error, errno, "cannot read the changes");
  g_free (request->approval_id);
  request->approval_id = NULL;
  return request->review.submit (request->review.data, request, run->changes, upper_fd, &request->approval_id,
                                 error);
}

/* Only for a run that ended well: another would leave half of the intended changes. */
json_t *
run_review (struct adder_run *run, struct verdict *verdict)
{
  g_autoptr (GError) problem = NULL;
  if (run->unread)
    return fail_unread (run, verdict);
  if (!run->changes || run->request->workdir.mode != WORKDIR_REVIEW ||
      (run->changes->changes->len == 0 && !run->changes->obstacle))
    return NULL;
  if (verdict->outcome != ADDER_OUTCOME_OK || verdict->exit_code != 0) {
    g_ptr_array_add (run->warnings, g_strdup ("the run did not end well, so what it changed is dropped"));
    return NULL;
  }
  gboolean kept = run_review_keep (run, &problem);
  if (kept && !run->request->approval_id)
    return NULL;
  verdict->outcome = kept ? ADDER_OUTCOME_APPROVAL_REQUIRED : explain_outcome_of (problem);
  verdict->exit_code = outcome_exit_code (verdict->outcome);
  if (kept)
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the code ended, and %u change%s for approval: adder approval show %s, then approve or deny",
                 run->changes->changes->len, run->changes->changes->len == 1 ? " waits" : "s wait",
                 run->request->approval_id);
  return explain_error (verdict->outcome, problem, run->request);
}
