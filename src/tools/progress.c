/* SPDX-License-Identifier: Apache-2.0 */
/* Progress reports of a call that works outside runs, and how it notices that nobody waits. */
#include <sys/epoll.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "tools/call.h"

#define APART_US 100000
#define PARTS    100 /* of the whole; such steps are reported at once, since the next may take long */
#define TEXT_MAX 300 /* bytes */

json_t *
tool_progress_to_json (const struct tool_progress *progress)
{
  return json_pack ("{s:s, s:I, s:I, s:O*}", "text", progress->text, "done", (json_int_t)progress->done, "of",
                    (json_int_t)progress->of, "step", progress->step);
}

struct tool_progress
tool_progress_from_json (const json_t *value)
{
  return (struct tool_progress){
      .text = json_member_text (value, "text"),
      .done = json_integer_value (json_object_get (value, "done")),
      .of = json_integer_value (json_object_get (value, "of")),
      .step = json_object_get (value, "step"),
  };
}

static void
progress_tell (struct call *call, const struct tool_progress *progress)
{
  struct tool_progress told = *progress;
  g_autofree char *line = text_one_line (progress->text, TEXT_MAX);
  told.text = line;
  call->told_us = g_get_monotonic_time ();
  call->caller->progressed (call->caller->saw_data, &told);
}

void
call_progress (struct call *call, const char *text, gint64 done, gint64 of)
{
  gint64 part = of > 0 ? (gint64)((double)done / (double)of * PARTS) : 0;
  gboolean early = call->told_us > 0 && g_get_monotonic_time () - call->told_us < APART_US;
  if (!call->caller->progressed || (early && part == call->told_part))
    return;
  call->told_part = part;
  const struct tool_progress progress = {.text = text, .done = done, .of = of};
  progress_tell (call, &progress);
}

void
call_step (struct call *call, const char *text, gint64 done, const json_t *step)
{
  const struct tool_progress progress = {.text = text, .done = done, .step = step};
  if (call->caller->progressed)
    progress_tell (call, &progress);
}

/* The caller's next request would make the socket itself readable, which ends nothing. An epoll set for its
 * hang-up alone becomes readable only then. */
int
call_cancel_fd (struct call *call)
{
  struct epoll_event hanging_up = {.events = EPOLLRDHUP};
  if (call->cancel_fd >= 0 || call->caller->watch_fd < 0)
    return call->cancel_fd;
  autoclose int set = epoll_create1 (EPOLL_CLOEXEC);
  if (set >= 0 && epoll_ctl (set, EPOLL_CTL_ADD, call->caller->watch_fd, &hanging_up) == 0)
    call->cancel_fd = fd_steal (&set);
  return call->cancel_fd;
}

void
call_progress_clear (struct call *call)
{
  fd_close (&call->cancel_fd);
}
