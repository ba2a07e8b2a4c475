/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a profile: a table of groups, and one of keys for each. Reading, showing and documenting
 * are loops over them. A new group is a file with its table of keys, a row in profile_groups[] and a member
 * of struct profile. */
#pragma once

#include "policy/profile.h"

enum profile_type {
  PROFILE_TEXT,     /* char *, not empty */
  PROFILE_CHOICE,   /* guint: the index in CHOICES */
  PROFILE_BOOLEAN,  /* gboolean: true or false */
  PROFILE_COUNT,    /* guint64, as the next two; from MINIMUM to MAXIMUM. Below that: not set */
  PROFILE_DURATION, /* in ms */
  PROFILE_LIST,     /* GStrv of words (policy/profile_list.h); NULL: not set */
};

struct profile_key {
  const char *name;
  enum profile_type type;
  gsize offset; /* in struct profile */
  guint64 minimum, maximum;
  const char *const *choices;                           /* ends with NULL */
  gboolean (*check) (const char *word, GError **error); /* of a text, or of each word of a list; or NULL */
  const char *values; /* for people, if type and bounds do not say it all; or NULL */
  const char *text;   /* one sentence for people: its meaning, and its default */
};

#define PROFILE_AT(member) offsetof (struct profile, member)

struct profile_group {
  const char *name;
  const char *text;               /* for people, as a key's */
  const struct profile_key *keys; /* ends with one without a name; NULL: SET and SHOW know the keys */
  gboolean (*set) (struct profile *profile, const char *key, const char *value, GError **error);
  json_t *(*show) (const struct profile *profile); /* an object of keys; the caller's */
  /* Checks the whole after reading: contradictions. *RET_KEY is the key to blame, or NULL. */
  gboolean (*check) (const struct profile *profile, const char **ret_key, GError **error);
};

extern const struct profile_group profile_groups[]; /* ends with one without a name */

/* One file each, except those of profile_groups.c itself. */
extern const struct profile_key profile_blocked_keys[];
extern const struct profile_key profile_guard_keys[];
json_t *profile_guard_show (const struct profile *profile);
extern const struct profile_key profile_workdir_keys[];
extern const struct profile_key profile_network_keys[];
gboolean profile_network_check (const struct profile *profile, const char **ret_key, GError **error);

/* A valid name for a profile or an environment. */
gboolean profile_is_name (const char *name);

const struct profile_group *profile_group_find (const char *name);

/* Sets the key NAME of GROUP. ADDER_ERROR_INVALID: the key is unknown (with a suggestion), or the value is
 * wrong; the message names neither file nor key. */
gboolean profile_group_set (const struct profile_group *group, struct profile *profile, const char *name,
                            const char *value, GError **error);

/* GROUP of PROFILE: an object of all its keys, null for unset ones. The caller's. */
json_t *profile_group_show (const struct profile_group *group, const struct profile *profile);

/* Puts the defaults into a new profile, and frees what the groups put into one. */
void profile_groups_init (struct profile *profile);
void profile_groups_clear (struct profile *profile);
