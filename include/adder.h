/* SPDX-License-Identifier: Apache-2.0 */
/* libadder: run Python in a fresh, confined, already warm interpreter.
 *
 *     g_autoptr (AdderEngine) engine = adder_engine_new (NULL, &error);
 *     g_autoptr (AdderRequest) request = adder_request_new ("print(6 * 7)", -1);
 *     g_autoptr (AdderResult) result = adder_run (engine, request);
 *     puts (adder_result_json (result));
 *
 * An engine keeps interpreters warm and may be used from any number of threads; a request, a run and a result
 * belong to one thread at a time; only adder_run_cancel may be called from any thread. Process-wide state is
 * left alone: no signal handler, no umask, no subreaper. Children are waited for by their own descriptors, so
 * an embedding program must not reap what it did not start (no waitpid(-1)). */
#pragma once

#include <glib.h>

#include "adder_types.h"

G_BEGIN_DECLS

ADDER_PUBLIC const char *adder_version (void);

/* ---- engine ---- */

/* Reads the configuration (CONFIG_FILE, or the usual places when NULL) and probes the host. Zygotes start on
 * first use, or with adder_engine_warm. Returns NULL with ERROR set when the configuration is invalid. */
ADDER_PUBLIC AdderEngine *adder_engine_new (const char *config_file, GError **error);

/* Starts the zygote of ENVIRONMENT (NULL: the default one) and waits until at least one sandbox is parked. */
ADDER_PUBLIC gboolean adder_engine_warm (AdderEngine *engine, const char *environment, GError **error);

/* What the engine holds, as one JSON object: zygotes, parked and running sandboxes, runs by outcome, and the
 * state of the store. Free with g_free. */
ADDER_PUBLIC char *adder_engine_status_json (AdderEngine *engine);

/* Ends every sandbox and zygote and waits for them; active runs end as cancelled. NULL is allowed. */
ADDER_PUBLIC void adder_engine_free (AdderEngine *engine);

/* ---- request: setters copy their arguments; descriptors are duplicated, the caller keeps its own ---- */

/* LENGTH in bytes, or -1 when CODE ends with a zero byte. The run's result reports bad code (not UTF-8, over
 * 1 MiB). */
ADDER_PUBLIC AdderRequest *adder_request_new (const char *code, gssize length);
ADDER_PUBLIC void adder_request_free (AdderRequest *request);

ADDER_PUBLIC void adder_request_set_environment (AdderRequest *request, const char *name);
/* Packages to install beside those of the environment, such as "polars==1.9" (docs/packages.md); NULL: none.
 * The run's result reports an invalid requirement. */
ADDER_PUBLIC void adder_request_set_packages (AdderRequest *request, const char *const *packages);
ADDER_PUBLIC void adder_request_set_profile (AdderRequest *request, const char *name);
/* The caller's role: "guest", "user" or "admin"; NULL: the default from [roles] in the configuration. A
 * profile that the role may not use gives the outcome `refused`. */
ADDER_PUBLIC void adder_request_set_role (AdderRequest *request, const char *role);
/* The kind of sandbox: "auto" (also NULL: the best that the host allows, never "none"), "namespaces",
 * "process" (no namespaces: landlock, seccomp and resource limits) or "none" (no confinement). The run's
 * result reports any other word. */
ADDER_PUBLIC void adder_request_set_isolation (AdderRequest *request, const char *kind);
/* The file name in tracebacks and in sys.argv[0]; "main.py" by default. */
ADDER_PUBLIC void adder_request_set_name (AdderRequest *request, const char *name);
/* sys.argv[1:]; NULL-terminated. */
ADDER_PUBLIC void adder_request_set_arguments (AdderRequest *request, const char *const *arguments);
ADDER_PUBLIC void adder_request_set_variable (AdderRequest *request, const char *name, const char *value);
/* LIMIT is a name from the table in docs/configuration.md: "wall_ms", "memory_bytes", ... An unknown name, or
 * a value over its maximum, is ADDER_ERROR_INVALID and names the maximum. */
ADDER_PUBLIC gboolean adder_request_set_limit (AdderRequest *request, const char *limit, guint64 value,
                                               GError **error);
/* Puts the file behind FD (readable, regular or a pipe) into the workspace as /work/NAME before the code
 * runs; for a directory, all regular files below it, as /work/NAME/... NAME may contain directories. An
 * absolute or empty NAME, one that leads out, or an FD that is not open for reading is ADDER_ERROR_INVALID.
 * Where possible, a large file is bind-mounted instead of copied: that takes no time and no workspace_bytes,
 * and the file is read-only; the code sees changes made to it meanwhile. */
ADDER_PUBLIC gboolean adder_request_add_file (AdderRequest *request, const char *name, int fd,
                                              GError **error);
/* Puts the stored file FILE_ID (of the request's owner; "@NAME" and "@NAME:VERSION" name a data set) into the
 * workspace as NAME (NULL: its own name) in PLACE: "work" (/work) or "tmp" (/tmp). Where possible, a large
 * file is bind-mounted: that takes no time and no workspace_bytes, and the file is copied only when the code
 * changes it; the stored file itself never changes. At most 256 of them. The run's result reports a missing
 * file. */
ADDER_PUBLIC gboolean adder_request_add_stored_file (AdderRequest *request, const char *file_id,
                                                     const char *name, const char *place, GError **error);
/* Standard input; empty by default. It is read whole before the run starts, up to the limit stdin_bytes. */
ADDER_PUBLIC void adder_request_set_stdin (AdderRequest *request, int fd);
/* Cancels the run when the peer of the socket FD hangs up. */
ADDER_PUBLIC void adder_request_set_watch (AdderRequest *request, int fd);
/* What the code is for, in words for the person who decides about an approval. At most 4000 bytes. */
ADDER_PUBLIC void adder_request_set_description (AdderRequest *request, const char *text);
/* The approval (the `approval_id` of a result) that was granted to the request. Without it, an approval of
 * exactly the same request counts as well. */
ADDER_PUBLIC void adder_request_set_approval (AdderRequest *request, const char *approval_id);
/* The profiles that the request may use, within what its role allows: patterns with "*" and "?",
 * NULL-terminated; NULL: any. Any other profile gives the outcome `refused`. */
ADDER_PUBLIC void adder_request_set_profiles_allowed (AdderRequest *request, const char *const *patterns);
/* Approves everything that would need an approval; the log says so. */
ADDER_PUBLIC void adder_request_set_accept_all (AdderRequest *request, gboolean accept_all);
/* The caller, and the conversation, for the record. Callers queue fairly by owner. CONVERSATION has at most
 * ADDER_CONVERSATION_BYTES bytes. */
ADDER_PUBLIC void adder_request_set_owner (AdderRequest *request, const char *owner,
                                           const char *conversation);

/* Where the request came from, for its record: FRONT_END is a word such as "cli"; TOOL an agents' tool,
 * "TOOLSET.NAME", with its ARGUMENTS as a JSON object. Each may be NULL. The record keeps only the beginning
 * of long arguments. */
ADDER_PUBLIC void adder_request_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                                            const char *arguments);
/* Keeps output of more than OVER bytes whole, for "result.peek", even where the result has all of it. Output
 * that the result truncates is kept in any case. */
ADDER_PUBLIC void adder_request_set_keep_over (AdderRequest *request, guint64 over);

/* Makes the run the next cell of SESSION, a session of the request's owner, by its name or id: its code
 * continues where the last cell left off. Only the request's code, limits, tables, files, standard input,
 * watch and owner count; the rest, and limits that are not set, come from the session. While another cell
 * runs, the run waits its turn (WAIT; as long as it would for a sandbox) or ends at once as `busy`. */
ADDER_PUBLIC void adder_request_set_session (AdderRequest *request, const char *session, gboolean wait);

/* For a new session: when its owner is at the limit, ends the session that was idle longest. Without it,
 * making another is ADDER_ERROR_BUSY. */
ADDER_PUBLIC void adder_request_set_evict (AdderRequest *request, gboolean evict);

/* Whether figures come as SVG beside PNG. */
ADDER_PUBLIC void adder_request_set_svg (AdderRequest *request, gboolean svg);

/* The maximum size of a picture that the code shows: BYTES, as it stands in a result, and pixels on a SIDE. A
 * larger one is scaled down where the environment has Pillow, and is delivered whole as a file. 0: 4 MiB, and
 * any number of pixels. */
ADDER_PUBLIC void adder_request_set_pictures (AdderRequest *request, guint64 bytes, guint64 side);

/* Whether each table (DataFrame, Series) that the code shows is also written whole to a file: "csv",
 * "parquet", "json" or "none"; NULL: the setting of the profile or session. The files come back as
 * tmp/output/table-1.csv and so on, within the limits tables and table_bytes. The run's result reports any
 * other word. */
ADDER_PUBLIC void adder_request_set_tables (AdderRequest *request, const char *format);

/* Makes a directory of the host the run's /work, which otherwise is private to the run. The caller opens
 * DIRECTORY_FD (O_PATH will do): Adder opens nothing on a caller's behalf, and the run accesses it with the
 * rights of the user who runs the engine. PATH, absolute, is for messages. MODE: "read" (read-only),
 * "overlay" (changes are listed in the result's `changes`, then dropped), "review" (they are listed, and wait
 * for "review.commit"), "rw" (the directory changes at once). It excludes input files and sessions; a
 * directory with file systems mounted below it is refused. */
ADDER_PUBLIC gboolean adder_request_set_workdir (AdderRequest *request, int directory_fd, const char *path,
                                                 const char *mode, GError **error);

/* Sets the variable NAME in the code to the value of JSON (for contexts: earlier results). A name is a
 * letter, then letters, digits and underscores. */
ADDER_PUBLIC gboolean adder_request_set_value (AdderRequest *request, const char *name, const char *json,
                                               GError **error);

/* Makes it an analysis of tables, which JSON describes (docs/analysis.md): how to read the input files, how
 * much of them and of the result to show, and what to expect of the result. The result's last display is the
 * report. For profiles whose guard has `tables = true`, such as analysis. NULL: no analysis. The error names
 * every mistake. */
ADDER_PUBLIC gboolean adder_request_set_analysis (AdderRequest *request, const char *json, GError **error);

/* Whether to check the code against its profile's guard, in a sandbox, without running it. */
ADDER_PUBLIC void adder_request_set_check (AdderRequest *request, gboolean check);

/* ---- run ---- */

/* Never fails: an invalid request gives a result with the outcome `failed`. REQUEST may be freed at once. */
ADDER_PUBLIC AdderRun *adder_run_start (AdderEngine *engine, const AdderRequest *request);

/* Its id, which is also in its result and its record; the run's. */
ADDER_PUBLIC const char *adder_run_id (const AdderRun *run);

/* Waits for the next event. Returns FALSE after the result. */
ADDER_PUBLIC gboolean adder_run_next (AdderRun *run, AdderEvent *event);

/* Ends the run as `cancelled`, from any thread; its result still follows. */
ADDER_PUBLIC void adder_run_cancel (AdderRun *run);

/* Cancels the run if it is still active. NULL is allowed. */
ADDER_PUBLIC void adder_run_free (AdderRun *run);

/* The loop over the events: returns the result, which the caller frees. Never NULL. */
ADDER_PUBLIC AdderResult *adder_run (AdderEngine *engine, const AdderRequest *request);

/* ---- sessions: interpreters that are kept between runs ----
 *
 * A session is one sandbox whose variables and files stay. It runs cells, one at a time
 * (adder_request_set_session), and belongs to an owner (NULL: nobody in particular): to others it is
 * invisible. SESSION is its name or its id. It ends on request, when idle for too long, when there are too
 * many sessions, or when it crashes or exceeds its memory; its name and id then stay known for a while, and
 * calls on it are ADDER_ERROR_ENDED with the reason. The functions return JSON text (docs/sessions.md), to be
 * freed with g_free, or NULL with ERROR. None of these waits for a cell unless it says so. */

/* Makes a session with OPTIONS' environment, profile, isolation, limits, variables, arguments, files and
 * owner; its code is ignored. NAME (NULL: none) has letters, digits, "_" and "-", at most 64. The name of
 * another living session of the owner is ADDER_ERROR_INVALID. Returns the session as "session.show" does. */
ADDER_PUBLIC char *adder_session_new (AdderEngine *engine, const AdderRequest *options, const char *name,
                                      GError **error);

/* The caller of an operation. All members stay the caller's. */
typedef struct {
  const char *owner; /* NULL: no particular owner, which also owns everybody's records and files: an interface
                      * passes its caller */
  const char *role;  /* "guest", "user" or "admin"; only an admin may name another owner in the parameter
                      * "owner". NULL: user, or, where OWNER is NULL, admin */
  int watch_fd;      /* a socket: waiting ends when its peer hangs up; -1: none */
  int fd;            /* -1: none. What "file.put" reads, or "record.export" writes to; or the directory for
                      * "review.commit" and "review.undo", by default the one that the run was given, as long
                      * as this process keeps it */
  int *ret_fd;       /* receives the descriptor of "file.open", the caller's, or -1; may be NULL */
} AdderCaller;

/* Calls OPERATION, such as "session.checkpoint", for CALLER (NULL: nobody in particular). docs/operations.md
 * lists all operations with their parameters and answers. PARAMETERS is a JSON object as text; NULL: none.
 * Returns the answer as JSON text, to be freed with g_free, or NULL with ERROR: ADDER_ERROR_NOT_FOUND also
 * for an unknown operation, ADDER_ERROR_INVALID for wrong parameters, ADDER_ERROR_REFUSED when the role does
 * not suffice. */
ADDER_PUBLIC char *adder_call (AdderEngine *engine, const AdderCaller *caller, const char *operation,
                               const char *parameters, GError **error);

typedef enum {
  ADDER_REPLAY_NEW = 0,
  ADDER_REPLAY_REPLACE = 1 << 0, /* at the end the new session takes the old one's place and name */
  ADDER_REPLAY_STOP = 1 << 1,    /* at the first cell that fails, changing nothing */
} AdderReplayFlags;

/* Begins to rerun the recorded cells of SESSION, which may have ended, from the cell FROM on (0: all of
 * them), in a new session called NAME. The new session has the settings and files of the old one, and the
 * cells have theirs, except where OPTIONS gives others. A cell that ended its session is left out. Owner and
 * watch are those of OPTIONS. ADDER_ERROR_NOT_FOUND refers to SESSION alone; ADDER_ERROR_INVALID when the
 * cell is not on record, or a profile, environment or file that the new session needs is missing. */
ADDER_PUBLIC AdderReplay *adder_session_replay (AdderEngine *engine, const AdderRequest *options,
                                                const char *session, guint64 from, const char *name,
                                                AdderReplayFlags flags, GError **error);

/* {"session": the new one, "cells": [{"cell", "code"}], "left_out": [number]}: what will run; the
 * replay's. */
ADDER_PUBLIC const char *adder_replay_json (const AdderReplay *replay);

/* Starts the next cell; NULL when there is none, or none may follow. The caller pulls each run to its result
 * and frees it before the next call. The next cell follows even a failed one, except with
 * ADDER_REPLAY_STOP. */
ADDER_PUBLIC AdderRun *adder_replay_next (AdderReplay *replay);

/* Call after the last cell. Only now does the new session become visible, with its name, and end the one that
 * it replaces. Returns {"session", "cells": [{"cell", "outcome", "before", "error", "differs"}], "left_out"}:
 * "before" is the recorded outcome, "differs" names the parts of the result that changed ("outcome",
 * "stdout", "stderr", "value", "displays", "error"). NULL with ERROR changes nothing: cells are left, one was
 * interrupted or ended the new session, or the old one was used meanwhile (ADDER_ERROR_BUSY). */
ADDER_PUBLIC char *adder_replay_finish (AdderReplay *replay, GError **error);

/* An unfinished replay leaves nothing behind. NULL is allowed. */
ADDER_PUBLIC void adder_replay_free (AdderReplay *replay);

/* ---- approvals and reviews (docs/approval.md, docs/workdir.md) ----
 *
 * If its profile requires approval, a request ends as `approval_required`, with an `approval_id` in its
 * result, until somebody approves exactly that request. So does a successful run with the work directory mode
 * "review" that changed something; its changes wait on disk for [review] expire_ms, even beyond the end of
 * this process, until somebody approves or denies them. Both belong to the request's owner and are invisible
 * to others. Decide with adder_call: "approval.approve", "review.commit" and related operations. An interface
 * must not offer those to the agent that made the request. */

/* ---- records: what was run, by whom, and how it ended (docs/records.md) ----
 *
 * One row for each run and cell, where [store] records says, in a chain of digests for each node. adder_call
 * lists, shows, counts, verifies and exports them ("record.list" ...). "result.peek" reads output that a
 * result truncates: all of it is kept for [store] output_age_ms, up to the limit spill_bytes, under the
 * result's `result_id`, which is its run's id. */

/* ---- kept files: files that runs made, and input files (docs/files.md) ----
 *
 * They are kept where [store] blobs says; each has an id, a name, a type and an expiry time. adder_call
 * stores, opens, lists, shows and removes them ("file.put" ...), and exports tables that runs showed
 * ("result.export"). Another owner's file is ADDER_ERROR_NOT_FOUND. */

/* ---- result ---- */

/* The result as JSON text, one line; the result's. docs/results.md describes each field. */
ADDER_PUBLIC const char *adder_result_json (const AdderResult *result);
ADDER_PUBLIC AdderOutcome adder_result_outcome (const AdderResult *result);
/* As a shell would see it: the code's own exit code, or 124, 137, ... by the table in docs/results.md. */
ADDER_PUBLIC int adder_result_exit_code (const AdderResult *result);

/* The files that the run made or changed. They live in memory until the result is freed. */
ADDER_PUBLIC gsize adder_result_file_count (const AdderResult *result);
ADDER_PUBLIC const char *adder_result_file_name (const AdderResult *result, gsize index);
/* A descriptor to read the file from, the caller's, or -1 with ERROR set. */
ADDER_PUBLIC int adder_result_file_open (const AdderResult *result, gsize index, GError **error);
/* Writes all files beneath the directory DIRECTORY_FD, making directories as needed, each whole or not at
 * all. The code chose the names, so they are sanitized: none is hidden or begins with a hyphen. Existing
 * files are replaced only with FORCE. All files are checked before any is written: if one cannot be written,
 * none is. FALSE with ERROR when a file was not written. *RET_JSON (RET_JSON may be NULL) lists in both cases
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
