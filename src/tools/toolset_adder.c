/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `adder`, ours: the table. Its handlers are in adder_run.c and adder_session.c. */
#include "tools/toolset_adder.h"

#include "operations/session_fields.h"
#include "tools/export_tool.h"
#include "tools/file_tools.h"
#include "tools/result_tools.h"
#include "tools/shapes.h"

#define ARGUMENTS_MAX 256
#define PACKAGES_MAX  64

/* clang-format off */
#define PARAMETER_MEMORY \
  {.name = "memory_mb", .types = FIELD_INTEGER, .optional = TRUE, .marks = FIELD_IN_FULL, .minimum = 8, .maximum = 65536, .unit = "MiB", \
   .text = "The most memory that it may use; the profile's limit where it is left out. Settled with a session."}
#define PARAMETER_ENVIRONMENT \
  {.name = "environment", .types = FIELD_TEXT, .optional = TRUE, .marks = FIELD_IN_FULL, .maximum = 64, \
   .text = "An interpreter with its packages, such as science or system. Settled with a session."}
#define PARAMETER_PROFILE \
  {.name = "profile", .types = FIELD_TEXT, .optional = TRUE, .marks = FIELD_IN_FULL, .maximum = 64, \
   .text = "A named set of limits and rules, such as standard. Settled with a session."}
#define PARAMETER_PACKAGES \
  {.name = "packages", .types = FIELD_LIST, .items = FIELD_TEXT, .optional = TRUE, .maximum = PACKAGES_MAX, \
   .text = "Packages to install beside those of the environment, such as polars==1.9, where the profile allows " \
           "it. Settled with a session."}
/* clang-format on */

static const struct field run_parameters[] = {
    FIELD_CODE ("Python code. The value of its last expression comes back as well."),
    FIELD_NAME ("session", TRUE,
                "Go on in this session, with the variables, imports and files of its earlier calls. Without "
                "one nothing stays for the next call."),
    {.name = "end_session",
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "false",
     .text = "End the session after this code."},
    PARAMETER_FILES (
        "Files that the code finds in its current directory: ids of stored files (from list_files or "
        "an earlier reply)."),
    {.name = "timeout",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 3600,
     .unit = "s",
     .text = "The longest that the code may run; else the profile's limit."},
    PARAMETER_MEMORY,
    PARAMETER_ENVIRONMENT,
    PARAMETER_PACKAGES,
    PARAMETER_PROFILE,
    {.name = "arguments",
     .marks = FIELD_IN_FULL,
     .types = FIELD_LIST,
     .items = FIELD_TEXT,
     .optional = TRUE,
     .standard = "[]",
     .maximum = ARGUMENTS_MAX,
     .text = "What sys.argv has after the name. A session has none."},
    {.name = "charts",
     .marks = FIELD_IN_FULL,
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "false",
     .text = "Also return what matplotlib drew as data, for who cannot see pictures."},
    {.name = "tables",
     .marks = FIELD_IN_FULL,
     .types = FIELD_TEXT,
     .optional = TRUE,
     .words = FIELD_WORDS ("csv", "parquet", "json", "none"),
     .text = "Also keep each table that the code shows, whole, as a file of this format; as the profile says "
             "where it is left out."},
    FIELD_DESCRIPTION,
    {0},
};

static const struct field error_members[] = {
    {.name = "type", .types = FIELD_TEXT, .text = "The exception's class, or the kind of failure."},
    {.name = "message", .types = FIELD_TEXT, .text = "One sentence."},
    {.name = "traceback", .types = FIELD_TEXT | FIELD_NULL, .text = "With the lines of this code only."},
    {.name = "line", .types = FIELD_INTEGER | FIELD_NULL, .text = "The line of this code."},
    {.name = "hint", .types = FIELD_TEXT | FIELD_NULL, .text = "What to do about it, where that is known."},
    {0},
};

static const struct field file_members[] = {
    {.name = "name", .types = FIELD_TEXT, .text = "Relative to /work; below tmp/ for those in /tmp."},
    {.name = "mime", .types = FIELD_TEXT | FIELD_NULL, .text = "What it looks like."},
    {.name = "bytes", .types = FIELD_INTEGER, .text = "Its size."},
    {.name = "file_id", .types = FIELD_TEXT | FIELD_NULL, .text = "Under which it is kept, where it is."},
    {.name = "url",
     .types = FIELD_TEXT | FIELD_NULL,
     .marks = FIELD_IN_FULL,
     .text = "Where to download it, if it is kept."},
    {0},
};

static const struct field session_members[] = {
    {.name = "session_id", .types = FIELD_TEXT, .text = "Its id."},
    {.name = "name", .types = FIELD_TEXT | FIELD_NULL, .marks = FIELD_IN_FULL, .text = "Its name."},
    {.name = "cell", .types = FIELD_INTEGER, .marks = FIELD_IN_FULL, .text = "The number of this cell."},
    {.name = "variables", .types = FIELD_INTEGER, .marks = FIELD_IN_FULL, .text = "How many there are now."},
    {.name = "expires_in_ms",
     .marks = FIELD_IN_FULL,
     .types = FIELD_INTEGER | FIELD_NULL,
     .text = "When it ends if nothing uses it."},
    {.name = "status", .types = FIELD_TEXT, .text = "The same in words."},
    {0},
};

static const struct field run_reply[] = {
    {.name = "outcome",
     .types = FIELD_TEXT,
     .text = "ok, error, refused, timeout, cpu_limit, memory_limit, output_limit or crashed."},
    {.name = "exit_code", .types = FIELD_INTEGER, .text = "The code's own, or the outcome's."},
    {.name = "stdout", .types = FIELD_TEXT, .text = "What the code wrote; of long output head and tail."},
    {.name = "stderr", .types = FIELD_TEXT, .text = "The same of standard error."},
    {.name = "truncated", .types = FIELD_BOOLEAN, .text = "Whether there was more output."},
    {.name = "result_id", .types = FIELD_TEXT | FIELD_NULL, .text = "Under which the whole output is kept."},
    {.name = "value",
     .types = FIELD_TEXT | FIELD_NULL,
     .text = "The last expression's value; tables as Markdown."},
    {.name = "displays",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "What was displayed, by MIME type: Markdown or plain text, and pictures as PNG in base64."},
    {.name = "charts",
     .marks = FIELD_IN_FULL,
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .optional = TRUE,
     .text = "What matplotlib drew, as data, where it was asked for."},
    {.name = "error",
     .types = FIELD_OBJECT | FIELD_NULL,
     .members = error_members,
     .text = "What went wrong."},
    {.name = "violations",
     .marks = FIELD_IN_FULL,
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "What the profile's rules refuse, each with rule, line, column, text and hint."},
    {.name = "denials",
     .marks = FIELD_IN_FULL,
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "What the sandbox refused, each with kind, detail and a hint what to do instead."},
    {.name = "files",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = file_members,
     .text = "Files that the code made or changed."},
    {.name = "warnings",
     .marks = FIELD_IN_FULL,
     .types = FIELD_LIST,
     .items = FIELD_TEXT,
     .text = "What else there is to know."},
    {.name = "session",
     .types = FIELD_OBJECT | FIELD_NULL,
     .members = session_members,
     .text = "The session that this was a cell of."},
    {.name = "wall_ms", .types = FIELD_NUMBER, .marks = FIELD_IN_FULL, .text = "How long it took."},
    {0},
};

static const struct field *const run_replies[] = {run_reply, NULL};

static const struct field new_parameters[] = {
    FIELD_NAME ("name", TRUE, "A name for it; without one it has an id alone."),
    PARAMETER_ENVIRONMENT,
    PARAMETER_PACKAGES,
    PARAMETER_PROFILE,
    PARAMETER_MEMORY,
    {.name = "timeout",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 3600,
     .unit = "s",
     .text = "The longest that each cell may run; the profile's limit where it is left out."},
    {0},
};
/* ---- the table ---- */

static const struct tool tools[] = {
    {
        .name = "run_python",
        .title = "Run Python",
        .description =
            "Runs Python code in a fresh, isolated interpreter, or in a session when one is named, and "
            "returns "
            "what happened: outcome, output, the value of the last expression, what was displayed (tables as "
            "Markdown, figures as PNG), the error with its line, files that were made, and what the sandbox "
            "refused, with a hint. A call takes milliseconds. The current directory, "
            "/work, "
            "is empty except for files; there is no network unless the profile gives it one.",
        .guidance = "Run code rather than guess what it would do. For one question one run is enough; when "
                    "steps build "
                    "on each other, pass the same session in each call. When outcome is not ok, "
                    "read error.hint and denials, and change the code accordingly.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE | TOOL_OPEN_WORLD | TOOL_LOCAL_FILES,
        .parameters = run_parameters,
        .replies = run_replies,
        .handle = adder_run_tool,
    },
    TOOL_EXPORT_RESULTS_CSV (ROLE_GUEST),
    TOOL_PEEK_RESULT (ROLE_GUEST),
    TOOL_LOAD_FILE (ROLE_GUEST, load_file_session_parameters,
                    " in this conversation (without one, of the next run alone), or of a session",
                    load_file_tool),
    TOOL_LIST_FILES (ROLE_GUEST),
    {
        .name = "get_file",
        .title = "Read a stored file",
        .description = "Returns a stored file: text from the byte offset on, with next_offset for the next "
                       "part, or a picture. Of other files it says how to read them.",
        .role = ROLE_GUEST,
        .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT,
        .parameters = get_file_parameters,
        .replies = get_file_replies,
        .handle = get_file_tool,
    },
    {
        .name = "session_new",
        .title = "Make a session",
        .description = "Makes a session: an interpreter that stays between calls, with variables, imports "
                       "and files. Returns it; pass its session_id to run_python. It ends when nobody uses "
                       "it for a while (expires_in_ms), and belongs to its maker.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES,
        .parameters = new_parameters,
        .replies = session_replies,
        .handle = adder_session_new_tool,
    },
    {
        .name = "session_list",
        .title = "List the sessions",
        .description = "Lists your sessions: those that live, then those that ended lately with the reason.",
        .role = ROLE_GUEST,
        .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT,
        .parameters = session_list_params,
        .replies = session_list_replies,
        .operation = "session.list",
    },
    {
        .name = "session_show",
        .title = "Show a session",
        .description = "Shows one session: its state, how many cells it ran, how many variables it has, when "
                       "it will end, and its checkpoints.",
        .role = ROLE_GUEST,
        .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT,
        .parameters = session_params,
        .replies = session_replies,
        .operation = "session.show",
    },
    {
        .name = "session_variables",
        .title = "List a session's variables",
        .description = "Lists the variables of a session with type, shape and size; with names, those alone "
                       "and their values.",
        .role = ROLE_GUEST,
        .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT,
        .parameters = session_variables_params,
        .replies = session_variables_replies,
        .operation = "session.variables",
    },
    {
        .name = "session_history",
        .title = "Show a session's cells",
        .description = "Shows the code of each cell that a session ran, and how it ended. Also of a session "
                       "that has ended.",
        .role = ROLE_GUEST,
        .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT,
        .parameters = session_params,
        .replies = session_history_replies,
        .operation = "session.history",
    },
    {
        .name = "session_reset",
        .title = "Forget a session's variables",
        .description = "Forgets all variables of a session; its files stay. Returns the session.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE | TOOL_IDEMPOTENT,
        .parameters = session_params,
        .replies = session_replies,
        .operation = "session.reset",
    },
    {
        .name = "session_interrupt",
        .title = "Interrupt a session's cell",
        .description = "Raises KeyboardInterrupt in the cell that a session runs, if any; variables stay. "
                       "Returns the session.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_IDEMPOTENT,
        .parameters = session_params,
        .replies = session_replies,
        .operation = "session.interrupt",
    },
    {
        .name = "session_checkpoint",
        .title = "Make a checkpoint",
        .description = "Makes a checkpoint of a session, to which it can be rolled back as often as you "
                       "like. Make one before you try what may go wrong. Returns its checkpoint_id.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES,
        .parameters = session_checkpoint_params,
        .replies = session_checkpoint_replies,
        .operation = "session.checkpoint",
    },
    {
        .name = "session_rollback",
        .title = "Roll back to a checkpoint",
        .description = "Puts a session back to one of its checkpoints: variables, files and history are "
                       "those of then. What it is now is gone; the checkpoint stays. Returns the session.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE | TOOL_IDEMPOTENT,
        .parameters = session_rollback_params,
        .replies = session_replies,
        .operation = "session.rollback",
    },
    {
        .name = "session_branch",
        .title = "Branch a session",
        .description =
            "Makes new sessions that go on from what a session is now, or was at a checkpoint, each its own "
            "way, without doing the work again. Use it to try several ideas on the same data. Returns them.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES,
        .parameters = session_branch_params,
        .replies = session_list_replies,
        .operation = "session.branch",
    },
    {
        .name = "session_end",
        .title = "End a session",
        .description = "Ends a session; its variables and files are gone, a cell that runs is cancelled. Its "
                       "history can still be shown for a while. Returns the session.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE | TOOL_IDEMPOTENT,
        .parameters = session_params,
        .replies = session_replies,
        .operation = "session.end",
    },
};

static const char *const basic[] = {"run_python", "peek_result", "list_files", "get_file", NULL};

const struct toolset toolset_adder = {
    .name = "adder",
    .title = "Adder's own: runs with all that a result says, and sessions",
    .prompt = "You can run Python in isolated, warm interpreters.",
    .basic = basic,
    .tools = tools,
    .count = G_N_ELEMENTS (tools),
};
