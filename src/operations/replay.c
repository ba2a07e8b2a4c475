/* SPDX-License-Identifier: Apache-2.0 */
/* "session.replay": the cells of a session, run again in a new one. */
#include "common/json.h"
#include "library/library.h"
#include "operations/result_fields.h"
#include "operations/run.h"
#include "operations/session_fields.h"

AdderReplay *
replay_begin (const struct operation_caller *caller, const json_t *params, GError **error)
{
  g_autoptr (AdderRequest) options = run_options_read (caller, params, error);
  return options ? adder_session_replay (caller->engine, options, json_member_text (params, "session"),
                                         (guint64)json_integer_value (json_object_get (params, "from")),
                                         json_string_value (json_object_get (params, "name")),
                                         json_is_false (json_object_get (params, "keep_going"))
                                             ? ADDER_REPLAY_STOP
                                             : ADDER_REPLAY_NEW,
                                         error)
                 : NULL;
}

json_t *
session_replay (const struct operation_call *call, GError **error)
{
  g_autoptr (AdderReplay) replay = replay_begin (call->caller, call->params, error);
  if (!replay)
    return NULL;
  g_autoptr (json_t) plan = library_replay_plan (replay);
  g_autoptr (json_t) results = json_array ();
  const char *made = json_member_text (json_object_get (plan, "session"), "session_id");
  for (AdderRun *run; (run = adder_replay_next (replay)); adder_run_free (run)) {
    g_autoptr (AdderResult) result = run_pull (call->caller, run, made, NULL);
    json_array_append_new (results, library_result (result));
  }
  json_t *report = library_replay_finish (replay, error);
  gsize index;
  json_t *cell;
  json_array_foreach (json_object_get (report, "cells"), index, cell)
  {
    json_object_set (cell, "result", json_array_get (results, index));
  }
  return report;
}

/* ---- the fields ---- */

static const struct field error_fields[] = {
    TEXT_0 ("type", "The exception's."),
    TEXT_0 ("message", "Its text."),
    FIELD_END ("CellError"),
};
static const struct field cell_fields[] = {
    WHOLE ("cell", "Its number."),
    TEXT ("outcome", "How it ended."),
    TEXT ("before", "How it had ended, as is on record."),
    PART_0 ("error", error_fields, "Why it failed."),
    TEXTS ("differs",
           "What of the result is not as it was: outcome, stdout, stderr, value, displays or error."),
    PART ("result", result_fields, "Its result."),
    FIELD_END ("ReplayedCell"),
};
const struct field replay_fields[] = {
    PART ("session", session_whole_fields, "The new session."),
    LIST ("cells", cell_fields, "The cells that ran."),
    {.name = "left_out",
     .types = FIELD_LIST,
     .items = FIELD_INTEGER,
     .text = "The cells that were skipped because they ended the session."},
    FIELD_END ("Replay"),
};
