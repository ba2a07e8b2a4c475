/* SPDX-License-Identifier: Apache-2.0 */
/* What the library answers, as fields. */
#include "frontends/http/shapes.h"

const struct field no_fields[] = {{0}};

/* ---- files ---- */

const struct field file_fields[] = {
    TEXT ("file_id", "What it is asked for by; ids sort by the time of their making."),
    TEXT ("name", "The last part of the name that it was given, cleaned."),
    TEXT ("kind", "generated, table, uploaded, stdout or stderr."),
    TEXT ("mime", "By the name's ending, else by the first bytes."),
    WHOLE ("bytes", "Its size."),
    TEXT ("sha256", "The digest of its content."),
    TEXT ("created", "In UTC."),
    TEXT ("expires", "In UTC."),
    TEXT_0 ("owner", "Whose it is."),
    TEXT_0 ("conversation", "To which it belongs."),
    TEXT_0 ("session", "In which it was made."),
    TEXT_0 ("run_id", "Which run made it."),
    TEXT_0 ("url", "A signed path by which whoever has it can read the file for a while."),
    {0},
};
const struct field file_list_fields[] = {
    LIST ("files", file_fields, "The newest first."),
    TEXT_0 ("next", "What to give as `before` for the next page; null: there is none."),
    {0},
};
const struct field files_fields[] = {
    LIST ("files", file_fields, "In the order in which they came."),
    {0},
};

/* ---- sessions ---- */

static const struct field session_checkpoint_fields[] = {
    TEXT ("checkpoint_id", "Its id."),
    TEXT_0 ("name", "Its name."),
    WHOLE ("cell", "The last cell before it."),
    WHOLE ("variables", "How many there were."),
    TEXT ("created", "When it was made."),
    WHOLE ("memory_bytes", "What it holds."),
    {0},
};

const struct field session_fields[] = {
    TEXT ("session_id", "A UUID of version 7."),
    TEXT_0 ("name", "Its name."),
    TEXT_0 ("owner", "Whose it is."),
    TEXT_0 ("environment", "Its interpreter and packages."),
    TEXT_0 ("profile", "Its limits and rules."),
    TEXT ("state", "idle, busy or ended."),
    WHOLE ("cells", "How many it ran."),
    WHOLE ("variables", "How many it has."),
    TEXT ("created", "When it was made."),
    WHOLE_0 ("idle_ms", "Since it was used; null unless it is idle."),
    WHOLE_0 ("expires_in_ms", "When it ends if nobody uses it; null unless it is idle."),
    WHOLE ("memory_bytes", "That it held when it was last looked at."),
    TEXT_0 ("parent", "The session that it is a branch of."),
    LIST ("checkpoints", session_checkpoint_fields, "Those that it can be put back to."),
    TEXT_0 ("shell", "ipython or plain."),
    PART_0 ("isolation", result_isolation_fields, "What holds it."),
    TEXT_0 ("reason", "Why it has ended."),
    {0},
};
const struct field session_list_fields[] = {
    LIST ("sessions", session_fields, "Those that live, then those that ended lately."),
    {0},
};

static const struct field variable_fields[] = {
    TEXT ("name", "Its name."),
    TEXT ("type", "Its class."),
    {.name = "shape",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_INTEGER,
     .text = "Of tables and arrays."},
    WHOLE_0 ("bytes", "With the contents for tables and arrays."),
    SOME (.name = "value", .types = FIELD_TEXT, .text = "Of one that was named."),
    {0},
};
const struct field variables_fields[] = {
    LIST ("variables", variable_fields, "At most 1000 of them."),
    WHOLE ("count", "How many there are."),
    {0},
};

static const struct field cell_fields[] = {
    WHOLE ("cell", "Its number."), TEXT ("code", "What it ran."),         TEXT ("outcome", "How it ended."),
    TEXT ("started", "In UTC."),   REAL ("wall_ms", "How long it took."), {0},
};
const struct field history_fields[] = {
    LIST ("cells", cell_fields, "The oldest first."),
    WHOLE ("dropped", "How many of the first are no longer on record."),
    {0},
};

const struct field checkpoint_fields[] = {
    TEXT ("checkpoint_id", "Its id."),
    TEXT_0 ("name", "Its name."),
    WHOLE ("cell", "The last cell before it."),
    WHOLE ("variables", "How many there were."),
    TEXT ("created", "When it was made."),
    WHOLE ("memory_bytes", "What it holds."),
    TEXTS ("warnings", "What both share that they should not."),
    {0},
};
const struct field checkpoint_list_fields[] = {
    LIST ("checkpoints", session_checkpoint_fields, "The oldest first."),
    {0},
};

/* ---- reviews ---- */

const struct field review_fields[] = {
    TEXT ("review_id", "Its id; that of its approval as well."),
    TEXT ("state", "waiting, broken off, committed or dropped."),
    TEXT ("directory", "The one that would be changed."),
    TEXT_0 ("conversation", "To which it belongs."),
    TEXT ("created", "In UTC."),
    TEXT ("digest", "Of the changes: what a yes is for."),
    WHOLE ("files", "How many are changed."),
    WHOLE ("bytes", "What they have in all."),
    {0},
};
const struct field review_whole_fields[] = {
    TEXT ("review_id", "Its id; that of its approval as well."),
    TEXT ("state", "waiting, broken off, committed or dropped."),
    TEXT ("directory", "The one that would be changed."),
    TEXT_0 ("conversation", "To which it belongs."),
    TEXT ("created", "In UTC."),
    TEXT ("digest", "Of the changes: what a yes is for."),
    WHOLE ("files", "How many are changed."),
    WHOLE ("bytes", "What they have in all."),
    LIST ("changes", result_change_fields, "Each of them."),
    {0},
};
const struct field review_list_fields[] = {
    LIST ("reviews", review_fields, "Those that wait, and those that were broken off."),
    {0},
};

/* ---- approvals ---- */

static const struct field place_fields[] = {
    TEXT ("path", "Of the directory."),
    TEXT ("mode", "read, overlay, review or rw."),
    {0},
};
static const struct field bound_fields[] = {
    TEXT ("name", "As the run would see it."),
    WHOLE_0 ("bytes", "Its size."),
    TEXT_0 ("sha256", "The digest of its content."),
    TEXT ("bound", "What a yes is for: content, identity or nothing."),
    {0},
};

/* What both have: in lists and alone. */
/* clang-format off */
#define APPROVAL_HEAD \
    TEXT ("approval_id", "Its id."), \
    TEXT ("kind", "run, or changes of a directory."), \
    TEXT ("state", "pending, approved or denied."), \
    TEXT_0 ("conversation", "To which it belongs."), \
    TEXT ("digest", "Of all that a yes is for."), \
    TEXT_0 ("review_id", "Of changes: the review."), \
    TEXT_0 ("reason", "Of a no."), \
    TEXT ("asked", "In UTC."), \
    WHOLE ("expires_in_ms", "How long it waits yet."), \
    {.name = "outcome", .types = FIELD_OBJECT | FIELD_NULL, .text = "Of changes: what came of them."}, \
    TEXT_0 ("description", "What the code is for, as who asked says."), \
    TEXT_0 ("profile", "Under whose rules it would run."), \
    TEXT_0 ("environment", "In which interpreter."), \
    TEXT_0 ("name", "What the code calls itself.")
/* clang-format on */

const struct field approval_fields[] = {
    APPROVAL_HEAD,
    PART_0 ("workdir", place_fields, "The directory of the host that it would work in."),
    TEXT_0 ("code", "What would run."),
    SOME (.name = "changes", .types = FIELD_INTEGER, .text = "Of changes: how many."),
    SOME (.name = "session", .types = FIELD_TEXT | FIELD_NULL, .text = "The session it is a cell of."),
    SOME (.name = "isolation", .types = FIELD_TEXT, .text = "The kind of sandbox."),
    SOME (.name = "lines", .types = FIELD_INTEGER, .text = "Of the code."),
    SOME (.name = "first_line", .types = FIELD_TEXT | FIELD_NULL, .text = "Of the code."),
    SOME (.name = "files", .types = FIELD_LIST, .items = FIELD_OBJECT, .members = bound_fields,
          .text = "What it is given."),
    SOME (.name = "stdin", .types = FIELD_OBJECT | FIELD_NULL, .members = bound_fields,
          .text = "Standard input."),
    SOME (.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT | FIELD_NULL,
          .text = "Of its environment."),
    SOME (.name = "values", .types = FIELD_OBJECT, .items = FIELD_ANY, .text = "Of its variables."),
    SOME (.name = "arguments", .types = FIELD_LIST, .items = FIELD_TEXT | FIELD_NULL,
          .text = "What sys.argv has after the name."),
    SOME (.name = "limits", .types = FIELD_OBJECT, .items = FIELD_INTEGER,
          .text = "Those that were asked for."),
    {0},
};

static const struct field approval_short_fields[] = {
    APPROVAL_HEAD,
    TEXT_0 ("session", "The session it is a cell of."),
    PART_0 ("workdir", place_fields, "The directory of the host that it would work in."),
    TEXT_0 ("first_line", "Of the code."),
    WHOLE_0 ("lines", "Of the code."),
    {0},
};
const struct field approval_list_fields[] = {
    LIST ("approvals", approval_short_fields, "Those that wait first."),
    {0},
};

/* ---- records ---- */

static const struct field record_usage_fields[] = {
    REAL_0 ("queue_ms", "Waiting for a sandbox."),
    REAL_0 ("wall_ms", "By the clock."),
    REAL_0 ("cpu_ms", "Of the processors."),
    WHOLE_0 ("peak_memory_bytes", "The most that it held."),
    {0},
};
static const struct field record_more_fields[] = {
    SOME (.name = "description", .types = FIELD_TEXT, .text = "What the code is for."),
    SOME (.name = "arguments", .types = FIELD_ANY, .text = "Of the tool, shortened."),
    SOME (.name = "argv", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Of the code."),
    SOME (.name = "variables", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Names of its environment."),
    SOME (.name = "inputs", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "Files that it was given."),
    SOME (.name = "workdir", .types = FIELD_OBJECT, .members = place_fields, .text = "Where it worked."),
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
    {0},
};

/* clang-format off */
#define RECORD_HEAD \
    TEXT_0 ("run_id", "As in the result."), \
    TEXT_0 ("started", "When it was asked for."), \
    TEXT_0 ("owner", "Who asked."), \
    TEXT_0 ("conversation", "In which conversation."), \
    TEXT_0 ("front_end", "By which way."), \
    TEXT_0 ("role", "As what."), \
    TEXT_0 ("tool", "With which tool."), \
    TEXT_0 ("profile", "Under which rules."), \
    TEXT_0 ("environment", "In which interpreter."), \
    TEXT_0 ("session_id", "In which session."), \
    WHOLE_0 ("cell", "As which cell."), \
    TEXT_0 ("outcome", "How it ended."), \
    WHOLE_0 ("exit_code", "As in the result."), \
    PART ("usage", record_usage_fields, "What it used."), \
    WHOLE_0 ("isolation_level", "Null where nothing ran."), \
    TEXT_0 ("approval", "The yes that it had."), \
    TEXT_0 ("code_sha256", "The digest of all of the code."), \
    TEXT_0 ("node", "Which machine wrote it."), \
    WHOLE_0 ("seq", "Its place in that one's chain."), \
    TEXT_0 ("digest", "Of this row and the one before."), \
    SOME (.name = "damaged", .types = FIELD_BOOLEAN, .text = "Somebody changed the row."), \
    SOME (.name = "damaged_columns", .types = FIELD_LIST, .items = FIELD_TEXT, .text = "What cannot be read.")
/* clang-format on */

const struct field record_fields[] = {
    RECORD_HEAD,
    TEXT_0 ("code", "The code, up to 1 MiB."),
    PART_0 ("more", record_more_fields, "What else there is to say."),
    {0},
};
static const struct field record_brief_fields[] = {
    RECORD_HEAD,
    TEXT_0 ("code_start", "The beginning of the code."),
    {0},
};
const struct field record_list_fields[] = {
    LIST ("records", record_brief_fields, "The newest first."),
    TEXT_0 ("next", "What to give as `before` for the next page; null: there is none."),
    {0},
};

static const struct field percentile_fields[] = {
    REAL_0 ("p50", "Half of them took no longer."),
    REAL_0 ("p90", "Nine of ten."),
    REAL_0 ("p99", "99 of 100."),
    REAL_0 ("max", "The longest."),
    {0},
};
static const struct field tally_fields[] = {
    TEXT_0 ("name", "Null: none."),
    WHOLE ("records", "How many."),
    REAL ("wall_ms", "In all."),
    REAL ("cpu_ms", "In all."),
    {0},
};
static const struct field groups_fields[] = {
    LIST ("outcome", tally_fields, "By outcome."),
    LIST ("tool", tally_fields, "By tool."),
    LIST ("profile", tally_fields, "By profile."),
    LIST ("owner", tally_fields, "By owner."),
    LIST ("front_end", tally_fields, "By the way it came."),
    LIST ("day", tally_fields, "By day."),
    {0},
};
const struct field record_stats_fields[] = {
    WHOLE ("records", "How many."),
    WHOLE ("ran", "Those that had a sandbox."),
    TEXT_0 ("first", "When the first was."),
    TEXT_0 ("last", "When the last was."),
    REAL ("wall_ms_total", "In all."),
    REAL ("cpu_ms_total", "In all."),
    WHOLE ("peak_memory_bytes", "The most that one held."),
    PART ("wall_ms", percentile_fields, "Of those that ran."),
    PART ("by", groups_fields, "The largest 100 of each."),
    {0},
};

static const struct field anchor_fields[] = {
    WHOLE ("seq", "The last row that went."),
    TEXT ("digest", "Its digest."),
    WHOLE ("removed", "How many in all."),
    TEXT ("last_removed", "In UTC."),
    {0},
};
static const struct field problem_fields[] = {
    TEXT ("kind", "What kind."),
    WHOLE ("seq", "Which row."),
    TEXT_0 ("run_id", "Of which run."),
    TEXT_0 ("text", "In words."),
    {0},
};
static const struct field node_fields[] = {
    TEXT_0 ("node", "The machine."),
    WHOLE ("records", "How many."),
    TEXT_0 ("head", "The end of its chain."),
    PART_0 ("anchor", anchor_fields, "Where it begins."),
    TEXT_0 ("written_head", "What became of the head that was given."),
    WHOLE ("problem_count", "How many."),
    LIST ("problems", problem_fields, "The first of them."),
    {0},
};
const struct field record_verify_fields[] = {
    FLAG ("ok", "All is as it was written."),
    LIST ("nodes", node_fields, "The chain of each machine."),
    {0},
};
