/* SPDX-License-Identifier: Apache-2.0 */
/* Who the caller is over HTTP, and whether they are allowed: checked once for each request, after its headers
 * and before its body. Knows nothing of the server's library: a request is a handful of facts. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "interfaces/http/http.h"
#include "policy/principal.h"
#include "store/store.h"

struct identify;

/* Who can reach the server's addresses. */
enum identify_reach {
  IDENTIFY_UNIX,     /* users who may open its sockets */
  IDENTIFY_LOOPBACK, /* all programs of this machine as well */
  IDENTIFY_OTHERS,   /* other machines as well */
};

/* NULL with ERROR: an invalid setting of [http] or [oauth]. CONFIG must outlive it. STORE has the tokens of a
 * cluster; NULL: they are unknown. */
struct identify *identify_new (const struct config *config, struct store *store, GError **error);
/* CHANGED is called, in another thread, after the tokens of a cluster have changed. Once. */
void identify_watch (struct identify *identify, void (*changed) (gpointer data), gpointer data);
/* GATEWAYS says by how many daemons an owner's requests can come, of which each grants a part of the limits.
 */
void identify_share_limits (struct identify *identify, guint (*gateways) (gpointer data), gpointer data);
/* NULL is allowed. */
void identify_free (struct identify *identify);

/* Whether identify_new would accept the settings of CONFIG that can change while a server runs. */
gboolean identify_check_config (const struct config *config, GError **error);

/* Before the server listens where REACH says. SHOWN: if there is no token, one is made for somebody to see.
 * FALSE with ERROR: an untrustworthy token file, an address that others can reach while there is no token.
 * One call at a time. */
gboolean identify_open_to (struct identify *identify, enum identify_reach reach, gboolean shown,
                           GError **error);

/* The token made because there was none, to be shown only to the user who started the server; NULL: there is
 * none, or others exist by now. The identify's. */
const char *identify_startup_token (struct identify *identify);

/* Whose program a connection is of, looked up when it matters first. */
struct identify_peer {
  gboolean looked;
  int result; /* of peer_tcp_look */
  uid_t uid;
};

/* The facts of a request. A missing header is NULL; a duplicate must have been refused before (Host, Origin,
 * Authorization, Cookie, Sec-Fetch-Site). */
struct identify_facts {
  int fd; /* the connection's socket, which knows both ends */
  gboolean tls;
  struct identify_peer *peer; /* the connection's; only one thread uses it */
  const char *method, *path;  /* the path without its query */
  const char *host, *origin, *authorization;
  const char *cookies;                        /* Cookie */
  const char *fetch_site, *fetch_mode;        /* Sec-Fetch-Site, -Mode */
  const char *user;                           /* Adder-On-Behalf-Of: the user that a service acts for */
  const char *wanted_method, *wanted_headers; /* Access-Control-Request-Method, -Headers */
  const struct http_route *route;             /* NULL: there is none, which the caller replies */
};

/* The result. */
struct identity {
  int status;            /* 0: go on; else the reply: 204 of a preflight, 401, 403, 421, 429, 503 */
  GError *problem;       /* the problem document's text, unless successful */
  GPtrArray *headers;    /* name, value, name, value: to set on any reply; or NULL */
  struct principal *who; /* NULL on an HTTP_OPEN route, or without a route */
  struct identify *identify;
  gboolean counted;            /* counted among WHO's active requests, */
  gboolean counted_of_service; /* and among those of the service whose user WHO is */
};

/* FALSE: the reply is there. Either way *RET_IDENTITY must be cleared, but not before the whole reply was
 * sent: until then the request counts as its principal's. */
gboolean identify_request (struct identify *identify, const struct identify_facts *facts,
                           struct identity *ret_identity);
void identity_clear (struct identity *identity);

/* Whether what identified WHO has neither been revoked nor expired since. Tokens of an authorization server
 * only expire. From any thread. */
gboolean identify_still_knows (struct identify *identify, const struct principal *who);

/* ---- browsers that sign in ---- */

/* A one-time code for ACCOUNT ("uid:1000"), the caller's. NULL with ERROR. From any thread. */
char *identify_new_code (struct identify *identify, const char *account, GError **error);

/* The two ways to sign in: by a one-time code, which becomes a token, or by an existing token. Then SECRET is
 * the caller's, AGE_S how long its cookie may live, and the identity has WHO. FALSE: the reply is in the
 * identity, which must be cleared either way. */
struct sign_in {
  char *secret;
  gint64 age_s;
};
gboolean identify_exchange_code (struct identify *identify, const struct identify_facts *facts,
                                 const char *code, struct sign_in *ret_sign_in,
                                 struct identity *ret_identity);
gboolean identify_take_token (struct identify *identify, const struct identify_facts *facts,
                              const char *token, struct sign_in *ret_sign_in, struct identity *ret_identity);
/* Ends the browser's own token, if its cookie has one; other tokens stay. FALSE as above. */
gboolean identify_sign_out (struct identify *identify, const struct identify_facts *facts,
                            struct identity *ret_identity);
