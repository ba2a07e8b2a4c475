/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the public library share. */
#pragma once

#include "adder.h"
#include "common/guarded.h"
#include "engine/engine.h"
#include "engine/host/host.h"
#include "engine/request/request.h"
#include "policy/approval.h"
#include "policy/loops.h"
#include "policy/profile.h"
#include "store/review.h"
#include "store/store.h"

LOCK_CLASS (profile_cache);

/* Profiles as they were read last: reading a file costs more than a run's other preparations together. */
struct profile_cache {
  MUTEX (profile_cache) lock;
  GUARDED_BY (profile_cache) GHashTable *entries; /* name -> struct profile_entry */
};
void profile_cache_init (struct profile_cache *cache);
void profile_cache_clear (struct profile_cache *cache);

/* The profile NAME, at most a second old; the caller's reference (g_rc_box of struct profile is hidden behind
 * it). */
struct profile_entry;
const struct profile *profile_cache_get (struct profile_cache *cache, const char *name,
                                         struct profile_entry **ret_entry, GError **error);
void profile_entry_unref (struct profile_entry *entry);

/* What the daemon around an engine does for operations. Values are the caller's, or NULL with ERROR. */
struct daemon {
  /* What it is and does, to who asks at WATCH_FD. */
  json_t *(*describe) (gpointer data, int watch_fd);
  /* Has it answer HTTP at ADDRESSES (NULL: the usual), or OFF: at its own socket alone. */
  json_t *(*listen) (gpointer data, const char *addresses, gboolean off, GError **error);
  json_t *(*reload) (gpointer data, GError **error);
  gpointer data;
};

struct adder_engine {
  struct daemon daemon; /* all 0: there is none around it */
  struct engine *engine;
  struct profile_cache profiles;
  struct approvals *approvals;
  struct reviews *reviews;
  struct store *store;
  struct recorder *recorder;
  struct loops *loops;
  struct runs *runs; /* under way, and what came of those that nobody waited for */
};

/* Has the store remember sessions, for those who ask after the daemon has ended. */
void library_remember_sessions (AdderEngine *engine);

/* Has a yes to the changes of a review make them. */
void library_join_reviews (AdderEngine *engine);

/* Has the changes of RESOLVED kept for a review, where it is one. */
void library_set_review (AdderEngine *engine, struct run_request *resolved);

/* The engine's request for REQUEST: profile, limits and environment resolved, everything copied. What is
 * wrong with it is in its `invalid`. */
struct run_request *library_resolve (AdderEngine *engine, const AdderRequest *request);

/* Whether PROFILE fits one of PATTERNS (NULL: any does); else ADDER_ERROR_REFUSED names those that would. */
gboolean library_allows_profile (const char *const *patterns, const char *profile, GError **error);

/* The same as library_resolve, where what REQUEST does not say is as LIKE has it, and not the profile's. */
struct run_request *library_resolve_like (AdderEngine *engine, const AdderRequest *request,
                                          const struct run_request *like);

/* Has RESOLVED, made of REQUEST, wait for an approval where its profile wants one and it has none: that is
 * its `invalid` then. Its files become copies, since a yes is for what they hold now. */
void library_admit (AdderEngine *engine, const AdderRequest *request, struct run_request *resolved);

/* What outlives the runs of one engine goes by it. STORE and NOTIFICATIONS are referenced. */
struct recorder *recorder_new (struct store *store, struct notifications *notifications);
void recorder_unref (struct recorder *recorder);
/* {"records", "files": kinds of places, "runs_kept", "runs_not_kept", "last_problem", "last_problem_at"}.
 * Asks nobody, so that it is never waited for. */
json_t *recorder_status (struct recorder *recorder);

/* Whether an engine could be made with CONFIG, as far as the configuration tells (ADDER_ERROR_INVALID). */
gboolean library_check_config (const struct config *config, GError **error);

/* What the functions of include/adder.h give as text, as values: the same, and nobody's text is parsed again.
 * The caller's; of a result and a display nobody changes them. */
json_t *library_status (AdderEngine *engine);
json_t *library_result (const AdderResult *result);
json_t *library_display (const AdderRun *run); /* the bundle of the last event DISPLAY */
json_t *library_session_new (AdderEngine *engine, const AdderRequest *options, const char *name,
                             GError **error);
json_t *library_replay_plan (const AdderReplay *replay);
json_t *library_replay_finish (AdderReplay *replay, GError **error);
/* As adder_result_save_files, whose JSON this is. */
json_t *library_save_files (const AdderResult *result, int directory_fd, gboolean force, GError **error);

/* Has what outlives RESOLVED kept, where the configuration and its profile want that; of what is for a
 * SESSION, its files as well. */
void library_set_recorder (AdderEngine *engine, struct run_request *resolved, gboolean session);

/* Has RESOLVED know what failed in its conversation, and how it ends be kept count of. Nothing for one
 * without a conversation. */
void library_watch_loops (AdderEngine *engine, struct run_request *resolved);

/* The most bytes that all pictures of a run have together, as they stand in its result; 0: any. What comes
 * when little of it is left is shown smaller, or not at all, as with adder_request_set_pictures. */
void library_set_pictures_bytes (AdderRequest *request, guint64 bytes);

/* They read the result at a command line, though they did not come by this machine's. */
void library_set_at_terminal (AdderRequest *request, gboolean at_terminal);

/* As adder_request_set_origin, without a copy of ARGUMENTS. */
void library_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                         const json_t *arguments);

/* As adder_request_set_value and adder_request_set_analysis, of what was parsed; both are referenced, and
 * nobody changes them any more. */
gboolean library_set_value (AdderRequest *request, const char *name, json_t *value, GError **error);
gboolean library_set_analysis (AdderRequest *request, json_t *analysis, GError **error);

/* Has REQUEST run in the caller's own environment, that of the interpreter at the absolute path PYTHON (NULL:
 * none), where neither it nor its profile names another. For callers on this machine alone. */
void library_set_python (AdderRequest *request, const char *python);

/* The kept file ID of OWNER's (NULL: anybody's), by its id, or by "@" and its id; "@NAME" and "@NAME:VERSION"
 * are the table of their data set. NULL with ADDER_ERROR_NOT_FOUND. */
struct file_row *library_find_file (AdderEngine *engine, const char *owner, const char *id, GError **error);

/* A descriptor to read the file ID from, the caller's, or -1 with ERROR. *RET_FILE, which is the caller's, is
 * what "file.show" shows of it. */
int library_open_file (AdderEngine *engine, const char *owner, const char *id, json_t **ret_file,
                       GError **error);

/* The table NUMBER (from 1) that the run RUN_ID, of the owner of OPTIONS, showed and that was kept, as FORMAT
 * ("csv", "parquet" or "json"): the file that it then is, as "file.show" shows it, called NAME (NULL: as it
 * was). One that was kept in another format is converted by a run with the environment, role and watch of
 * OPTIONS, whose code counts for nothing. The caller's, or NULL with ERROR. */
json_t *library_export_table (AdderEngine *engine, const AdderRequest *options, const char *run_id,
                              guint number, const char *format, const char *name, GError **error);

/* Adds the stored file ID, as library_find_file has it, to RESOLVED's inputs, as NAME (NULL: its own) in
 * PLACE. That there is none is RESOLVED's `invalid`. */
void library_find_input (AdderEngine *engine, struct run_request *resolved, const char *id, const char *name,
                         enum input_place place);

/* Opens what was found; large files are linked as well, where a run of RESOLVED (not for a SESSION to be
 * made) can do without copies. What is not available is its `invalid`. */
void library_fetch_inputs (AdderEngine *engine, struct run_request *resolved, gboolean session);

/* Ends SESSION of OWNER because of REASON, which its owner reads. */
gboolean library_end_session (AdderEngine *engine, const char *owner, const char *session, const char *reason,
                              GError **error);

/* The approval that REQUEST was given, or NULL. */
const char *library_approval (const AdderRequest *request);

/* Who asks: REQUEST's. */
const char *library_owner (const AdderRequest *request);

/* A run of CODE, in the environment of OPTIONS, of its owner, with its role, origin and watch. The caller's.
 */
AdderRequest *library_request_like (const AdderRequest *options, const char *code);

/* A cell of SESSION with CODE, of OPTIONS' owner and with its watch. The caller's. */
AdderRequest *library_cell (const AdderRequest *options, const char *session, const char *code);
