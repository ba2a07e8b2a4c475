/* SPDX-License-Identifier: Apache-2.0 */
/* What a request tells about its run while that waits in the queue of a cluster. */
#include "common/json.h"
#include "common/text.h"
#include "engine/request/outcome.h"
#include "library/library.h"
#include "library/recorder_private.h"
#include "store/departed.h"

char *
library_queued_note (AdderEngine *engine, const AdderRequest *request, const char *run_id, json_t **ret_shown)
{
  struct run_request *resolved = library_resolve (engine, request);
  gint64 now_us = g_get_real_time ();
  struct run_record kept;
  run_record_begin (&kept, engine->store, resolved, &(struct run_start_note){run_id, NULL, now_us / 1000});
  char *note = departed_note_text (&kept.record);
  g_autofree char *started = text_time (now_us);
  g_autofree char *code = store_config (engine->store)->store_code ? request_code_start (resolved) : NULL;
  *ret_shown = json_pack ("{s:s, s:s, s:o, s:o, s:n, s:o, s:o}", "run_id", run_id, "started", started,
                          "owner", json_text_or_null (resolved->owner), "conversation",
                          json_text_or_null (resolved->conversation), "session", "front_end",
                          json_text_or_null (resolved->origin.front_end), "code", json_text_or_null (code));
  run_record_clear (&kept);
  request_free (resolved);
  return note;
}

void
library_queued_cancelled (struct departed_end *ret_end)
{
  *ret_end = (struct departed_end){.type = "Cancelled",
                                   .message = "it was cancelled before it ran",
                                   .outcome = adder_outcome_name (ADDER_OUTCOME_CANCELLED),
                                   .exit_code = outcome_exit_code (ADDER_OUTCOME_CANCELLED)};
}
