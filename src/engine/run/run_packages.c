/* SPDX-License-Identifier: Apache-2.0 */
/* Packages that a run waits for before it has a sandbox. That wait does not count against its limits. */
#include <string.h>

#include "adder_types.h"
#include "base/fd.h"
#include "engine/host/environment_with.h"
#include "engine/request/packages.h"
#include "engine/run/run_private.h"

/* TRUE: there may be more to wait for. */
static gboolean
run_packages_start (struct adder_run *run)
{
  const struct run_request *request = run->request;
  if (run->failure || !request->with || !request->with[0] || !request_check (request, &run->failure))
    return FALSE;
  run->packages_fd = packages_begin (run->engine, request, &run->failure);
  run->lease.refused = g_error_matches (run->failure, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  return run->packages_fd >= 0;
}

static gboolean
run_packages_tell (struct adder_run *run, AdderEvent *event)
{
  *event = (AdderEvent){
      .kind = ADDER_EVENT_PROGRESS, .data = run->packages_said, .length = strlen (run->packages_said)};
  return TRUE;
}

gboolean
run_await_packages (struct adder_run *run, AdderEvent *event)
{
  if (run->packages_fd < 0 && !run_packages_start (run))
    return FALSE;
  enum environment_with_said said = ENVIRONMENT_WITH_PROGRESS;
  while (said == ENVIRONMENT_WITH_PROGRESS) {
    enum wait wait = interrupt_wait_one (&run->interrupt, run->packages_fd, POLLIN, -1);
    if (wait == WAIT_CANCELLED) {
      g_set_error_literal (&run->failure, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the run was cancelled");
      break;
    }
    if (wait != WAIT_READY)
      continue;
    g_clear_pointer (&run->packages_said, g_free);
    said = packages_read (run->engine, run->packages_fd, &run->packages_said, &run->failure);
    if (run->packages_said)
      return run_packages_tell (run, event);
  }
  fd_close (&run->packages_fd);
  return FALSE;
}
