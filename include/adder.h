/* SPDX-License-Identifier: Apache-2.0 */
/* libadder: run Python in a fresh, confined, already warm interpreter.
 *
 *     g_autoptr (AdderEngine) engine = adder_engine_new (NULL, &error);
 *     g_autoptr (AdderRequest) request = adder_request_new ("print(6 * 7)", -1);
 *     g_autoptr (AdderResult) result = adder_run (engine, request);
 *     puts (adder_result_json (result));
 *
 * An engine keeps interpreters warm and may be used from any number of threads; a request, a run and a result
 * belong to one thread at a time, save that adder_run_cancel may be called from any. Nothing process-wide is
 * changed: no signal handler, no umask, no subreaper. Children are waited for by their own descriptors, so an
 * embedding program must not reap what it did not start (no waitpid(-1)). */
#pragma once

#include <glib.h>

#include "adder_types.h"

G_BEGIN_DECLS

ADDER_PUBLIC const char *adder_version (void);

/* ---- engine ---- */

/* Reads the configuration (CONFIG_FILE, or the usual places when NULL) and probes the host. Zygotes start
 * when they are first needed, or with adder_engine_warm. Returns NULL with ERROR set when the configuration
 * is wrong. */
ADDER_PUBLIC AdderEngine *adder_engine_new (const char *config_file, GError **error);

/* Starts the zygote of ENVIRONMENT (NULL: the default one) and waits until at least one sandbox is parked. */
ADDER_PUBLIC gboolean adder_engine_warm (AdderEngine *engine, const char *environment, GError **error);

/* What the engine holds, as one JSON object (zygotes, parked and running sandboxes, runs by outcome, how
 * keeping them goes). Free with g_free. */
ADDER_PUBLIC char *adder_engine_status_json (AdderEngine *engine);

/* Ends every sandbox and zygote and waits for them; runs under way end as cancelled. NULL is allowed. */
ADDER_PUBLIC void adder_engine_free (AdderEngine *engine);

/* ---- request: setters copy what they are given; descriptors are duplicated, the caller keeps its own ----
 */

/* LENGTH in bytes, or -1 when CODE ends with a zero byte. Bad code (not UTF-8, over 1 MiB) is said by the
 * run's result. */
ADDER_PUBLIC AdderRequest *adder_request_new (const char *code, gssize length);
ADDER_PUBLIC void adder_request_free (AdderRequest *request);

ADDER_PUBLIC void adder_request_set_environment (AdderRequest *request, const char *name);
/* Packages that are installed beside those of the environment, such as "polars==1.9" (docs/packages.md);
 * NULL: none. What is no requirement is said by the run's result. */
ADDER_PUBLIC void adder_request_set_packages (AdderRequest *request, const char *const *packages);
ADDER_PUBLIC void adder_request_set_profile (AdderRequest *request, const char *name);
/* As whom the caller asks: "guest", "user" or "admin"; NULL: as [roles] default of the configuration says. A
 * profile that the role may not use is the outcome `refused`. */
ADDER_PUBLIC void adder_request_set_role (AdderRequest *request, const char *role);
/* The kind of sandbox: "auto" (also NULL: the best that the host allows, never "none"), "namespaces",
 * "process" (no namespaces: landlock, seccomp and resource limits) or "none": nothing is confined. Another
 * word is said by the run's result. */
ADDER_PUBLIC void adder_request_set_isolation (AdderRequest *request, const char *kind);
/* The file name that tracebacks show and that sys.argv[0] is; "main.py" otherwise. */
ADDER_PUBLIC void adder_request_set_name (AdderRequest *request, const char *name);
/* sys.argv[1:]; NULL-terminated. */
ADDER_PUBLIC void adder_request_set_arguments (AdderRequest *request, const char *const *arguments);
ADDER_PUBLIC void adder_request_set_variable (AdderRequest *request, const char *name, const char *value);
/* LIMIT is a name of the table in docs/configuration.md: "wall_ms", "memory_bytes", ... An unknown name, or a
 * value over its maximum, is ADDER_ERROR_INVALID and names the maximum. */
ADDER_PUBLIC gboolean adder_request_set_limit (AdderRequest *request, const char *limit, guint64 value,
                                               GError **error);
/* Puts the file behind FD (readable, regular or a pipe) into the workspace as /work/NAME before the code
 * runs; of a directory, all regular files below it, as /work/NAME/... NAME may have directories; one that is
 * absolute, empty or leads out is ADDER_ERROR_INVALID, and so is an FD that is not open for reading. Where it
 * can be, a large file is bind-mounted into the run and not copied: it is there at once, takes nothing from
 * workspace_bytes, and can only be read; what changes in it while the code runs is seen by the code. */
ADDER_PUBLIC gboolean adder_request_add_file (AdderRequest *request, const char *name, int fd,
                                              GError **error);
/* Puts the stored file FILE_ID (of the request's owner; "@NAME" and "@NAME:VERSION" are a data set's) into
 * the workspace as NAME (NULL: its own name) in PLACE: "work" (/work) or "tmp" (/tmp). Where it can be, a
 * large one is bind-mounted into the run: it is there at once, takes nothing from workspace_bytes, and is
 * copied only when the code changes it; the stored file itself never changes. At most 256 of them. That there
 * is no such file is said by the run's result. */
ADDER_PUBLIC gboolean adder_request_add_stored_file (AdderRequest *request, const char *file_id,
                                                     const char *name, const char *place, GError **error);
/* Standard input; empty otherwise. It is read whole before the run starts, up to the limit stdin_bytes. */
ADDER_PUBLIC void adder_request_set_stdin (AdderRequest *request, int fd);
/* Cancels the run when the peer of the socket FD hangs up. */
ADDER_PUBLIC void adder_request_set_watch (AdderRequest *request, int fd);
/* What the code is for, in words for people: shown to who approves it. At most 4000 bytes. */
ADDER_PUBLIC void adder_request_set_description (AdderRequest *request, const char *text);
/* The approval (the `approval_id` of a result) that the request was given. Without one, a yes to exactly the
 * same request counts as well. */
ADDER_PUBLIC void adder_request_set_approval (AdderRequest *request, const char *approval_id);
/* The profiles that the request may use, beside what its role says: patterns with "*" and "?",
 * NULL-terminated; NULL: any. Another one is the outcome `refused`. */
ADDER_PUBLIC void adder_request_set_profiles_allowed (AdderRequest *request, const char *const *patterns);
/* Says yes to everything that would need an approval; the log says that it did. */
ADDER_PUBLIC void adder_request_set_accept_all (AdderRequest *request, gboolean accept_all);
/* Who asks, and in which conversation: kept in the record. Callers queue fairly by owner. CONVERSATION has at
 * most ADDER_CONVERSATION_BYTES bytes. */
ADDER_PUBLIC void adder_request_set_owner (AdderRequest *request, const char *owner,
                                           const char *conversation);

/* Whence the request came, for its record: FRONT_END is a word such as "cli"; TOOL a tool of agents,
 * "TOOLSET.NAME", with its ARGUMENTS as a JSON object. Each may be NULL. Of arguments that are long, the
 * record has the beginning. */
ADDER_PUBLIC void adder_request_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                                            const char *arguments);
/* Output of more bytes than OVER is kept whole, for "result.peek", also where the result has all of it.
 * What the result has only parts of is kept in any case. */
ADDER_PUBLIC void adder_request_set_keep_over (AdderRequest *request, guint64 over);

/* Makes the run the next cell of SESSION, a session of the request's owner by its name or id: its code goes
 * on where the last cell left off. Of the request count code, limits, tables, files, standard input, watch
 * and owner; the rest is the session's. Limits that are not set are the session's. While another cell runs,
 * the run waits its turn (WAIT; as long as it would for a sandbox) or ends at once as `busy`. */
ADDER_PUBLIC void adder_request_set_session (AdderRequest *request, const char *session, gboolean wait);

/* Of a new session: where its owner has as many as they may, the one that was idle longest ends. Without it
 * making one is ADDER_ERROR_BUSY then. */
ADDER_PUBLIC void adder_request_set_evict (AdderRequest *request, gboolean evict);

/* Whether figures come as SVG beside PNG. */
ADDER_PUBLIC void adder_request_set_svg (AdderRequest *request, gboolean svg);

/* The most that a picture which the code shows may have: BYTES, as it stands in a result, and pixels on a
 * SIDE. A larger one is shown smaller, where the environment can make it so (Pillow), and comes whole as a
 * file. 0: 4 MiB, and any number of pixels. */
ADDER_PUBLIC void adder_request_set_pictures (AdderRequest *request, guint64 bytes, guint64 side);

/* Whether each table (DataFrame, Series) that the code shows is written to a file as well, whole: "csv",
 * "parquet", "json" or "none"; NULL: as the profile, or the session, says. They come back as
 * tmp/output/table-1.csv and so on, within the limits tables and table_bytes. Another word is said by the
 * run's result. */
ADDER_PUBLIC void adder_request_set_tables (AdderRequest *request, const char *format);

/* Gives the run a directory of the host as /work, which is otherwise its own. DIRECTORY_FD (O_PATH will do)
 * is the caller's, opened by them: Adder opens nothing in a caller's name, and the run has the rights there
 * of who runs the engine. PATH, absolute, is what people are told. MODE: "read" (nothing can be written),
 * "overlay" (what the code changes is listed in the result's `changes`, and is gone), "review" (it is listed,
 * and waits for "review.commit"), "rw" (it is changed at once). Files that are put in and sessions do not
 * go together with it, and file systems mounted below the directory are a reason to refuse it. */
ADDER_PUBLIC gboolean adder_request_set_workdir (AdderRequest *request, int directory_fd, const char *path,
                                                 const char *mode, GError **error);

/* Makes the variable NAME of the code, with the value that JSON says (of contexts: what was computed before).
 * A name is a letter, then letters, digits and underscores. */
ADDER_PUBLIC gboolean adder_request_set_value (AdderRequest *request, const char *name, const char *json,
                                               GError **error);

/* Makes it an analysis of tables, which JSON describes (docs/analysis.md): how the files that are put in are
 * read, how much of them and of the result is shown, and what the result is expected to be. The result's last
 * display is the report. For profiles whose guard has `tables = true`, such as analysis. NULL: it is none.
 * The error names all that is wrong. */
ADDER_PUBLIC gboolean adder_request_set_analysis (AdderRequest *request, const char *json, GError **error);

/* Whether the code is only held against its profile's guard, in a sandbox, and does not run. */
ADDER_PUBLIC void adder_request_set_check (AdderRequest *request, gboolean check);

/* ---- run ---- */

/* Never fails: what is wrong with the request is the result of the run, outcome `failed`. REQUEST may be
 * freed at once. */
ADDER_PUBLIC AdderRun *adder_run_start (AdderEngine *engine, const AdderRequest *request);

/* Its id, which stands in its result and its record as well; the run's. */
ADDER_PUBLIC const char *adder_run_id (const AdderRun *run);

/* Waits for the next event. Returns FALSE once the result was given. */
ADDER_PUBLIC gboolean adder_run_next (AdderRun *run, AdderEvent *event);

/* Ends the run as `cancelled`, from any thread; its result still comes. */
ADDER_PUBLIC void adder_run_cancel (AdderRun *run);

/* Cancels what still runs. NULL is allowed. */
ADDER_PUBLIC void adder_run_free (AdderRun *run);

/* The loop over the events: returns the result, which the caller frees. Never NULL. */
ADDER_PUBLIC AdderResult *adder_run (AdderEngine *engine, const AdderRequest *request);

/* ---- sessions: interpreters that are kept between runs ----
 *
 * A session is one sandbox whose variables and files stay. It runs cells, one at a time
 * (adder_request_set_session), and belongs to an owner (NULL: nobody in particular): for others it does not
 * exist. SESSION is its name or its id. It ends when it is told to, when it was idle for too long, when there
 * are too many of them, when it crashes or needs more memory than it may; then its name and id stay known for
 * a while and calls on it are ADDER_ERROR_ENDED with the reason. What is returned is one JSON text
 * (docs/sessions.md), to be freed with g_free, or NULL with ERROR. None of these waits for a cell unless it
 * says so. */

/* Makes a session with OPTIONS' environment, profile, isolation, limits, variables, arguments, files and
 * owner; its code is not run. NAME (NULL: none) is of letters, digits, "_" and "-", at most 64. A name that a
 * living session of the owner has is ADDER_ERROR_INVALID. Returns the session as "session.show" does. */
ADDER_PUBLIC char *adder_session_new (AdderEngine *engine, const AdderRequest *options, const char *name,
                                      GError **error);

/* Who calls an operation. All of it stays the caller's. */
typedef struct {
  const char *owner; /* NULL: nobody in particular, whose are also everybody's records and files: an interface
                      * passes the one who asks */
  const char *role;  /* "guest", "user" or "admin"; only an admin may ask for another's by the parameter
                      * "owner". NULL: user, or, where OWNER is NULL, admin */
  int watch_fd;      /* a socket: what waits is given up when its peer hangs up; -1: none */
  int fd;            /* -1: none. What "file.put" reads, or "record.export" writes to; or the directory of
                      * "review.commit" and "review.undo", which without it is the one that the run was given,
                      * as long as this process keeps it */
  int *ret_fd;       /* for the descriptor that "file.open" gives, the caller's, or -1; may be NULL */
} AdderCaller;

/* Calls OPERATION, such as "session.checkpoint", for CALLER (NULL: nobody in particular). docs/operations.md
 * lists all operations with their parameters and answers. PARAMETERS is a JSON object as text; NULL: none.
 * Returns the answer as JSON text, to be freed with g_free, or NULL with ERROR: ADDER_ERROR_NOT_FOUND also
 * when there is no such operation, ADDER_ERROR_INVALID when parameters are wrong, ADDER_ERROR_REFUSED when
 * the role does not do. */
ADDER_PUBLIC char *adder_call (AdderEngine *engine, const AdderCaller *caller, const char *operation,
                               const char *parameters, GError **error);

typedef enum {
  ADDER_REPLAY_NEW = 0,
  ADDER_REPLAY_REPLACE = 1 << 0, /* in the end the new session takes the old one's place, and its name */
  ADDER_REPLAY_STOP = 1 << 1,    /* at the first cell that fails, and nothing changes */
} AdderReplayFlags;

/* Begins to run the recorded cells of SESSION, which may have ended, again, from the cell FROM on (0: all
 * there are), in a new session, which is to have NAME. That is made as SESSION was, but for what OPTIONS says
 * otherwise, with the files that were given to SESSION and to its cells, but for those of OPTIONS. A cell
 * that ended its session is left out. Owner and watch are those of OPTIONS. ADDER_ERROR_NOT_FOUND is about
 * SESSION alone; ADDER_ERROR_INVALID when no such cell is on record, or a profile, environment or file that
 * the new session needs is not there. */
ADDER_PUBLIC AdderReplay *adder_session_replay (AdderEngine *engine, const AdderRequest *options,
                                                const char *session, guint64 from, const char *name,
                                                AdderReplayFlags flags, GError **error);

/* {"session": the new one, "cells": [{"cell", "code"}], "left_out": [number]}: what is to be run; the
 * replay's. */
ADDER_PUBLIC const char *adder_replay_json (const AdderReplay *replay);

/* Starts the next cell; NULL when there is none, or none may follow. One after the other: the caller pulls
 * each to its result and frees it. A cell that fails is followed by the next. */
ADDER_PUBLIC AdderRun *adder_replay_next (AdderReplay *replay);

/* After the last cell: only now is the new session there for others, with its name, and ends the one that it
 * replaces. Returns {"session", "cells": [{"cell", "outcome", "before", "error", "differs"}], "left_out"}:
 * "before" is the outcome that is on record, "differs" names what of the result is not as it was ("outcome",
 * "stdout", "stderr", "value", "displays", "error"). NULL with ERROR changes nothing: cells are left, one was
 * interrupted or ended the new session, or the old one went on meanwhile (ADDER_ERROR_BUSY). */
ADDER_PUBLIC char *adder_replay_finish (AdderReplay *replay, GError **error);

/* One that was not finished leaves nothing. NULL is allowed. */
ADDER_PUBLIC void adder_replay_free (AdderReplay *replay);

/* ---- approvals and reviews (docs/approval.md, docs/workdir.md) ----
 *
 * A request whose profile wants it ends as `approval_required`, with an `approval_id` in its result, until
 * somebody says yes to exactly that request. A run with the work directory mode "review" that ended well and
 * changed something ends so as well; its changes wait on disk, also when this process ends, until somebody
 * says yes or no, for [review] expire_ms. Both belong to the request's owner: for others they do not exist.
 * Whoever may decide for a person does so by adder_call: "approval.approve", "review.commit" and their
 * neighbours. An interface must not pass those on for the agent that asked. */

/* ---- records: what was run, by whom, and how it ended (docs/records.md) ----
 *
 * One row for each run and cell, where [store] records keeps them, in a chain of digests for each node.
 * adder_call lists, shows, counts, verifies and exports them ("record.list" ...), and "result.peek" reads on
 * in output of which a result shows only parts: of that all is kept for [store] output_age_ms, up to the
 * limit spill_bytes, under the result's `result_id`, which is its run's id. */

/* ---- kept files: what runs made, and what was put in for them (docs/files.md) ----
 *
 * Where [store] blobs keeps them, each has an id, a name, a type and a time at which it expires. adder_call
 * puts them in, opens, lists, shows and removes them ("file.put" ...), and makes files of tables that runs
 * showed ("result.export"). A file of another owner is ADDER_ERROR_NOT_FOUND. */

/* ---- result ---- */

/* The result object as JSON text, one line; the result's. docs/results.md describes each field. */
ADDER_PUBLIC const char *adder_result_json (const AdderResult *result);
ADDER_PUBLIC AdderOutcome adder_result_outcome (const AdderResult *result);
/* As a shell would see it: the code's own, or 124, 137, ... by the table in docs/results.md. */
ADDER_PUBLIC int adder_result_exit_code (const AdderResult *result);

/* The files that the run made or changed. They live in memory until the result is freed. */
ADDER_PUBLIC gsize adder_result_file_count (const AdderResult *result);
ADDER_PUBLIC const char *adder_result_file_name (const AdderResult *result, gsize index);
/* A descriptor to read the file from, the caller's, or -1 with ERROR set. */
ADDER_PUBLIC int adder_result_file_open (const AdderResult *result, gsize index, GError **error);
/* Writes all files beneath the directory DIRECTORY_FD, making directories as needed, each whole or not at
 * all. The names are the code's, so they are made fit: none is hidden or begins with a hyphen. What is there
 * is replaced only with FORCE. All is looked at before anything is written: when one file cannot be written,
 * none is. FALSE with ERROR when a file was not written. *RET_JSON (RET_JSON may be NULL) tells in both cases
 * {"written": [{"name", "path"}], "not_written": [{"name", "path", "reason"}]}; the caller's (g_free). */
ADDER_PUBLIC gboolean adder_result_save_files (const AdderResult *result, int directory_fd, gboolean force,
                                               char **ret_json, GError **error);
ADDER_PUBLIC void adder_result_free (AdderResult *result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdderEngine, adder_engine_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdderRequest, adder_request_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdderRun, adder_run_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdderResult, adder_result_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdderReplay, adder_replay_free)

G_END_DECLS
