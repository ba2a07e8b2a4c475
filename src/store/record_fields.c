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
    MS_OF ("queue_ms", RECORD_QUEUE_US, "Time spent waiting for a sandbox."),
    MS_OF ("wall_ms", RECORD_WALL_US, "Wall-clock time."),
    MS_OF ("cpu_ms", RECORD_CPU_US, "Processor time."),
    WHOLE_OF ("peak_memory_bytes", RECORD_PEAK_BYTES, "Its highest memory use."),
    FIELD_END ("RecordUsage"),
};

const struct field record_workdir_fields[] = {
    TEXT ("path", "The path of the directory."),
    TEXT ("mode", "read, overlay, review or rw."),
    FIELD_END ("RecordWorkDirectory"),
};
static const struct field more_fields[] = {
    SOME (.name = "description", .types = FIELD_TEXT, .text = "The purpose of the code."),
    SOME (.name = "arguments", .types = FIELD_ANY, .text = "The tool's arguments, shortened."),
    SOME (.name = "argv", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "The code's arguments."),
    SOME (.name = "variables", .types = FIELD_LIST, .items = FIELD_TEXT,
          .text = "The names of its environment variables."),
    SOME (.name = "inputs", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "The files that it got."),
    SOME (.name = "workdir", .types = FIELD_OBJECT, .members = record_workdir_fields,
          .text = "Its work directory."),
    SOME (.name = "limits", .types = FIELD_OBJECT, .items = FIELD_INTEGER,
          .text = "Limits that differ from the default."),
    SOME (.name = "missing", .types = FIELD_LIST, .items = FIELD_TEXT,
          .text = "Mechanisms that the host lacked."),
    SOME (.name = "output", .types = FIELD_OBJECT,
          .text = "The size of its output, and whether it is stored."),
    SOME (.name = "files", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "The files that it created."),
    SOME (.name = "error", .types = FIELD_OBJECT, .text = "What went wrong, shortened."),
    SOME (.name = "signal", .types = FIELD_INTEGER, .text = "The signal that ended it."),
    SOME (.name = "denials", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "As in the result."),
    SOME (.name = "network", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "As in the result."),
    SOME (.name = "approved_by", .types = FIELD_TEXT, .text = "Who approved it, and when."),
    SOME (.name = "waits_for", .types = FIELD_TEXT, .text = "The approval that it waits for."),
    FIELD_END ("RecordDetails"),
};

/* clang-format off */
#define BEFORE_CODE \
    TEXT_OF ("run_id", RECORD_RUN_ID, "As in the result."), \
    TEXT_OF ("started", RECORD_STARTED_MS, "The time of the request."), \
    TEXT_OF ("owner", RECORD_OWNER, "The caller."), \
    TEXT_OF ("conversation", RECORD_CONVERSATION, "The conversation."), \
    TEXT_OF ("front_end", RECORD_FRONT_END, "The interface."), \
    TEXT_OF ("role", RECORD_ROLE, "The caller's role."), \
    TEXT_OF ("tool", RECORD_TOOL, "The tool."), \
    TEXT_OF ("profile", RECORD_PROFILE, "The profile."), \
    TEXT_OF ("environment", RECORD_ENVIRONMENT, "The environment that it used."), \
    TEXT_OF ("session_id", RECORD_SESSION, "The session."), \
    WHOLE_OF ("cell", RECORD_CELL, "The number of the cell."), \
    TEXT_OF ("outcome", RECORD_OUTCOME, "How it ended."), \
    WHOLE_OF ("exit_code", RECORD_EXIT_CODE, "As in the result."), \
    PART ("usage", usage_fields, "Resources that it used."), \
    WHOLE_OF ("isolation_level", RECORD_LEVEL, "Null if nothing ran."), \
    TEXT_OF ("approval", RECORD_APPROVAL, "Its approval.")
#define CODE_DIGEST TEXT_OF ("code_sha256", RECORD_CODE_SHA256, "The digest of the whole code.")
#define PLACE \
    TEXT_OF ("node", RECORD_NODE, "The machine that wrote it."), \
    WHOLE_OF ("seq", RECORD_SEQ, "Its number in the machine's chain."), \
    TEXT_OF ("digest", RECORD_DIGEST, "The digest of this row and the one before."), \
    SOME (.name = "damaged", .types = FIELD_BOOLEAN, .text = "Whether the row was damaged."), \
    SOME (.name = "damaged_columns", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "The columns that cannot be read.")
/* clang-format on */

const struct field record_fields[] = {
    BEFORE_CODE,
    TEXT_OF ("code", RECORD_CODE, "The code, up to 1 MiB."),
    CODE_DIGEST,
    {.name = "more",
     .types = FIELD_OBJECT | FIELD_NULL,
     .members = more_fields,
     .text = "Further details.",
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
    LIST ("records", record_brief_fields, "Newest first."),
    TEXT_0 ("next", "The value of `before` for the next page; null if there is none."),
    FIELD_END ("RecordPage"),
};
