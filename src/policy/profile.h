/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: named sets of limits and rules, one key file each (profiles/NAME.conf; a user's own in
 * paths_config_dir() wins). profile_groups.c lists the groups; profile_file.h reads. */
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
  struct limits limits;  /* a run's defaults */
  struct limits maxima;  /* and its maxima */
  char *environment;     /* NULL: the configuration's */
  guint64 min_isolation; /* 0 to 4 */
  guint role;            /* enum role: the lowest allowed */
  guint approval;        /* enum approval_mode: when an approval is required */
  guint tables;          /* enum request_tables */
  gboolean keep_files;   /* whether files and output that the code leaves are kept in the store */
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
    gboolean allowed; /* whether it allows sessions */
    guint64 idle_ms;  /* idle time after which a session ends; 0: the configuration's */
  } session;
  struct profile_workdir {
    guint mode;      /* the highest mode for a run; the last is PROFILE_WORKDIR_RW */
    GStrv variables; /* of the caller's, that are passed on */
  } workdir;
  struct profile_guard guard;
  struct profile_packages {
    gboolean with; /* whether remote callers, and agents, may have packages installed for a run */
  } packages;
};

/* ADDER_ERROR_NOT_FOUND lists the existing profiles; ADDER_ERROR_INVALID is the first error in its file:
 * "FILE:LINE: [group] key: what". */
struct profile *profile_load (const char *name, GError **error);
/* The profile NAME as FILE says it. NULL without ERROR: there is no such file. */
struct profile *profile_load_file (const char *name, const char *file, GError **error);
void profile_free (struct profile *profile);
GStrv profile_names (void);

/* The processor time to request for a run with PROFILE and WALL_MS: a longer time usually means a busy run as
 * well, unless the profile keeps it below the wall clock on purpose. 0: nothing, the profile's suffices. */
guint64 profile_cpu_ms (const struct profile *profile, guint64 wall_ms);

/* Its mitigations as bits: 1 << enum mitigation. */
uint32_t profile_mitigations (const struct profile *profile);

/* The rules from its group [network]; NULL: no network. The caller's. */
struct network_rules *profile_network_rules (const struct profile *profile);

/* "name", "file", the keys of [profile], and each other group as an object of its own. The caller's. */
json_t *profile_to_json (const struct profile *profile);
