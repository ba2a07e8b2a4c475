/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the public library share. */
#pragma once

#include "adder.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "policy/approval.h"
#include "policy/loops.h"
#include "policy/profile.h"
#include "store/review.h"
#include "store/store.h"

/* Profiles as they were read last: reading a file costs more than a run's other preparations together. */
struct profile_cache {
  GMutex lock;
  GHashTable *entries; /* name -> struct profile_entry */
};
void profile_cache_init (struct profile_cache *cache);
void profile_cache_clear (struct profile_cache *cache);

/* The profile NAME, at most a second old; the caller's reference (g_rc_box of struct profile is hidden behind
 * it). */
struct profile_entry;
const struct profile *profile_cache_get (struct profile_cache *cache, const char *name,
                                         struct profile_entry **ret_entry, GError **error);
void profile_entry_unref (struct profile_entry *entry);

struct adder_engine {
  struct engine *engine;
  struct profile_cache profiles;
  struct approvals *approvals;
  struct reviews *reviews;
  struct store *store;
  struct keeper *keeper;
  struct loops *loops;
};

/* Has a yes to the changes of a review make them. */
void library_join_reviews (AdderEngine *engine);

/* Has the changes of RESOLVED kept for a review, where it is one. */
void library_set_review (AdderEngine *engine, struct run_request *resolved);

/* The engine's request for REQUEST: profile, limits and environment resolved, everything copied. What is
 * wrong with it is in its `invalid`. */
struct run_request *library_resolve (AdderEngine *engine, const AdderRequest *request);

/* The same, where what REQUEST does not say is as LIKE has it, and not the profile's. */
struct run_request *library_resolve_like (AdderEngine *engine, const AdderRequest *request,
                                          const struct run_request *like);

/* Has RESOLVED, made of REQUEST, wait for an approval where its profile wants one and it has none: that is
 * its `invalid` then. Its files become copies, since a yes is for what they hold now. */
void library_gate (AdderEngine *engine, const AdderRequest *request, struct run_request *resolved);

/* What outlives the runs of one engine goes by it. STORE and NEWS are referenced. */
struct keeper *keeper_new (struct store *store, struct news *news);
void keeper_unref (struct keeper *keeper);
/* {"records", "files": kinds of places, "runs_kept", "runs_not_kept", "last_problem", "last_problem_at"}.
 * Asks nobody, so that it is never waited for. */
json_t *keeper_status (struct keeper *keeper);

/* Has what outlives RESOLVED kept, where the configuration and its profile want that; of what is for a
 * SESSION, its files as well. */
void library_set_keeper (AdderEngine *engine, struct run_request *resolved, gboolean session);

/* Has RESOLVED know what failed in its conversation, and how it ends be kept count of. Nothing for one
 * without a conversation. */
void library_watch_loops (AdderEngine *engine, struct run_request *resolved);

/* As adder_request_set_origin, without a copy of ARGUMENTS. */
void library_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                         const json_t *arguments);

/* Has REQUEST run in the caller's own environment, that of the interpreter at the absolute path PYTHON (NULL:
 * none), where neither it nor its profile names another. For callers on this machine alone. */
void library_set_python (AdderRequest *request, const char *python);

/* The kept file ID of OWNER's (NULL: anybody's), by its id, or by "@" and its id; "@NAME" and "@NAME:VERSION"
 * are the table of his data set. NULL with ADDER_ERROR_NOT_FOUND. */
struct file_row *library_find_file (AdderEngine *engine, const char *owner, const char *id, GError **error);

/* Adds the stored file ID, as library_find_file has it, to RESOLVED's inputs, as NAME (NULL: its own) in
 * PLACE. That there is none is RESOLVED's `invalid`. */
void library_find_input (AdderEngine *engine, struct run_request *resolved, const char *id, const char *name,
                         enum input_place place);

/* Opens what was found; large files are linked as well, where a run of RESOLVED (not for a SESSION to be
 * made) can do without copies. What is not to be had is its `invalid`. */
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
