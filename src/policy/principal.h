/* SPDX-License-Identifier: Apache-2.0 */
/* An authenticated caller: what an interface open to several users passes on with each request. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "policy/roles.h"

struct principal {
  gint references;
  char *owner; /* the owner of their runs, sessions and files: "uid:1000", "token:NAME", "oauth:SUBJECT" */
  enum role role;
  char *toolset;           /* the only toolset they may use, or NULL: any */
  char **profiles;         /* patterns of the profiles they may use, within what their role allows; NULL:
                            * any */
  char **roots;            /* names of directories that the configuration lists; NULL: none */
  gboolean read_only;      /* read-only */
  gboolean may_decide;     /* about approvals and reviews: speaks for a person */
  gboolean acts_for_users; /* is a service, whose users may be separate owners */
  guint64 rate;            /* requests per minute; 0: the configuration's */
  guint64 concurrent;      /* and at once; 0: the configuration's */
  gboolean is_browser;     /* a browser's token, which acts as the account OWNER of this machine */
  gint64 expires_ms;       /* since 1970, when what identified them ends; 0: unknown, or never */
  char *token;             /* the name of the token that identified them; NULL: something else did */
  char *token_digest;      /* of its secret, if it is of the file of tokens; else NULL */
  char *service;           /* of a service's user: the key by which all of its users count together; else
                            * NULL */
};

/* With one reference, for OWNER, and the configuration's default role. */
struct principal *principal_new (const struct config *config, const char *owner);

/* The user NAME of the service WHO: with owner OWNER/NAME and WHO's rights, but never an admin's, and not
 * allowed to act for others. With one reference. NULL with ADDER_ERROR_REFUSED if WHO may not act for users,
 * and ADDER_ERROR_INVALID if NAME is invalid: up to PRINCIPAL_USER_MAX letters, digits, and "_-.@:+". */
#define PRINCIPAL_USER_MAX 128
struct principal *principal_for_user (const struct principal *who, const char *name, GError **error);

struct principal *principal_ref (struct principal *principal);
/* NULL is allowed. */
void principal_unref (struct principal *principal);

/* WHO for another node of a cluster, without what identified them; the caller's. */
json_t *principal_to_json (const struct principal *who);
/* What that made, with one reference. NULL with ADDER_ERROR_INVALID. */
struct principal *principal_from_json (const json_t *value, GError **error);

/* For adder_request_set_profiles_allowed of their own runs, not by a tool: none if they have a toolset and no
 * profiles, since they would bypass the toolset. Theirs. */
const char *const *principal_run_profiles (const struct principal *principal);
