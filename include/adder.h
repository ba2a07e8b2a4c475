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

G_BEGIN_DECLS

#define ADDER_PUBLIC __attribute__ ((visibility ("default")))

typedef struct adder_engine AdderEngine;
typedef struct adder_request AdderRequest;
typedef struct adder_run AdderRun;
typedef struct adder_result AdderResult;
typedef struct adder_replay AdderReplay;

#define ADDER_ERROR (adder_error_quark ())
typedef enum {
  ADDER_ERROR_FAILED,    /* Adder's own fault or the host's: the message names the step */
  ADDER_ERROR_INVALID,   /* the request: a limit over its maximum, code that is not UTF-8, an unclean name */
  ADDER_ERROR_NOT_FOUND, /* no such environment, profile, file or session */
  ADDER_ERROR_BUSY,      /* no sandbox in time, or a session that is at work */
  ADDER_ERROR_TIMEOUT,   /* a deadline of ours, not of the run */
  ADDER_ERROR_UNSUPPORTED, /* the host lacks something: the message says what, and how to get it */
  ADDER_ERROR_CANCELLED,
  ADDER_ERROR_ENDED,    /* the session has ended: the message says why */
  ADDER_ERROR_REFUSED,  /* the policy says no: a role that may not, a profile that does not allow it */
  ADDER_ERROR_APPROVAL, /* somebody must say yes first */
} AdderError;
ADDER_PUBLIC GQuark adder_error_quark (void);

/* How a run ended. The names in results are the words in lower case: "ok", "cpu_limit". */
typedef enum {
  ADDER_OUTCOME_OK,
  ADDER_OUTCOME_ERROR,
  ADDER_OUTCOME_REFUSED,
  ADDER_OUTCOME_APPROVAL_REQUIRED,
  ADDER_OUTCOME_TIMEOUT,
  ADDER_OUTCOME_CPU_LIMIT,
  ADDER_OUTCOME_MEMORY_LIMIT,
  ADDER_OUTCOME_OUTPUT_LIMIT,
  ADDER_OUTCOME_CRASHED,
  ADDER_OUTCOME_CANCELLED,
  ADDER_OUTCOME_BUSY,
  ADDER_OUTCOME_FAILED,
} AdderOutcome;
ADDER_PUBLIC const char *adder_outcome_name (AdderOutcome outcome);

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
 * can be, a large file is lent to the run and not copied: it is there at once, takes nothing from
 * workspace_bytes, and can only be read; what changes in it while the code runs is seen by the code. */
ADDER_PUBLIC gboolean adder_request_add_file (AdderRequest *request, const char *name, int fd,
                                              GError **error);
/* Puts the stored file FILE_ID (of the request's owner; "@NAME" and "@NAME:VERSION" are a data set's) into
 * the workspace as NAME (NULL: its own name) in PLACE: "work" (/work) or "tmp" (/tmp). Where it can be, a
 * large one is lent to the run: it is there at once, takes nothing from workspace_bytes, and is copied only
 * when the code changes it; the stored file itself never changes. At most 256 of them. That there is no such
 * file is said by the run's result. */
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
 * most 200 bytes. */
ADDER_PUBLIC void adder_request_set_owner (AdderRequest *request, const char *owner,
                                           const char *conversation);

/* Whence the request came, for its record: FRONT_END is a word such as "cli"; TOOL a tool of agents,
 * "TOOLSET.NAME", with its ARGUMENTS as a JSON object. Each may be NULL. Of arguments that are long, the
 * record has the beginning. */
ADDER_PUBLIC void adder_request_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                                            const char *arguments);
/* Output of more bytes than OVER is kept whole, for adder_output_peek, also where the result has all of it.
 * What the result has only parts of is kept in any case. */
ADDER_PUBLIC void adder_request_set_keep_over (AdderRequest *request, guint64 over);

/* Makes the run the next cell of SESSION, a session of the request's owner by its name or id: its code goes
 * on where the last cell left off. Of the request count code, limits, tables, files, standard input, watch
 * and owner; the rest is the session's. Limits that are not set are the session's. While another cell runs,
 * the run waits its turn (WAIT; as long as it would for a sandbox) or ends at once as `busy`. */
ADDER_PUBLIC void adder_request_set_session (AdderRequest *request, const char *session, gboolean wait);

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
 * is the caller's, opened by him: Adder opens nothing in a caller's name, and the run has the rights there of
 * who runs the engine. PATH, absolute, is what people are told. MODE: "read" (nothing can be written),
 * "overlay" (what the code changes is listed in the result's `changes`, and is gone), "review" (it is listed,
 * and waits for adder_review_commit), "rw" (it is changed at once). Files that are put in and sessions do not
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

typedef enum {
  ADDER_EVENT_STARTED, /* a sandbox was handed out */
  ADDER_EVENT_STDOUT,  /* DATA, LENGTH: bytes as the code wrote them */
  ADDER_EVENT_STDERR,
  ADDER_EVENT_DISPLAY, /* DATA, LENGTH: one JSON object, a MIME bundle */
  ADDER_EVENT_RESULT,  /* RESULT; the last event */
} AdderEventKind;

typedef struct {
  AdderEventKind kind;
  const char *data; /* the run's; good until the next call */
  gsize length;
  AdderResult *result;    /* the caller's; free with adder_result_free */
  const char *display_id; /* DISPLAY: its id, by which later ones may replace it; NULL: it has none */
  gboolean update;        /* DISPLAY: it replaces what was shown before under its id */
} AdderEvent;

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

/* ---- tables of runs ---- */

/* The table NUMBER (from 1) that the run RUN_ID, of the owner of OPTIONS, showed and that was kept
 * (adder_request_set_tables), as FORMAT ("csv", "parquet", "json"). One that was kept in another format is
 * converted by a run in a sandbox, with the environment, role and watch of OPTIONS, whose code counts for
 * nothing. Returns the file that it then is (docs/files.md), called NAME unless that is NULL, as one JSON
 * text, to be freed with g_free, or NULL with ERROR. */
ADDER_PUBLIC char *adder_table_export (AdderEngine *engine, const AdderRequest *options, const char *run_id,
                                       guint number, const char *format, const char *name, GError **error);

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
 * living session of the owner has is ADDER_ERROR_INVALID. Returns the session as adder_session_show does. */
ADDER_PUBLIC char *adder_session_new (AdderEngine *engine, const AdderRequest *options, const char *name,
                                      GError **error);

/* {"sessions": [...]}: those of OWNER that live, then those that ended lately. */
ADDER_PUBLIC char *adder_session_list (AdderEngine *engine, const char *owner, GError **error);

/* One session, also one that has ended. */
ADDER_PUBLIC char *adder_session_show (AdderEngine *engine, const char *owner, const char *session,
                                       GError **error);

/* {"variables": [{"name", "type", "shape", "bytes"}], "count": n}. NAMES (NULL-terminated): these alone, each
 * with its "value". Waits for its turn between cells. */
ADDER_PUBLIC char *adder_session_variables (AdderEngine *engine, const char *owner, const char *session,
                                            const char *const *names, GError **error);

/* {"cells": [{"cell", "code", "outcome", "started", "wall_ms"}], "dropped": n}, the oldest first; those that
 * no longer found room are counted in "dropped". */
ADDER_PUBLIC char *adder_session_history (AdderEngine *engine, const char *owner, const char *session,
                                          GError **error);

/* Forgets all variables; files stay. Waits for its turn between cells. */
ADDER_PUBLIC gboolean adder_session_reset (AdderEngine *engine, const char *owner, const char *session,
                                           GError **error);

/* Has the cell that runs, if any, raise KeyboardInterrupt. A session that does not react within
 * [sessions] interrupt_grace_ms ends. Does not wait. */
ADDER_PUBLIC gboolean adder_session_interrupt (AdderEngine *engine, const char *owner, const char *session,
                                               GError **error);

/* Makes a checkpoint: a fork of the live interpreter that waits, with a copy of the workspace. NAME (NULL:
 * none) as a session's. Waits for its turn between cells. Returns {"checkpoint_id", "name", "cell",
 * "variables", "created", "memory_bytes", "warnings"}. ADDER_ERROR_BUSY when the session cannot be forked as
 * it is, such as with threads of its own, which the message names; ADDER_ERROR_UNSUPPORTED where sandboxes
 * have no namespaces. */
ADDER_PUBLIC char *adder_session_checkpoint (AdderEngine *engine, const char *owner, const char *session,
                                             const char *name, GError **error);

/* Puts the session back to CHECKPOINT (its id, or the newest with that name): variables, files, history. What
 * it is now is gone; the checkpoint stays, for the next time. Waits for its turn between cells. */
ADDER_PUBLIC gboolean adder_session_rollback (AdderEngine *engine, const char *owner, const char *session,
                                              const char *checkpoint, GError **error);

/* Drops a checkpoint. */
ADDER_PUBLIC gboolean adder_session_forget (AdderEngine *engine, const char *owner, const char *session,
                                            const char *checkpoint, GError **error);

/* Makes COUNT sessions out of this one as it is now, or as it was at CHECKPOINT when that is not NULL: they
 * share memory until they write to it, and go their own ways. All or none: ADDER_ERROR_BUSY when there would
 * be too many. Waits for its turn between cells. Returns {"sessions": [...]}, each as adder_session_show
 * does, with "parent". */
ADDER_PUBLIC char *adder_session_branch (AdderEngine *engine, const char *owner, const char *session,
                                         const char *checkpoint, unsigned count, GError **error);

/* Ends it; a cell that runs ends as cancelled. One that has ended is no error. */
ADDER_PUBLIC gboolean adder_session_end (AdderEngine *engine, const char *owner, const char *session,
                                         GError **error);

typedef enum {
  ADDER_REPLAY_NEW = 0,
  ADDER_REPLAY_REPLACE = 1 << 0, /* in the end the new session takes the old one's place, and its name */
  ADDER_REPLAY_STOP = 1 << 1,    /* at the first cell that fails, and nothing changes */
} AdderReplayFlags;

/* Begins to run the recorded cells of SESSION, which may have ended, again, from the cell FROM on (0: all
 * there are), in a new session, which is to have NAME. That is made as SESSION was, but for what OPTIONS says
 * otherwise, with the files that were given to SESSION and to its cells, but for those of OPTIONS. A cell
 * that ended its session is left out. Owner and watch are those of OPTIONS. ADDER_ERROR_INVALID when no such
 * cell is on record. */
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

/* ---- approvals (docs/approval.md) ----
 *
 * A request whose profile wants it ends as `approval_required`, with an `approval_id` in its result, until
 * somebody says yes to exactly that request. An approval belongs to the request's owner: for others it does
 * not exist. What is returned is one JSON text, to be freed with g_free, or NULL with ERROR. CONVERSATION is
 * NULL for a person; an agent that may only speak in one conversation decides about nothing
 * (ADDER_ERROR_REFUSED), and passing its conversation here is how a front end says that it is one. */

/* {"approvals": [...]}, those that wait first, without their code. */
ADDER_PUBLIC char *adder_approval_list (AdderEngine *engine, const char *owner, GError **error);
/* One, with its code and all else that a yes is for. */
ADDER_PUBLIC char *adder_approval_show (AdderEngine *engine, const char *owner, const char *approval_id,
                                        GError **error);
/* ALWAYS: a yes also to all else that its conversation asks for in the same place: profile, environment, kind
 * of isolation, work directory. ADDER_ERROR_INVALID where it has no conversation. */
ADDER_PUBLIC char *adder_approval_approve (AdderEngine *engine, const char *owner, const char *conversation,
                                           const char *approval_id, gboolean always, GError **error);
/* REASON (may be NULL) is told to who asked. */
ADDER_PUBLIC char *adder_approval_deny (AdderEngine *engine, const char *owner, const char *conversation,
                                        const char *approval_id, const char *reason, GError **error);
/* Waits until it is decided, at most WAIT_MS, or until the peer of the socket WATCH_FD (-1: none) hangs up.
 * Returns it as it is then. */
ADDER_PUBLIC char *adder_approval_wait (AdderEngine *engine, const char *owner, const char *approval_id,
                                        int watch_fd, guint64 wait_ms, GError **error);

/* ---- reviews: what runs would change in directories (docs/workdir.md) ----
 *
 * A run with the work directory mode "review" that ended well and changed something ends as
 * `approval_required`; its changes wait on disk, also when this process ends, until somebody says yes or no,
 * for [review] expire_ms. They belong to the request's owner. What is returned is one JSON text, to be freed
 * with g_free, or NULL with ERROR.
 */

/* {"reviews": [...]}: those that wait, and those that were broken off while they were made real. */
ADDER_PUBLIC char *adder_review_list (AdderEngine *engine, const char *owner, GError **error);
/* One, with its "changes" as in a result. */
ADDER_PUBLIC char *adder_review_show (AdderEngine *engine, const char *owner, const char *review_id,
                                      GError **error);
/* Makes the changes, each file beside its place first and then renamed, or finishes what was broken off. Done
 * with the rights of this process in the directory behind DIRECTORY_FD, which must be the one that the run
 * worked in; -1: the one that the run was given, as long as this process keeps it. DIGEST (NULL: any) must be
 * that of the changes. ADDER_ERROR_REFUSED when files were changed by somebody else meanwhile, which the
 * message names: then nothing was touched. */
ADDER_PUBLIC char *adder_review_commit (AdderEngine *engine, const char *owner, const char *review_id,
                                        const char *digest, int directory_fd, GError **error);
/* Takes back what was done of one that was broken off: it waits again then. */
ADDER_PUBLIC char *adder_review_undo (AdderEngine *engine, const char *owner, const char *review_id,
                                      int directory_fd, GError **error);
/* No: the changes are gone. */
ADDER_PUBLIC char *adder_review_drop (AdderEngine *engine, const char *owner, const char *review_id,
                                      GError **error);

/* ---- records: what was run, by whom, and how it ended (docs/records.md) ----
 *
 * One row for each run and cell, where [store] records keeps them, in a chain of digests for each node. OWNER
 * NULL: everybody's; a front end passes the one who asks, unless he is an admin. FILTERS is NULL or a JSON
 * object with any of "since", "until" (a day, a moment, or how long ago: "2h"), "outcome", "tool", "profile",
 * "environment", "front_end", "session", "conversation", "node", "code" (a text that the code holds), and, of
 * a list, "limit" (50; at most 1000) and "before" (the "next" of the list before). What is returned is one
 * JSON text, to be freed with g_free, or NULL with ERROR. */

/* {"records": [...], "next": text or null}, the newest first, with the beginning of their code. */
ADDER_PUBLIC char *adder_record_list (AdderEngine *engine, const char *owner, const char *filters,
                                      GError **error);
/* One, whole. ADDER_ERROR_NOT_FOUND. */
ADDER_PUBLIC char *adder_record_show (AdderEngine *engine, const char *owner, const char *run_id,
                                      GError **error);
/* How many, by outcome, tool, profile, owner, front end and day, and how long they took. */
ADDER_PUBLIC char *adder_record_stats (AdderEngine *engine, const char *owner, const char *filters,
                                       GError **error);
/* Writes them to FD, the oldest first, as FORMAT: "jsonl" or "csv". {"records", "bytes", "damaged"}: how
 * many, and how many of them somebody damaged. */
ADDER_PUBLIC char *adder_record_export (AdderEngine *engine, const char *owner, const char *filters,
                                        const char *format, int fd, GError **error);
/* Goes through the chains of all nodes: what was changed, what is missing. HEAD (may be NULL) is what an
 * earlier answer gave as a node's "head", "SEQ:DIGEST" or "NODE:SEQ:DIGEST": so it shows when a chain lost
 * its end. {"ok": bool, "nodes": [...]}. */
ADDER_PUBLIC char *adder_record_verify (AdderEngine *engine, const char *head, GError **error);

/* ---- long output ----
 *
 * Of output that a result shows only parts of, all is kept for [store] output_age_ms, up to the limit
 * spill_bytes, under the result's `result_id`, which is its run's id. */

/* At most LIMIT bytes (64 to 1048576) of STREAM ("stdout", also NULL, or "stderr") from the byte OFFSET on,
 * cut at characters: {"result_id", "stream", "text", "offset", "next_offset", "total_bytes", "at_end"}. With
 * GREP, a regular expression of PCRE, the lines in which it is found, in place of the text: "lines":
 * [{"line", "offset", "text"}]. OWNER: the run's; NULL: anybody's. Free with g_free; NULL with ERROR:
 * ADDER_ERROR_NOT_FOUND when no such output is kept. */
ADDER_PUBLIC char *adder_output_peek (AdderEngine *engine, const char *owner, const char *result_id,
                                      const char *stream, guint64 offset, guint64 limit, const char *grep,
                                      GError **error);

/* ---- kept files: what runs made, and what was put in for them (docs/files.md) ----
 *
 * Where [store] blobs keeps them, each has an id, a name, a type and a time at which it expires. OWNER NULL:
 * anybody's; a front end passes the one who asks, unless he is an admin. What is returned is one JSON text,
 * to be freed with g_free, or NULL with ERROR. A file of another owner is ADDER_ERROR_NOT_FOUND. */

/* {"files": [...], "next": text or null}, the newest first. FILTERS is NULL or a JSON object with any of
 * "conversation", "session", "run_id", "name", "outputs" (true: long output as well), "limit" (100; at most
 * 10000) and "before" (the "next" of the list before). */
ADDER_PUBLIC char *adder_file_list (AdderEngine *engine, const char *owner, const char *filters,
                                    GError **error);
/* Keeps a copy of what FD reads (a regular file, or a pipe to its end) as NAME, of which the last part is
 * used, cleaned. OWNER (NULL: nobody in particular) and CONVERSATION (NULL: none) are whose it is. Given up
 * when the peer of the socket WATCH_FD (-1: none) hangs up. Returns the file as adder_file_show does. */
ADDER_PUBLIC char *adder_file_put (AdderEngine *engine, const char *owner, const char *conversation,
                                   const char *name, int fd, int watch_fd, GError **error);
/* A file by its id; "@NAME" and "@NAME:VERSION" are the table of a data set of OWNER's. */
ADDER_PUBLIC char *adder_file_show (AdderEngine *engine, const char *owner, const char *file_id,
                                    GError **error);
/* A descriptor to read the file from, the caller's, or -1 with ERROR. *RET_JSON (may be NULL): as
 * adder_file_show. */
ADDER_PUBLIC int adder_file_open (AdderEngine *engine, const char *owner, const char *file_id,
                                  char **ret_json, GError **error);
/* The same by the signed URL that adder_file_show told: whoever has it may, until it expires. EXPIRES_S and
 * SIGNATURE are its parts. ADDER_ERROR_NOT_FOUND also where they are wrong. */
ADDER_PUBLIC int adder_file_open_signed (AdderEngine *engine, const char *file_id, gint64 expires_s,
                                         const char *signature, char **ret_json, GError **error);
ADDER_PUBLIC gboolean adder_file_remove (AdderEngine *engine, const char *owner, const char *file_id,
                                         GError **error);

/* Where records and files are, and how full it is. Says also what cannot be reached. */
ADDER_PUBLIC char *adder_store_show (AdderEngine *engine, GError **error);
/* Whether all that is kept is whole; finishes what was broken off. DEEP: all files are read. FORCE: removes
 * also what may only look lost, such as rows of files in a directory that is not mounted. Given up when the
 * peer of the socket WATCH_FD (-1: none) hangs up. {"healthy": bool, ...}. */
ADDER_PUBLIC char *adder_store_check (AdderEngine *engine, gboolean deep, gboolean force, int watch_fd,
                                      GError **error);

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
