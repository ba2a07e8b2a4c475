/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by identify.c and identify_sign_in.c. */
#pragma once

#include "common/guarded.h"
#include "interfaces/http/identify.h"
#include "interfaces/http/oauth.h"
#include "policy/rates.h"
#include "policy/sign_in_codes.h"
#include "policy/token_place.h"
#include "policy/tokens.h"

LOCK_CLASS (identify);

struct identify {
  const struct config *config;
  struct store *store; /* or NULL */
  struct tokens *tokens;
  struct token_place *place; /* where they are */
  struct oauth *oauth;       /* or NULL */
  struct rates *owners, *failures;
  guint (*gateways) (gpointer data); /* or NULL: this daemon is the only one */
  gpointer gateways_data;
  struct startup *startup;   /* or NULL; set once, then constant */
  gboolean startup_is_given; /* in a file; constant */
  struct sign_in_codes *codes;
  MUTEX (identify) lock;
  /* Digest of a browser's token -> that of the one that it got instead; "" while that is being made. */
  GUARDED_BY (identify) GHashTable *replaced;
};

/* All three return FALSE, with the reply in IDENTITY. */
gboolean identify_refuse (struct identity *identity, int status, AdderError code, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* Counts it as a failure of its address: 401, or 429 if there were too many. TEXT has no secret. */
gboolean identify_refuse_token (struct identify *identify, const struct identify_facts *facts,
                                struct identity *identity, const char *text);

/* Whether the address of FACTS has not sent too many wrong tokens: then others may be asked about one. */
gboolean identify_may_ask (struct identify *identify, const struct identify_facts *facts, guint *ret_wait_s);

/* The holder of the token SECRET into IDENTITY; FALSE: the reply. */
gboolean identify_secret (struct identify *identify, const struct identify_facts *facts, const char *secret,
                          struct identity *identity);

/* identify_sign_in.c: whether the browser at the other end is one of ACCOUNT's, if it is on this machine:
 * browsers send a cookie to all ports of a host, so that other users' programs may come to know it. */
gboolean identify_is_of_account (const struct identify_facts *facts, const char *account);

/* identify_sign_in.c: whether the browser whose token had DIGEST is signed in still, by another that replaced
 * it. */
gboolean identify_is_replaced (struct identify *identify, const char *digest);

/* identify_sign_in.c: whether cookies of this request count. */
gboolean identify_cookie_counts (const struct identify *identify, const struct identify_facts *facts);

/* identify_sign_in.c: the secret of the request's cookie, the caller's. NULL: it has none, or its cookie does
 * not count. */
char *identify_cookie (const struct identify *identify, const struct identify_facts *facts);
