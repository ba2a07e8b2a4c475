/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/fields_run.h"

#include "interfaces/http/run_request.h"
#include "interfaces/http/shapes.h"
#include "tools/shapes.h"

#define ARGUMENTS_MOST 256
#define VARIABLES_MOST 1024
#define VALUES_MOST    256

/* clang-format off */
#define NAME_OF(member, says) ASK_TEXT (member, 64, says)

/* Settled with a session, or each run's own. */
#define MEMBERS_OF_PLACE \
    NAME_OF ("environment", "An interpreter with its packages, such as science or system."), \
    NAME_OF ("profile", "A named set of limits and rules, such as standard."), \
    {.name = "isolation", .types = FIELD_TEXT, .optional = TRUE, \
     .words = FIELD_WORDS ("auto", "namespaces", "process", "none", "container"), \
     .text = "The kind of sandbox; none is for admins alone."}, \
    {.name = "arguments", .types = FIELD_LIST, .items = FIELD_TEXT, .optional = TRUE, .standard = "[]", \
     .maximum = ARGUMENTS_MOST, .text = "What sys.argv has after the name."}, \
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE, .standard = "{}", \
     .maximum = VARIABLES_MOST, .text = "Of its environment, by their names."}

/* Each run's and cell's own, and of a new session what its cells have. */
#define MEMBERS_OF_ALL \
    {.name = "limits", .types = FIELD_OBJECT, .members = limit_asked_fields, .optional = TRUE, \
     .text = "Limits that are not the profile's; see the configuration page for what each means."}, \
    {.name = "tables", .types = FIELD_TEXT, .optional = TRUE, .words = FIELD_WORDS ("csv", "parquet", "json", "none"), \
     .text = "The format of files in which each table that is shown is kept, whole."}, \
    ASK_FLAG ("svg", "Whether figures come as SVG beside PNG."), \
    {.name = "values", .types = FIELD_OBJECT, .items = FIELD_ANY, .optional = TRUE, .standard = "{}", \
     .maximum = VALUES_MOST, .text = "Variables that the code finds, with their values."}, \
    {.name = "files", .types = FIELD_LIST, .items = FIELD_OBJECT, .members = run_file_fields, \
     .optional = TRUE, .standard = "[]", .maximum = RUN_FILES_MOST, \
     .text = "What it is given: each with one of text, base64 and file_id."}, \
    ASK_TEXT ("description", 4000, "What the code is for, in words, for who has to approve it."), \
    ASK_CONVERSATION

#define MEMBERS_OF_CODE \
    FIELD_CODE ("The Python code. The value of its last expression comes back as well."), \
    ASK_TEXT ("name", 255, "The file name that tracebacks show; main.py where it is left out."), \
    ASK_TEXT ("stdin", 64 << 20, "Standard input; empty where it is left out."), \
    ASK_FLAG ("check", "Whether the code is only held against its profile's guard, and does not run."), \
    ASK_TEXT ("approval", 36, "The approval that this was given; without it, a yes to the same counts too."), \
    {.name = "keep_over", .types = FIELD_INTEGER, .optional = TRUE, .maximum = 1 << 30, .unit = "bytes", \
     .text = "Output longer than this is kept whole, also where the result has all of it."}, \
    {.name = "wait", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "true", \
     .text = "Of a cell: whether it waits for its turn while another runs."}, \
    ASK_FLAG ("stream", "Whether the reply is a stream of events."), \
    ASK_FLAG ("background", "Whether it goes on without the client.")
/* clang-format on */

const struct field run_fields[] = {
    MEMBERS_OF_CODE,
    FIELD_NAME ("session", TRUE, "Go on in this session, where its variables are."),
    MEMBERS_OF_PLACE,
    MEMBERS_OF_ALL,
    {.name = "workdir",
     .types = FIELD_OBJECT,
     .members = run_workdir_fields,
     .optional = TRUE,
     .text = "A directory of the host that is /work."},
    {0},
};

const struct field cell_request_fields[] = {MEMBERS_OF_CODE, MEMBERS_OF_ALL, {0}};

const struct field session_request_fields[] = {
    FIELD_NAME ("name", TRUE, "A name for it; without one it has an id alone."),
    MEMBERS_OF_PLACE,
    MEMBERS_OF_ALL,
    {0},
};

const struct field replay_request_fields[] = {
    FIELD_NAME ("name", TRUE, "A name for the new session."),
    {.name = "from",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "0",
     .maximum = G_MAXINT32,
     .text = "The first cell to run; 0: all that there are."},
    {.name = "keep_going",
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "true",
     .text = "Whether it goes on when a cell does not end as ok; else nothing changes then."},
    ASK_FLAG ("stream", "Whether the reply is a stream of events."),
    MEMBERS_OF_PLACE,
    MEMBERS_OF_ALL,
    {0},
};
