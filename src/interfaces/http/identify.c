/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. A request passes four checks, and the first failure is the reply: the page from which
 * a browser asks (identify_browser.h), who the caller is (a token of the file, one of an authorization
 * server, or the peer of a unix socket), what they may do (the route's role and flags), and how often. A
 * principal is shared and never changes, so a request keeps its own. */
#include "interfaces/http/identify.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/peer.h"
#include "common/log.h"
#include "common/secret_file.h"
#include "common/text.h"
#include "interfaces/http/identify_browser.h"
#include "interfaces/http/identify_private.h"
#include "policy/roots.h"

#define REALM            "adder"
#define STARTUP_TOKEN    "startup"
#define GIVEN_TOKEN_MIN  32
#define OWNERS_MAX       16384
#define ADDRESSES_MAX    4096
#define LOGGED_A_MINUTE  60 /* wrong tokens, from all addresses together */
#define PREFLIGHT_AGE_S  "600"
#define ORIGIN_SHOWN     100
#define ADDRESS_BYTES    64
#define PREFIX_OF_A_SITE 8 /* bytes of an IPv6 address: its holder has all addresses below them */

/* The token of the user who started the server: shown to them, or given in a file. */
struct startup {
  char *secret, *digest;
  struct principal *who;
};

/* ---- life ---- */

static void
startup_free (struct startup *startup)
{
  if (!startup)
    return;
  explicit_bzero (startup->secret, strlen (startup->secret));
  g_free (startup->secret);
  g_free (startup->digest);
  principal_unref (startup->who);
  g_free (startup);
}

/* SECRET is taken over; NULL: FALSE. */
static gboolean
keep_startup_token (struct identify *identify, char *secret)
{
  if (!secret)
    return FALSE;
  struct startup *startup = g_new0 (struct startup, 1);
  *startup = (struct startup){secret, token_digest (secret),
                              principal_new (identify->config, "token:" STARTUP_TOKEN)};
  startup->who->role = ROLE_USER;
  startup->who->token = g_strdup (STARTUP_TOKEN);
  g_atomic_pointer_set (&identify->startup, startup);
  return TRUE;
}

static gboolean
read_startup_token (struct identify *identify, const char *file, GError **error)
{
  char *secret = secret_file_read (file, "[http] token_file", error);
  if (secret && strlen (secret) < GIVEN_TOKEN_MIN) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "[http] token_file: the token in %s has fewer than %d characters", file, GIVEN_TOKEN_MIN);
    explicit_bzero (secret, strlen (secret));
    g_clear_pointer (&secret, g_free);
  }
  identify->startup_is_given = secret != NULL;
  return keep_startup_token (identify, secret);
}

/* Whether anybody has a token of their own. */
static gboolean
has_tokens (struct identify *identify)
{
  return identify->oauth || identify->startup_is_given || tokens_count (identify->tokens) > 0;
}

gboolean
identify_check_config (const struct config *config, GError **error)
{
  return browser_check_origins (config->http_origins, error) &&
         browser_check_hosts (config->http_hosts, error) && roots_check (config, error);
}

static gboolean
identify_fill (struct identify *identify, GError **error)
{
  const struct config *config = identify->config;
  return identify_check_config (config, error) && oauth_new (config, &identify->oauth, error) &&
         (identify->tokens = tokens_new (config, identify->store, error)) &&
         (identify->place = token_place_new (config, identify->store, error)) &&
         (!config->http_token_file || read_startup_token (identify, config->http_token_file, error));
}

gboolean
identify_open_to (struct identify *identify, enum identify_reach reach, gboolean shown, GError **error)
{
  if (reach == IDENTIFY_UNIX)
    return TRUE;
  if (!tokens_check (identify->tokens, error))
    return FALSE;
  if (has_tokens (identify))
    return TRUE;
  if (reach == IDENTIFY_LOOPBACK && shown)
    /* For the terminal where the server was started, and so never where others may reach it. */
    return g_atomic_pointer_get (&identify->startup) ||
           keep_startup_token (identify, token_new_secret (error));
  if (reach == IDENTIFY_LOOPBACK) {
    log_warning (
        "http: there is no token yet, and all requests are refused: adder token new NAME creates one");
    return TRUE;
  }
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "there is no token, and [http] listen has an address that others can reach: make one with adder "
      "token new NAME");
  return FALSE;
}

struct identify *
identify_new (const struct config *config, struct store *store, GError **error)
{
  struct identify *identify = g_new0 (struct identify, 1);
  identify->config = config;
  identify->store = store ? store_ref (store) : NULL;
  identify->owners = rates_new (OWNERS_MAX, RATES_MINUTE_US);
  identify->failures = rates_new (ADDRESSES_MAX, RATES_MINUTE_US);
  identify->codes = sign_in_codes_new (store_is_shared (config) ? store : NULL);
  g_mutex_init (&identify->lock);
  identify->replaced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (identify_fill (identify, error))
    return identify;
  identify_free (identify);
  return NULL;
}

void
identify_watch (struct identify *identify, void (*changed) (gpointer data), gpointer data)
{
  tokens_watch (identify->tokens, changed, data);
}

void
identify_share_limits (struct identify *identify, guint (*gateways) (gpointer data), gpointer data)
{
  identify->gateways = gateways;
  identify->gateways_data = data;
}

void
identify_free (struct identify *identify)
{
  if (!identify)
    return;
  tokens_free (identify->tokens);
  token_place_free (identify->place);
  oauth_free (identify->oauth);
  rates_free (identify->owners);
  rates_free (identify->failures);
  sign_in_codes_free (identify->codes);
  startup_free (identify->startup);
  UNSHARED (identify);
  g_hash_table_unref (identify->replaced);
  g_mutex_clear (&identify->lock);
  store_unref (identify->store);
  g_free (identify);
}

const char *
identify_startup_token (struct identify *identify)
{
  const struct startup *startup = g_atomic_pointer_get (&identify->startup);
  return startup && !has_tokens (identify) ? startup->secret : NULL;
}

/* ---- both ends of a connection ---- */

union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
  struct sockaddr_storage room;
};

/* AF_UNIX even if unknown: that alone admits nobody. */
static sa_family_t
address_of (int fd, int (*ask) (int fd, struct sockaddr *address, socklen_t *size),
            union address *ret_address)
{
  socklen_t size = sizeof *ret_address;
  memset (ret_address, 0, sizeof *ret_address);
  if (ask (fd, &ret_address->any, &size) < 0)
    ret_address->any.sa_family = AF_UNIX;
  return ret_address->any.sa_family;
}

/* FALSE: it is no internet address. */
static gboolean
address_text (const union address *address, gboolean site, char text[static ADDRESS_BYTES])
{
  if (address->any.sa_family == AF_INET)
    return inet_ntop (AF_INET, &address->four.sin_addr, text, ADDRESS_BYTES) != NULL;
  if (address->any.sa_family != AF_INET6)
    return FALSE;
  struct in6_addr six = address->six.sin6_addr;
  if (site && !IN6_IS_ADDR_V4MAPPED (&six) && !IN6_IS_ADDR_LOOPBACK (&six))
    memset (six.s6_addr + PREFIX_OF_A_SITE, 0, sizeof six.s6_addr - PREFIX_OF_A_SITE);
  return inet_ntop (AF_INET6, &six, text, ADDRESS_BYTES) != NULL;
}

static int
ask_peer (int fd, struct sockaddr *address, socklen_t *size)
{
  return getpeername (fd, address, size);
}

static int
ask_own (int fd, struct sockaddr *address, socklen_t *size)
{
  return getsockname (fd, address, size);
}

/* The key for counting wrong tokens. */
static void
peer_name (int fd, char name[static ADDRESS_BYTES])
{
  union address address;
  address_of (fd, ask_peer, &address);
  if (!address_text (&address, TRUE, name))
    g_strlcpy (name, "a unix socket", ADDRESS_BYTES);
}

/* The account at the other end of a unix socket: ours, or root's. A process in a container or sandbox needs a
 * token, whatever its id. */
static struct principal *
peer_principal (const struct identify *identify, int fd)
{
  struct peer peer;
  union address own;
  if (address_of (fd, ask_own, &own) != AF_UNIX || peer_look (fd, &peer) < 0 || !peer.near || !peer.trusted)
    return NULL;
  g_autofree char *owner = g_strdup_printf ("uid:%u", peer.uid);
  struct principal *who = principal_new (identify->config, owner);
  who->may_decide = TRUE;
  who->acts_for_users = TRUE;
  return who;
}

/* ---- replies ---- */

static void
identify_add_header (struct identity *identity, const char *name, const char *value)
{
  if (!identity->headers)
    identity->headers = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (identity->headers, g_strdup (name));
  g_ptr_array_add (identity->headers, g_strdup (value));
}

gboolean
identify_refuse (struct identity *identity, int status, AdderError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  identity->status = status;
  identity->problem = g_error_new_valist (ADDER_ERROR, (gint)code, format, arguments);
  va_end (arguments);
  return FALSE;
}

static gboolean
refuse_for (struct identity *identity, guint wait_s, const char *what)
{
  char seconds[16];
  g_snprintf (seconds, sizeof seconds, "%u", wait_s);
  identify_add_header (identity, "Retry-After", seconds);
  return identify_refuse (identity, 429, ADDER_ERROR_BUSY, "%s; again in %u s", what, wait_s);
}

/* What a client must send, by RFC 6750 and 9728. WRONG is a word for machines, TEXT for people; both may be
 * NULL. */
static void
add_challenge (struct identity *identity, const struct identify_facts *facts, enum role role,
               const char *wrong, const char *text)
{
  const struct config *config = identity->identify->config;
  g_autofree char *document = oauth_document_url (config, facts->path);
  g_autofree char *scopes = document ? oauth_scopes_for (config, role) : NULL;
  g_autoptr (GString) value = g_string_new ("Bearer realm=\"" REALM "\"");
  if (wrong)
    g_string_append_printf (value, ", error=\"%s\", error_description=\"%s\"", wrong, text);
  if (document)
    g_string_append_printf (value, ", scope=\"%s\", resource_metadata=\"%s\"", scopes, document);
  identify_add_header (identity, "WWW-Authenticate", value->str);
}

/* ---- browsers ---- */

static gboolean
host_is_known (struct identify *identify, const struct identify_facts *facts)
{
  union address own;
  /* No browser can reach a unix socket. */
  if (address_of (facts->fd, ask_own, &own) == AF_UNIX)
    return TRUE;
  return facts->host && browser_host_is_known (facts->host, identify->config->http_hosts);
}

static gboolean
is_preflight (const struct identify_facts *facts)
{
  return strcmp (facts->method, "OPTIONS") == 0 && facts->wanted_method;
}

static void
answer_preflight (const struct identify_facts *facts, struct identity *identity)
{
  identify_add_header (identity, "Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
  if (facts->wanted_headers && browser_is_header_list (facts->wanted_headers))
    identify_add_header (identity, "Access-Control-Allow-Headers", facts->wanted_headers);
  identify_add_header (identity, "Access-Control-Max-Age", PREFLIGHT_AGE_S);
  identity->status = 204;
}

static gboolean
page_may_ask (struct identify *identify, const struct identify_facts *facts, struct identity *identity)
{
  const char *origins = identify->config->http_origins;
  enum browser_origin origin = browser_origin (facts->origin, facts->host, facts->tls, origins);
  if (origins)
    identify_add_header (identity, "Vary", "Origin");
  if (origin == BROWSER_FOREIGN && !(facts->route && facts->route->flags & HTTP_ANY_PAGE)) {
    g_autofree char *shown = text_one_line (facts->origin, ORIGIN_SHOWN);
    return identify_refuse (identity, 403, ADDER_ERROR_REFUSED,
                            "pages of %s may not ask here: [http] origins of adder.conf does not name them",
                            shown);
  }
  if (!host_is_known (identify, facts))
    return identify_refuse (
        identity, 421, ADDER_ERROR_REFUSED,
        "the server is not called what the header Host says: [http] hosts of adder.conf does not "
        "name it");
  if (origin == BROWSER_LISTED) {
    identify_add_header (identity, "Access-Control-Allow-Origin", facts->origin);
    identify_add_header (identity, "Access-Control-Expose-Headers",
                         "Content-Range, Location, Mcp-Session-Id, MCP-Protocol-Version, Retry-After, "
                         "WWW-Authenticate");
    if (is_preflight (facts)) {
      answer_preflight (facts, identity);
      return FALSE;
    }
  }
  return TRUE;
}

/* ---- authentication ---- */

gboolean
identify_refuse_token (struct identify *identify, const struct identify_facts *facts,
                       struct identity *identity, const char *text)
{
  char peer[ADDRESS_BYTES];
  guint wait_s, ignored;
  gint64 now_us = g_get_monotonic_time ();
  peer_name (facts->fd, peer);
  if (rates_enter (identify->failures, peer, identify->config->http_failures, 0, now_us, &wait_s) !=
      RATES_YES)
    return refuse_for (identity, wait_s, "too many wrong tokens came from this address");
  if (rates_enter (identify->failures, "", LOGGED_A_MINUTE, 0, now_us, &ignored) == RATES_YES)
    log_warning ("http: a request from %s was refused: %s", peer, text);
  add_challenge (identity, facts, facts->route ? facts->route->role : ROLE_GUEST, "invalid_token", text);
  return identify_refuse (identity, 401, ADDER_ERROR_REFUSED, "%s", text);
}

gboolean
identify_may_ask (struct identify *identify, const struct identify_facts *facts, guint *ret_wait_s)
{
  char peer[ADDRESS_BYTES];
  peer_name (facts->fd, peer);
  return rates_has_left (identify->failures, peer, g_get_monotonic_time (), ret_wait_s);
}

static gboolean
ask_oauth (struct identify *identify, const struct identify_facts *facts, const char *secret,
           struct identity *identity)
{
  guint wait_s;
  gboolean may_ask = identify_may_ask (identify, facts, &wait_s);
  switch (oauth_find (identify->oauth, secret, may_ask, &identity->who)) {
  case OAUTH_KNOWN:
    return TRUE;
  case OAUTH_NO_SCOPE:
    add_challenge (identity, facts, facts->route->role, "insufficient_scope",
                   "the token has no scope that is one of this server's");
    return identify_refuse (identity, 403, ADDER_ERROR_REFUSED,
                            "the token has no scope that is one of this server's");
  case OAUTH_UNREACHABLE:
    identify_add_header (identity, "Retry-After", "1");
    return identify_refuse (identity, 503, ADDER_ERROR_FAILED,
                            "the authorization server does not say whether the token is good");
  case OAUTH_NOT_ASKED:
    return refuse_for (identity, wait_s, "too many wrong tokens came from this address");
  case OAUTH_UNKNOWN:
  default:
    return identify_refuse_token (identify, facts, identity, "the token is not valid here, or no longer");
  }
}

gboolean
identify_secret (struct identify *identify, const struct identify_facts *facts, const char *secret,
                 struct identity *identity)
{
  g_autoptr (GError) problem = NULL;
  gboolean expired = FALSE;
  guint wait_s;
  identity->who =
      tokens_find (identify->tokens, secret, identify_may_ask (identify, facts, &wait_s), &expired, &problem);
  if (identity->who && identity->who->is_browser && !identify_is_of_account (facts, identity->who->owner)) {
    principal_unref (g_steal_pointer (&identity->who));
    return identify_refuse_token (identify, facts, identity,
                                  "the token is for a browser of another account of this machine");
  }
  if (identity->who)
    return TRUE;
  const struct startup *startup = g_atomic_pointer_get (&identify->startup);
  if (startup && (identify->startup_is_given || g_str_has_prefix (secret, TOKEN_PREFIX))) {
    g_autofree char *digest = token_digest (secret);
    if (strcmp (digest, startup->digest) == 0) {
      identity->who = principal_ref (startup->who);
      return TRUE;
    }
  }
  if (expired)
    return identify_refuse_token (identify, facts, identity, "the token has expired");
  if (identify->oauth && !g_str_has_prefix (secret, TOKEN_PREFIX))
    return ask_oauth (identify, facts, secret, identity);
  if (problem) {
    gboolean is_away = problem->code == ADDER_ERROR_UNAVAILABLE;
    identify_add_header (identity, "Retry-After", is_away ? "1" : "10");
    return identify_refuse (identity, 503, (AdderError)problem->code, "%s", problem->message);
  }
  return identify_refuse_token (identify, facts, identity,
                                "the token is not valid here: it never was, or was revoked or rotated");
}

static gboolean
find_who (struct identify *identify, const struct identify_facts *facts, struct identity *identity)
{
  if (facts->authorization) {
    const char *secret = browser_bearer (facts->authorization);
    return secret ? identify_secret (identify, facts, secret, identity)
                  : identify_refuse_token (identify, facts, identity,
                                           "the header Authorization is not \"Bearer TOKEN\"");
  }
  g_autofree char *cookie = facts->route->flags & HTTP_NO_COOKIE ? NULL : identify_cookie (identify, facts);
  if (cookie)
    return identify_secret (identify, facts, cookie, identity);
  identity->who = peer_principal (identify, facts->fd);
  if (identity->who)
    return TRUE;
  add_challenge (identity, facts, facts->route->role, NULL, NULL);
  if (!g_atomic_pointer_get (&identify->startup) && !has_tokens (identify))
    return identify_refuse (
        identity, 401, ADDER_ERROR_REFUSED,
        "there is no token yet, and all requests are refused without one: create it where the server runs");
  if (facts->cookies && !(facts->route->flags & HTTP_NO_COOKIE) && !identify_cookie_counts (identify, facts))
    return identify_refuse (identity, 401, ADDER_ERROR_REFUSED,
                            "a cookie counts only in requests of this server's own pages");
  return identify_refuse (identity, 401, ADDER_ERROR_REFUSED,
                          "a token is needed, in the header \"Authorization: Bearer TOKEN\"");
}

/* A user of the calling service, if it names one. */
static gboolean
act_for_user (const struct identify_facts *facts, struct identity *identity)
{
  g_autoptr (GError) problem = NULL;
  if (!facts->user)
    return TRUE;
  struct principal *user = principal_for_user (identity->who, facts->user, &problem);
  if (!user)
    return identify_refuse (identity, problem->code == ADDER_ERROR_REFUSED ? 403 : 400,
                            (AdderError)problem->code, "%s", problem->message);
  principal_unref (identity->who);
  identity->who = user;
  return TRUE;
}

/* ---- authorization and rates ---- */

static gboolean
changes_nothing (const struct identify_facts *facts)
{
  return strcmp (facts->method, "GET") == 0 || strcmp (facts->method, "HEAD") == 0 ||
         (facts->route->flags & HTTP_LOOKS);
}

static gboolean
may (const struct identify_facts *facts, struct identity *identity)
{
  const struct principal *who = identity->who;
  const struct http_route *route = facts->route;
  if (who->role < route->role) {
    if (g_str_has_prefix (who->owner, "oauth"))
      add_challenge (identity, facts, route->role, "insufficient_scope",
                     "the token's scopes do not allow it");
    return identify_refuse (identity, 403, ADDER_ERROR_REFUSED, "this needs the role %s; the caller's is %s",
                            role_name (route->role), role_name (who->role));
  }
  if ((route->flags & HTTP_DECIDES) && !who->may_decide)
    return identify_refuse (
        identity, 403, ADDER_ERROR_REFUSED,
        "this caller does not speak for a person: only a token made with --may-decide decides");
  if (who->read_only && !changes_nothing (facts))
    return identify_refuse (identity, 403, ADDER_ERROR_REFUSED,
                            "this caller may look, but run and change nothing");
  return TRUE;
}

/* This daemon's part of the limit MOST: all daemons together grant no more than that, but each at least one.
 */
static guint64
identify_part (const struct identify *identify, guint64 most)
{
  guint gateways = identify->gateways ? MAX (identify->gateways (identify->gateways_data), 1) : 1;
  return MAX (most / gateways, 1);
}

/* FACTOR times one owner's share, for KEY; *RET_COUNTED: until identity_clear. */
static gboolean
enter_as (struct identify *identify, struct identity *identity, const char *key, guint64 factor,
          gboolean *ret_counted)
{
  const struct config *config = identify->config;
  const struct principal *who = identity->who;
  guint64 often = who->rate ? who->rate : config->http_rate;
  guint64 at_once = who->concurrent ? who->concurrent : config->http_concurrent;
  const char *of = factor == 1 ? "this caller" : "this service's users together";
  guint wait_s;
  enum rates_answer answer =
      rates_enter (identify->owners, key, identify_part (identify, often * factor),
                   identify_part (identify, at_once * factor), g_get_monotonic_time (), &wait_s);
  *ret_counted = answer == RATES_YES;
  if (answer == RATES_YES)
    return TRUE;
  g_autofree char *what = g_strdup_printf (
      "too many requests of %s %s", of, answer == RATES_TOO_MANY ? "are under way" : "came in a short time");
  return refuse_for (identity, wait_s, what);
}

/* A service can invent any number of users, so its token bounds all of them. */
static gboolean
may_now (struct identify *identify, struct identity *identity)
{
  const struct principal *who = identity->who;
  return enter_as (identify, identity, who->owner, 1, &identity->counted) &&
         (!who->service || enter_as (identify, identity, who->service, identify->config->http_users_factor,
                                     &identity->counted_of_service));
}

gboolean
identify_request (struct identify *identify, const struct identify_facts *facts,
                  struct identity *ret_identity)
{
  *ret_identity = (struct identity){.identify = identify};
  if (!page_may_ask (identify, facts, ret_identity))
    return FALSE;
  if (!facts->route || (facts->route->flags & HTTP_OPEN))
    return TRUE;
  return find_who (identify, facts, ret_identity) && act_for_user (facts, ret_identity) &&
         may (facts, ret_identity) && may_now (identify, ret_identity);
}

gboolean
identify_still_knows (struct identify *identify, const struct principal *who)
{
  if (who->expires_ms > 0 && g_get_real_time () / 1000 >= who->expires_ms)
    return FALSE;
  return !who->token_digest || tokens_has (identify->tokens, who->token_digest) ||
         identify_is_replaced (identify, who->token_digest);
}

void
identity_clear (struct identity *identity)
{
  if (identity->counted)
    rates_leave (identity->identify->owners, identity->who->owner);
  if (identity->counted_of_service)
    rates_leave (identity->identify->owners, identity->who->service);
  principal_unref (identity->who);
  g_clear_error (&identity->problem);
  g_clear_pointer (&identity->headers, g_ptr_array_unref);
  *identity = (struct identity){0};
}
