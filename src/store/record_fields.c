/* SPDX-License-Identifier: Apache-2.0 */
/* A record as JSON: its members, the columns that they show, and the filters of those who look for some. */
#include "store/record_fields.h"

#include "store/records_private.h"

/* clang-format off */
#define COLUMN(member, type, column, says) \
  {.name = (member), .types = (type) | FIELD_NULL, .text = (says), .marks = RECORD_FIELD_MARK (column)}
#define TEXT_OF(member, column, says)  COLUMN (member, FIELD_TEXT, column, says)
#define WHOLE_OF(member, column, says) COLUMN (member, FIELD_INTEGER, column, says)
#define MS_OF(member, column, says)    COLUMN (member, FIELD_NUMBER, column, says)
/* clang-format on */

static const struct field usage_fields[] = {
    MS_OF ("queue_ms", RECORD_QUEUE_US, "Waiting for a sandbox."),
    MS_OF ("wall_ms", RECORD_WALL_US, "By the clock."),
    MS_OF ("cpu_ms", RECORD_CPU_US, "Of the processors."),
    WHOLE_OF ("peak_memory_bytes", RECORD_PEAK_BYTES, "The most that it held."),
    FIELD_END ("RecordUsage"),
};

const struct field record_workdir_fields[] = {
    TEXT ("path", "Of the directory."),
    TEXT ("mode", "read, overlay, review or rw."),
    FIELD_END ("RecordWorkDirectory"),
};
static const struct field more_fields[] = {
    SOME (.name = "description", .types = FIELD_TEXT, .text = "What the code is for."),
    SOME (.name = "arguments", .types = FIELD_ANY, .text = "Of the tool, shortened."),
    SOME (.name = "argv", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Of the code."),
    SOME (.name = "variables", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Names of its environment."),
    SOME (.name = "inputs", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Files that it was given."),
    SOME (.name = "workdir", .types = FIELD_OBJECT, .members = record_workdir_fields,
          .text = "Where it worked."),
    SOME (.name = "limits", .types = FIELD_OBJECT, .items = FIELD_INTEGER,
          .text = "Those that are not the default."),
    SOME (.name = "missing", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "What the host lacked."),
    SOME (.name = "output", .types = FIELD_OBJECT, .text = "How much there was, and whether it is kept."),
    SOME (.name = "files", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "That it made."),
    SOME (.name = "error", .types = FIELD_OBJECT, .text = "What went wrong, shortened."),
    SOME (.name = "signal", .types = FIELD_INTEGER, .text = "That ended it."),
    SOME (.name = "denials", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "As in the result."),
    SOME (.name = "network", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "As in the result."),
    SOME (.name = "waits_for", .types = FIELD_TEXT, .text = "The approval that it waits for."),
    FIELD_END ("RecordDetails"),
};

/* clang-format off */
#define BEFORE_CODE \
    TEXT_OF ("run_id", RECORD_RUN_ID, "As in the result."), \
    TEXT_OF ("started", RECORD_STARTED_MS, "When it was asked for."), \
    TEXT_OF ("owner", RECORD_OWNER, "Who asked."), \
    TEXT_OF ("conversation", RECORD_CONVERSATION, "In which conversation."), \
    TEXT_OF ("front_end", RECORD_FRONT_END, "By which way."), \
    TEXT_OF ("role", RECORD_ROLE, "As what."), \
    TEXT_OF ("tool", RECORD_TOOL, "With which tool."), \
    TEXT_OF ("profile", RECORD_PROFILE, "Under which rules."), \
    TEXT_OF ("environment", RECORD_ENVIRONMENT, "In which interpreter."), \
    TEXT_OF ("session_id", RECORD_SESSION, "In which session."), \
    WHOLE_OF ("cell", RECORD_CELL, "As which cell."), \
    TEXT_OF ("outcome", RECORD_OUTCOME, "How it ended."), \
    WHOLE_OF ("exit_code", RECORD_EXIT_CODE, "As in the result."), \
    PART ("usage", usage_fields, "What it used."), \
    WHOLE_OF ("isolation_level", RECORD_LEVEL, "Null where nothing ran."), \
    TEXT_OF ("approval", RECORD_APPROVAL, "The yes that it had.")
#define CODE_DIGEST TEXT_OF ("code_sha256", RECORD_CODE_SHA256, "The digest of all of the code.")
#define PLACE \
    TEXT_OF ("node", RECORD_NODE, "Which machine wrote it."), \
    WHOLE_OF ("seq", RECORD_SEQ, "Its place in that one's chain."), \
    TEXT_OF ("digest", RECORD_DIGEST, "Of this row and the one before."), \
    SOME (.name = "damaged", .types = FIELD_BOOLEAN, .text = "Somebody changed the row."), \
    SOME (.name = "damaged_columns", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "What cannot be read.")
/* clang-format on */

const struct field record_fields[] = {
    BEFORE_CODE,
    TEXT_OF ("code", RECORD_CODE, "The code, up to 1 MiB."),
    CODE_DIGEST,
    {.name = "more",
     .types = FIELD_OBJECT | FIELD_NULL,
     .members = more_fields,
     .text = "What else there is to say.",
     .marks = RECORD_FIELD_MARK (RECORD_MORE)},
    PLACE,
    FIELD_END ("Record"),
};

const struct field record_brief_fields[] = {
    BEFORE_CODE,
    TEXT_OF ("code_start", RECORD_CODE, "The beginning of the code."),
    CODE_DIGEST,
    PLACE,
    FIELD_END ("RecordSummary"),
};

const struct field record_list_fields[] = {
    LIST ("records", record_brief_fields, "The newest first."),
    TEXT_0 ("next", "What to give as `before` for the next page; null: there is none."),
    FIELD_END ("RecordPage"),
};
