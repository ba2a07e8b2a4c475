/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks, once that is known: what a way in that is open to more than one user passes on with each
 * request. */
#pragma once

#include <glib.h>

#include "policy/roles.h"

struct principal {
  gint references;
  char *owner; /* whose runs, sessions and files these are: "uid:1000", "token:NAME", "oauth:SUBJECT" */
  enum role role;
  char *toolset;           /* the only one that they may use, or NULL: any */
  char **profiles;         /* patterns of those that they may use, beside what their role says; NULL: any */
  char **roots;            /* names of directories that the configuration lists; NULL: none */
  gboolean read_only;      /* may look but not act */
  gboolean may_decide;     /* about approvals and reviews: speaks for a person */
  gboolean acts_for_users; /* is a service, whose users may be owners of their own */
  guint64 rate;            /* requests in a minute; 0: the configuration's */
  guint64 concurrent;      /* and at once; 0: the configuration's */
  char *service;           /* of a service's user: as what all of its users count together; else NULL */
};

/* With one reference, for OWNER, and the role that the configuration gives to a caller that names none. */
struct principal *principal_new (const struct config *config, const char *owner);

/* The user NAME of the service WHO: of owner OWNER/NAME, with WHO's rights, but never an admin's, and may not
 * act for others. With one reference. NULL with ADDER_ERROR_REFUSED where WHO may not act for users, and
 * ADDER_ERROR_INVALID where NAME is none: up to PRINCIPAL_USER_MAX letters, digits, and "_-.@:+". */
#define PRINCIPAL_USER_MAX 128
struct principal *principal_for_user (const struct principal *who, const char *name, GError **error);

struct principal *principal_ref (struct principal *principal);
/* NULL is allowed. */
void principal_unref (struct principal *principal);

/* For adder_request_set_profiles_allowed of what they run themselves, not by a tool: none where they were
 * given a toolset and no profiles, since they would get around the toolset. Theirs. */
const char *const *principal_run_profiles (const struct principal *principal);
