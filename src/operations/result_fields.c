/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run as fields. docs/results.md describes each in full. */
#include "operations/result_fields.h"

#include "common/field_rows.h"

const struct field result_error_fields[] = {
    TEXT ("type", "The exception's class, or the kind of failure."),
    TEXT ("message", "One sentence."),
    TEXT_0 ("traceback", "As Python prints it, with the lines of the caller's code only."),
    WHOLE_0 ("line", "The line of the caller's code."),
    TEXT_0 ("hint", "What to do about it, where that is known."),
    FIELD_END ("RunError"),
};

const struct field result_violation_fields[] = {
    TEXT ("rule", "The guard's rule."),
    WHOLE ("line", "From 1."),
    WHOLE ("column", "From 0."),
    TEXT ("text", "The beginning of the code there."),
    TEXT_0 ("hint", "What to do instead."),
    FIELD_END ("Violation"),
};

const struct field result_denial_fields[] = {
    TEXT ("kind", "network, file, write, call, install, processes, space, file_size, open_files or memory."),
    TEXT ("detail", "What was refused."),
    TEXT ("hint", "What to do instead, in one sentence."),
    FIELD_END ("Denial"),
};

const struct field result_host_fields[] = {
    TEXT ("host", "Its name."),
    WHOLE ("port", "The port."),
    WHOLE ("connections", "How many."),
    WHOLE ("in_bytes", "What came from it."),
    WHOLE ("out_bytes", "What went to it."),
    FIELD_END ("Connection"),
};

const struct field result_file_fields[] = {
    TEXT_0 ("file_id", "Under which it is kept; null where it is not."),
    TEXT ("name", "Relative to /work; below tmp/ for those in /tmp."),
    TEXT ("mime", "What it looks like."),
    WHOLE ("bytes", "Its size."),
    TEXT ("sha256", "The digest of its content."),
    TEXT_0 ("url", "A signed path from which it can be downloaded for a while."),
    FIELD_END ("MadeFile"),
};

const struct field result_change_fields[] = {
    TEXT_0 ("path", "Below the directory."),
    TEXT ("change", "created, changed, deleted or replaced."),
    TEXT_0 ("type_before", "file, link, directory or other."),
    TEXT_0 ("type", "What it is now."),
    WHOLE_0 ("bytes_before", "Of files."),
    WHOLE_0 ("bytes", "Of files."),
    TEXT_0 ("mode_before", "Permissions as octal text."),
    TEXT_0 ("mode", "Permissions as octal text."),
    TEXT_0 ("target", "Of a link."),
    FLAG ("binary", "No text, or longer than what is compared."),
    TEXT_0 ("diff", "Of text, as diff -u shows it without its head."),
    FLAG ("truncated", "The diff is cut or left out."),
    FIELD_END ("Change"),
};

const struct field result_session_fields[] = {
    TEXT ("session_id", "Which it is."),
    TEXT_0 ("name", "Its name."),
    WHOLE ("cell", "The number of this cell, from 1."),
    WHOLE ("variables", "How many there are now."),
    WHOLE_0 ("expires_in_ms", "When it ends if nothing uses it; null: it has ended."),
    TEXT ("status", "The same in words."),
    FIELD_END ("Cell"),
};

const struct field result_usage_fields[] = {
    REAL ("queue_ms", "Time spent waiting for a sandbox."),
    REAL ("wall_ms", "Wall-clock time."),
    REAL ("cpu_ms", "Processor time."),
    WHOLE_0 ("peak_memory_bytes", "Its highest memory use."),
    FIELD_END ("Usage"),
};

static const struct field container_fields[] = {
    TEXT_0 ("engine", "docker or podman."),
    TEXT_0 ("engine_version", "The engine's version."),
    TEXT_0 ("runtime", "The OCI runtime, such as runc."),
    TEXT_0 ("image", "The image, by its name."),
    TEXT_0 ("version", "Adder's version when it was built."),
    TEXT_0 ("digest", "The image, by its digest."),
    FIELD_END ("Container"),
};

const struct field result_isolation_fields[] = {
    WHOLE ("level", "That was in force, 0 to 4."),
    TEXTS ("missing", "The mechanisms that this host lacks."),
    TEXT ("backend", "native: a sandbox of the host's; or container."),
    PART_0 ("container", container_fields, "The container; null in a sandbox of the host's."),
    FIELD_END ("Isolation"),
};

struct field limit_asked_fields[LIMIT_COUNT + 1], limit_applied_fields[LIMIT_COUNT + 1];

static void __attribute__ ((constructor)) fill_limits (void)
{
  static const char *const units[] = {[UNIT_COUNT] = NULL, [UNIT_BYTES] = "bytes", [UNIT_MS] = "ms"};
  limit_asked_fields[LIMIT_COUNT] = (struct field)FIELD_END ("AskedLimits");
  limit_applied_fields[LIMIT_COUNT] = (struct field)FIELD_END ("Limits");
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    limit_applied_fields[i] = (struct field){
        .name = row->name, .types = FIELD_INTEGER, .unit = units[row->unit], .text = row->text};
    limit_asked_fields[i] = limit_applied_fields[i];
    limit_asked_fields[i].optional = TRUE;
    limit_asked_fields[i].minimum = (gint64)row->minimum;
    limit_asked_fields[i].maximum = (gint64)row->maximum;
  }
}

const struct field result_fields[] = {
    WHOLE ("schema_version", "1. A field may be added within a version; what one means does not change."),
    TEXT ("run_id", "A UUID of version 7."),
    {.name = "outcome",
     .types = FIELD_TEXT,
     .pattern = "^(ok|error|refused|approval_required|timeout|cpu_limit|memory_limit|output_limit|crashed|"
                "cancelled|busy|failed)$",
     .text = "How the run ended."},
    WHOLE ("exit_code", "The code's own, or the outcome's."),
    TEXT_0 ("signal", "The signal that ended the code, if any."),
    TEXT ("stdout", "What the code wrote; if long, the beginning and the end."),
    TEXT ("stderr", "The same for standard error."),
    WHOLE ("stdout_bytes", "The number of bytes that it wrote."),
    WHOLE ("stderr_bytes", "The number of bytes that it wrote to standard error."),
    FLAG ("truncated", "Whether stdout or stderr is shortened."),
    TEXT_0 ("result_id", "The id of the stored whole output, if there is one."),
    {.name = "value",
     .types = FIELD_OBJECT | FIELD_NULL,
     .items = FIELD_ANY,
     .text = "The value of the last expression, by MIME type."},
    {.name = "displays",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "What the code displayed: objects by MIME type, pictures in base64."},
    {.name = "charts",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text =
         "Matplotlib's figures as data, each with title and charts, as the code's process reported them."},
    PART_0 ("error", result_error_fields, "What went wrong."),
    LIST ("violations", result_violation_fields, "What the guard refused."),
    LIST ("denials", result_denial_fields, "What the sandbox refused, and limits that were reached."),
    LIST ("network", result_host_fields, "The hosts that were reached through the proxy."),
    LIST ("files", result_file_fields, "The files that the code created or changed."),
    LIST ("changes", result_change_fields, "What it changed in an overlay of a work directory."),
    TEXTS ("warnings", "What else a caller should know."),
    TEXT_0 ("approval_id", "The pending approval or review."),
    PART_0 ("session", result_session_fields, "The session, if the run was a cell."),
    PART ("usage", result_usage_fields, "Resources that it used."),
    PART ("limits", limit_applied_fields, "All limits as they were applied."),
    PART_0 ("isolation", result_isolation_fields, "Null if there was no sandbox."),
    FIELD_END ("Result"),
};
