/* SPDX-License-Identifier: Apache-2.0 */
/* What outlives a run: its long output, while it is read, and an account of it at its end. Where these are
 * kept, and whether they are, is the request's keeper's business. */
#include "engine/run_private.h"

static const char *const stream_names[STREAMS] = {[STREAM_OUTPUT] = "stdout", [STREAM_ERRORS] = "stderr"};

void
run_take_output (struct adder_run *run, struct stream *stream, gsize length)
{
  const char *name = stream_names[stream - run->streams];
  spill_add (&stream->spill, &stream->capture, run->buffer, length, &run->request->keeper, name,
             run->warnings);
  capture_add (&stream->capture, run->buffer, length);
}

const struct handout *
run_handout (const struct adder_run *run)
{
  return run->session ? &run->session->handout : &run->handout;
}

gint64
run_queue_us (const struct adder_run *run)
{
  return (run->handed_us ? run->handed_us : run->ended_us) - run->asked_us;
}

gint64
run_wall_us (const struct adder_run *run)
{
  return run->handed_us ? run->ended_us - run->handed_us : 0;
}

void
run_keep (struct adder_run *run, const struct verdict *verdict, const json_t *error, const json_t *denials)
{
  const struct request_keeper *keeper = &run->request->keeper;
  const struct handout *handout = run_handout (run);
  if (run->is_kept || !keeper->keep)
    return;
  run->is_kept = TRUE;
  struct account account = {
      .run_id = run->id,
      .asked_ms = run->asked_ms,
      .outcome = verdict->outcome,
      .exit_code = verdict->exit_code,
      .signal = verdict->signal,
      .queue_us = run_queue_us (run),
      .wall_us = run_wall_us (run),
      .usage = run->usage,
      .level = handout->has_isolation ? (int)handout->isolation_level : -1,
      .missing = handout->missing,
      .session = run->session ? run->session->id : NULL,
      .cell = run->cell,
      .error = error,
      .denials = denials,
      .network = run->visits,
      .artifacts = run->artifacts,
      .workspace_fd = run->workspace_fd,
      .living = run->has_turn,
      .warnings = run->warnings,
  };
  for (int i = 0; i < STREAMS; i++) {
    struct stream *stream = &run->streams[i];
    spill_end (&stream->spill, &stream->capture, keeper, stream_names[i], run->warnings);
    account.spills[i] = &stream->spill;
    account.output_bytes[i] = stream->capture.total;
  }
  keeper->keep (keeper->data, run->request, &account);
}

void
run_keep_abandoned (struct adder_run *run)
{
  const struct verdict cancelled = {.outcome = ADDER_OUTCOME_CANCELLED,
                                    .exit_code = outcome_exit_code (ADDER_OUTCOME_CANCELLED)};
  if (run->phase == PHASE_OVER)
    return;
  run->ended_us = g_get_monotonic_time ();
  if (run->box)
    usage_read (run->box, &run->usage);
  run_keep (run, &cancelled, NULL, NULL);
}
