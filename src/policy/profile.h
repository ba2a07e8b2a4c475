/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: named sets of limits and rules, one key file each (profiles/NAME.conf; a user's own in
 * paths_config_dir() wins). What may stand there are the groups of profile_groups.c; profile_file.h reads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/network/network_rules.h"
#include "engine/request/request.h"
#include "policy/approval.h"
#include "policy/guard_rules.h"
#include "policy/roles.h"
#include "sandbox/limits.h"

#define PROFILE_WORKDIR_RW 3

struct profile {
  char *name;
  char *file; /* that it was read from */
  char *title;
  struct limits limits;  /* what a run gets that asks for nothing */
  struct limits maxima;  /* and the most that it may ask for */
  char *environment;     /* NULL: the configuration's */
  guint64 min_isolation; /* 0 to 4 */
  guint role;            /* enum role: the lowest that may use it */
  guint approval;        /* enum approval_mode: when somebody must say yes */
  guint tables;          /* enum request_tables */
  gboolean keep_files;   /* whether what the code leaves is kept in the store */
  guint backend;         /* enum backend */
  GStrv mitigations;     /* NULL: none */
  GHashTable *variables; /* name -> value: given to each run */
  struct request_blocked blocked;
  struct profile_network {
    guint mode; /* enum network */
    GStrv allow;
    char *secret_host, *secret_header, *secret_file, *secret_variable;
  } network;
  struct profile_session {
    gboolean allowed; /* whether there may be sessions with it */
    guint64 idle_ms;  /* one that nobody used for so long ends; 0: the configuration's */
  } session;
  struct profile_workdir {
    guint mode;      /* the most that a run may do with one; the last is PROFILE_WORKDIR_RW */
    GStrv variables; /* of the caller's, that pass */
  } workdir;
  struct profile_guard guard;
  struct profile_packages {
    gboolean with; /* whether callers from elsewhere, and agents, may have packages installed for a run */
  } packages;
};

/* ADDER_ERROR_NOT_FOUND names the profiles there are; ADDER_ERROR_INVALID is the first thing that is wrong
 * with its file: "FILE:LINE: [group] key: what". */
struct profile *profile_load (const char *name, GError **error);
/* The profile NAME as FILE says it. NULL without ERROR: there is no such file. */
struct profile *profile_load_file (const char *name, const char *file, GError **error);
void profile_free (struct profile *profile);
GStrv profile_names (void);

/* The processor time that a run with PROFILE is to ask for when it asks for WALL_MS: who wants a longer time
 * means a busy one as well, unless the profile keeps it below the wall clock on purpose. 0: nothing, the
 * profile's is enough. */
guint64 profile_cpu_ms (const struct profile *profile, guint64 wall_ms);

/* Its mitigations as bits: 1 << enum mitigation. */
uint32_t profile_mitigations (const struct profile *profile);

/* What its group [network] comes to; NULL: no network. The caller's. */
struct network_rules *profile_network_rules (const struct profile *profile);

/* "name", "file", the keys of [profile], and each other group as an object of its own. The caller's. */
json_t *profile_to_json (const struct profile *profile);
