/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks over HTTP, and whether they may: asked once for each request, when its headers are there and
 * before its body is read. Knows nothing of the server's library: a request is a handful of facts. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "interfaces/http/http.h"
#include "policy/principal.h"

struct identify;

/* Who can get to the server's addresses. */
enum identify_reach {
  IDENTIFY_UNIX,     /* who may open its sockets */
  IDENTIFY_LOOPBACK, /* all programs of this machine as well */
  IDENTIFY_OTHERS,   /* other machines as well */
};

/* NULL with ERROR: a setting of [http] or [oauth] that cannot be. CONFIG must outlive it. */
struct identify *identify_new (const struct config *config, GError **error);
/* NULL is allowed. */
void identify_free (struct identify *identify);

/* Whether the settings of CONFIG that can change while a server runs are such as identify_new takes. */
gboolean identify_check_config (const struct config *config, GError **error);

/* Before the server listens where REACH says. SHOWN: somebody sees the token that is made where there is
 * none. FALSE with ERROR: a token file that cannot be trusted, an address that others can reach while there
 * is no token. One call at a time. */
gboolean identify_open_to (struct identify *identify, enum identify_reach reach, gboolean shown,
                           GError **error);

/* The token made because there was none, to be shown to who started the server and nowhere else; NULL: there
 * is none, or others are there by now. The identify's. */
const char *identify_startup_token (struct identify *identify);

/* What is known of a request. A header that is not there is NULL; one that occurs twice must have been
 * refused before (Host, Origin, Authorization). */
struct identify_facts {
  int fd; /* the connection's socket: who is at either end of it is asked there */
  gboolean tls;
  const char *method, *path; /* the path without its query */
  const char *host, *origin, *authorization;
  const char *user;                           /* Adder-On-Behalf-Of: whom of its users a service asks for */
  const char *wanted_method, *wanted_headers; /* Access-Control-Request-Method, -Headers */
  const struct http_route *route;             /* NULL: there is none, which the caller answers */
};

/* What comes of it. */
struct identity {
  int status;            /* 0: go on; else this is the reply: 204 of a preflight, 401, 403, 421, 429, 503 */
  GError *problem;       /* of a reply that is none of success: what a problem document says */
  GPtrArray *headers;    /* name, value, name, value: to be set on whatever reply there will be; or NULL */
  struct principal *who; /* NULL of a route that is HTTP_OPEN, or of none */
  struct identify *identify;
  gboolean counted;            /* among the requests that WHO has under way, */
  gboolean counted_of_service; /* and among those of the service whose user WHO is */
};

/* FALSE: the reply is there. Either way *RET_IDENTITY must be cleared, but not before the reply was sent
 * whole: until then the request counts as one of its principal's. */
gboolean identify_request (struct identify *identify, const struct identify_facts *facts,
                           struct identity *ret_identity);
void identity_clear (struct identity *identity);
