/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on records: what was run, by whom, and how it ended. */
#include "common/json.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "store/record_fields.h"
#include "store/records.h"

/* ---- the functions ---- */

/* The filters of CALL, the caller's. A session's name becomes its id; NULL with ERROR: no such session. */
static json_t *
record_filters (const struct operation_call *call, GError **error)
{
  json_t *filters = operation_filters (call->params);
  const char *session = json_string_value (json_object_get (filters, "session"));
  if (!session || g_uuid_string_is_valid (session))
    return filters;
  g_autoptr (json_t) shown =
      operation_call (call->caller, "session.show", json_pack ("{s:s}", "session", session), error);
  if (!shown)
    g_clear_pointer (&filters, json_decref);
  else
    json_object_set (filters, "session", json_object_get (shown, "session_id"));
  return filters;
}

static json_t *
record_list (const struct operation_call *call, GError **error)
{
  g_autoptr (json_t) filters = record_filters (call, error);
  return filters ? records_list (call->caller->engine->store, call->owner, filters, error) : NULL;
}

static json_t *
record_show (const struct operation_call *call, GError **error)
{
  return records_search (call->caller->engine->store, call->owner, operation_text (call, "run"), error);
}

static json_t *
record_stats (const struct operation_call *call, GError **error)
{
  g_autoptr (json_t) filters = record_filters (call, error);
  return filters ? records_stats (call->caller->engine->store, call->owner, filters, error) : NULL;
}

static json_t *
record_export (const struct operation_call *call, GError **error)
{
  g_autoptr (json_t) filters = record_filters (call, error);
  if (!filters)
    return NULL;
  json_object_del (filters, "format");
  return records_export (call->caller->engine->store, call->owner, filters, operation_text (call, "format"),
                         call->caller->fd, error);
}

static json_t *
record_verify (const struct operation_call *call, GError **error)
{
  return records_verify (call->caller->engine->store, operation_text (call, "head"), error);
}

/* ---- the fields ---- */

static const struct field percentile_fields[] = {
    REAL_0 ("p50", "Half of them took no longer."),
    REAL_0 ("p90", "Nine of ten."),
    REAL_0 ("p99", "99 of 100."),
    REAL_0 ("max", "The longest."),
    FIELD_END ("Percentiles"),
};
static const struct field tally_fields[] = {
    TEXT_0 ("name", "Null: none."),
    WHOLE ("records", "How many."),
    REAL ("wall_ms", "In all."),
    REAL ("cpu_ms", "In all."),
    FIELD_END ("Tally"),
};
static const struct field groups_fields[] = {
    LIST ("outcome", tally_fields, "By outcome."),
    LIST ("tool", tally_fields, "By tool."),
    LIST ("profile", tally_fields, "By profile."),
    LIST ("owner", tally_fields, "By owner."),
    LIST ("front_end", tally_fields, "By the way it came."),
    LIST ("day", tally_fields, "By day."),
    FIELD_END ("TallyGroups"),
};
static const struct field record_stats_fields[] = {
    WHOLE ("records", "How many."),
    WHOLE ("ran", "Runs that had a sandbox."),
    TEXT_0 ("first", "The time of the first one."),
    TEXT_0 ("last", "The time of the last one."),
    REAL ("wall_ms_total", "In all."),
    REAL ("cpu_ms_total", "In all."),
    WHOLE ("peak_memory_bytes", "The highest of all runs."),
    PART ("wall_ms", percentile_fields, "Statistics of those that ran."),
    PART ("by", groups_fields, "The 100 most frequent values of each."),
    FIELD_END ("RecordStats"),
};

static const struct field anchor_fields[] = {
    WHOLE ("seq", "The last row that went."),
    TEXT ("digest", "Its digest."),
    WHOLE ("removed", "How many in all."),
    TEXT ("last_removed", "In UTC."),
    FIELD_END ("Anchor"),
};
static const struct field problem_fields[] = {
    TEXT ("kind", "The kind of problem."),
    WHOLE ("seq", "The number of the row."),
    TEXT_0 ("run_id", "The run of the row."),
    TEXT_0 ("text", "A description."),
    FIELD_END ("RecordProblem"),
};
static const struct field node_fields[] = {
    TEXT_0 ("node", "The machine."),
    WHOLE ("records", "How many."),
    TEXT_0 ("head", "The end of its chain."),
    PART_0 ("anchor", anchor_fields, "Where it begins."),
    TEXT_0 ("written_head", "The result for the given head."),
    WHOLE ("problem_count", "How many."),
    LIST ("problems", problem_fields, "The first of them."),
    FIELD_END ("ChainNode"),
};
static const struct field record_verify_fields[] = {
    FLAG ("ok", "Whether nothing was changed."),
    LIST ("nodes", node_fields, "The chain of each machine."),
    FIELD_END ("RecordVerification"),
};

static const struct field record_export_fields[] = {
    WHOLE ("records", "How many."),
    WHOLE ("bytes", "In all."),
    WHOLE ("damaged", "The number of damaged records."),
    {0},
};

static const struct field list_params[] = {RECORD_FILTERS, ASK_OWNER, RECORD_PAGE, {0}};
static const struct field stats_params[] = {RECORD_FILTERS, ASK_OWNER, {0}};
const struct field record_export_params[] = {
    RECORD_FILTERS,
    ASK_OWNER,
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"jsonl\"",
     .words = FIELD_WORDS ("jsonl", "csv"),
     .text = "JSON lines or CSV."},
    {0},
};
static const struct field show_params[] = {
    FIELD_ID ("run", "The run's id, or its first characters where no other has the same."), ASK_OWNER, {0}};
static const struct field verify_params[] = {
    ASK_TEXT ("head", 400, "A node's `head` from an earlier answer."),
    {0},
};

static const struct field *const list_replies[] = {record_list_fields, NULL};
static const struct field *const show_replies[] = {record_fields, NULL};
static const struct field *const stats_replies[] = {record_stats_fields, NULL};
static const struct field *const export_replies[] = {record_export_fields, NULL};
static const struct field *const verify_replies[] = {record_verify_fields, NULL};

/* ---- the table ---- */

#define RECORDS "/v1/records"

const struct operation record_operations[] = {
    {
        .name = "record.list",
        .title = "List records",
        .text = "The newest first, with the beginning of their code.",
        .role = ROLE_USER,
        .flags = OPERATION_KEPT,
        .params = list_params,
        .replies = list_replies,
        .run = record_list,
        .http = {"GET", RECORDS, "listRecords", 200},
    },
    {
        .name = "record.stats",
        .title = "Count records",
        .text = "By outcome, tool, profile, owner, front end and day, and how long runs took.",
        .role = ROLE_USER,
        .flags = OPERATION_KEPT,
        .params = stats_params,
        .replies = stats_replies,
        .run = record_stats,
        .http = {"GET", RECORDS "/stats", "countRecords", 200},
    },
    {
        .name = "record.export",
        .title = "Export records",
        .text = "Writes all of them, the oldest first, to the descriptor that comes along. Over HTTP it is "
                "`exportRecords`.",
        .role = ROLE_USER,
        .flags = OPERATION_KEPT | OPERATION_FILE,
        .params = record_export_params,
        .replies = export_replies,
        .run = record_export,
    },
    {
        .name = "record.verify",
        .title = "Verify the records",
        .text = "Goes through the chains of all nodes: what was changed, what is missing.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = verify_params,
        .replies = verify_replies,
        .run = record_verify,
        .http = {"GET", RECORDS "/verify", "verifyRecords", 200},
    },
    {
        .name = "record.show",
        .title = "Show a record",
        .text = "All of it, with its code.",
        .role = ROLE_USER,
        .flags = OPERATION_KEPT,
        .params = show_params,
        .replies = show_replies,
        .run = record_show,
        .http = {"GET", RECORDS "/{run}", "showRecord", 200},
    },
    {0},
};
