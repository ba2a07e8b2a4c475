/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks over HTTP, without a server: a request is a handful of facts, a connection a pair of sockets. */
#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/http/identify.h"
#include "interfaces/http/identify_browser.h"
#include "interfaces/http/oauth.h"
#include "policy/tokens_file.h"
#include "suite.h"

/* ---- what a browser says ---- */

static void
test_host (void)
{
  static const char *const good[] = {"localhost",    "LOCALHOST:7117",       "127.0.0.1",
                                     "127.0.0.1:80", "[::ffff:127.0.0.1]:1", "adder.lan:7117",
                                     "ADDER.lan"};
  static const char *const bad[] = {"",
                                    "evil.example",
                                    "evil.example:7117",
                                    "localhost.evil.example",
                                    "localhost:",
                                    "localhost:x",
                                    "localhost:123456",
                                    "local host",
                                    "0.0.0.0",
                                    "[::]:7117",
                                    "[::ffff:0.0.0.0]",
                                    "127.0.0.1.evil.example",
                                    "127.1",
                                    "0x7f.0.0.1",
                                    "[127.0.0.1",
                                    "[]",
                                    "[::1]evil",
                                    "a@localhost",
                                    "localhost/",
                                    "adder.lan.",
                                    "adder",
                                    ",",
                                    " "};
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (browser_host_is_known (good[i], "other adder.lan"));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (browser_host_is_known (bad[i], "other adder.lan"));
  g_assert_true (browser_host_is_known ("[0:0::1]:5", NULL));
  g_assert_true (browser_host_is_known ("192.0.2.1:7117", NULL));
}

static void
test_origin (void)
{
  static const struct {
    const char *origin, *host;
    gboolean tls;
    enum browser_origin is;
  } rows[] = {
      {NULL, "localhost:1", FALSE, BROWSER_NO_PAGE},
      {"http://localhost:1", "localhost:1", FALSE, BROWSER_OWN},
      {"HTTP://LOCALHOST:1", "localhost:1", FALSE, BROWSER_OWN},
      {"https://localhost:1", "localhost:1", FALSE, BROWSER_FOREIGN},
      {"https://localhost:1", "localhost:1", TRUE, BROWSER_OWN},
      {"http://localhost:2", "localhost:1", FALSE, BROWSER_FOREIGN},
      {"null", "localhost:1", FALSE, BROWSER_FOREIGN},
      {"", "localhost:1", FALSE, BROWSER_FOREIGN},
      {"http://", NULL, FALSE, BROWSER_FOREIGN},
      {"https://app.example", "localhost", FALSE, BROWSER_LISTED},
      {"https://app.example.evil.example", "localhost", FALSE, BROWSER_FOREIGN},
      {"https://app.example:8443", "localhost", FALSE, BROWSER_FOREIGN},
      {"http://app.example", "localhost", FALSE, BROWSER_FOREIGN},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (
        browser_origin (rows[i].origin, rows[i].host, rows[i].tls, "http://x:1, https://app.example"), ==,
        rows[i].is);
  g_assert_true (browser_check_origins (NULL, NULL));
  g_assert_true (browser_check_origins ("https://a.example http://[::1]:80", NULL));
  g_assert_false (browser_check_origins ("*", NULL));
  g_assert_false (browser_check_origins ("https://a.example/", NULL));
  g_assert_false (browser_check_origins ("a.example", NULL));
  g_assert_true (browser_check_hosts ("a.example 10.0.0.1", NULL));
  g_assert_false (browser_check_hosts ("a.example:80", NULL));
}

static void
test_bearer (void)
{
  g_assert_cmpstr (browser_bearer ("Bearer abc"), ==, "abc");
  g_assert_cmpstr (browser_bearer ("bEARER   a.b-c_d~e+f/g=="), ==, "a.b-c_d~e+f/g==");
  static const char *const bad[] = {
      "",           "Bearer",          "Bearer ",     "Bearer a b", "Bearer =",    "Bearer a=b",
      "Basic YTpi", "Bearer \xc3\xa9", "Bearer a\tb", "Bearera",    "Bearer \"a\""};
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_null (browser_bearer (bad[i]));
}

/* ---- requests ---- */

struct world {
  char *folder, *file;
  struct config *config;
  int unix_fds[2], tcp_fds[2]; /* the first of each is the server's end */
};

static void
connect_tcp (int fds[2])
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (listener, (struct sockaddr *)&address, size), ==, 0);
  g_assert_cmpint (listen (listener, 1), ==, 0);
  g_assert_cmpint (getsockname (listener, (struct sockaddr *)&address, &size), ==, 0);
  fds[1] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (connect (fds[1], (struct sockaddr *)&address, size), ==, 0);
  fds[0] = accept (listener, NULL, NULL);
  g_assert_cmpint (fds[0], >=, 0);
  close (listener);
}

static void
world_begin (struct world *world, const char *lines)
{
  g_autoptr (GError) problem = NULL;
  world->folder = g_dir_make_tmp ("adder-identify-XXXXXX", &problem);
  world->file = g_build_filename (world->folder, "tokens.json", NULL);
  g_autofree char *path = g_build_filename (world->folder, "adder.conf", NULL);
  g_autofree char *text = g_strdup_printf ("[http]\ntokens = %s\n%s", world->file, lines);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  world->config = config_load (path, &problem);
  g_assert_no_error (problem);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, world->unix_fds), ==, 0);
  connect_tcp (world->tcp_fds);
}

/* As a server that listens where REACH says. */
static struct identify *
identify_for (const struct config *config, enum identify_reach reach, gboolean shown, GError **error)
{
  struct identify *identify = identify_new (config, NULL, error);
  if (identify && identify_open_to (identify, reach, shown, error))
    return identify;
  identify_free (identify);
  return NULL;
}

static void
world_end (struct world *world)
{
  for (int i = 0; i < 2; i++) {
    close (world->unix_fds[i]);
    close (world->tcp_fds[i]);
  }
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", world->folder);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  config_free (world->config);
  g_free (world->file);
  g_free (world->folder);
}

static gboolean
add (GPtrArray *tokens, gpointer data, GError **error)
{
  (void)error;
  struct token *const *given = data;
  g_ptr_array_add (tokens, *given);
  return TRUE;
}

/* TOKEN's name and rights are given, its texts static. */
static char *
make (struct world *world, struct token token)
{
  char *secret = token_new_secret (NULL);
  struct token *copy = g_memdup2 (&token, sizeof token);
  copy->name = g_strdup (token.name);
  copy->digest = token_digest (secret);
  copy->toolset = g_strdup (token.toolset);
  g_assert_true (tokens_file_change (world->file, add, &copy, NULL));
  return secret;
}

static const struct http_route acting = {.method = "POST", .path = "/v1/runs", .role = ROLE_GUEST};
static const struct http_route looking = {.method = "GET", .path = "/v1/runs", .role = ROLE_GUEST};
static const struct http_route calling = {
    .method = "POST", .path = "/mcp", .role = ROLE_GUEST, .flags = HTTP_LOOKS};
static const struct http_route deciding = {
    .method = "POST", .path = "/v1/a", .role = ROLE_GUEST, .flags = HTTP_DECIDES};
static const struct http_route ruling = {.method = "GET", .path = "/v1/all", .role = ROLE_ADMIN};
static const struct http_route healthy = {.method = "GET", .path = "/healthz", .flags = HTTP_OPEN};

static struct identify_facts
facts_of (const struct world *world, const struct http_route *route)
{
  return (struct identify_facts){.fd = world->tcp_fds[0],
                                 .method = route->method,
                                 .path = route->path,
                                 .host = "127.0.0.1:7117",
                                 .route = route};
}

static const char *
header_of (const struct identity *identity, const char *name)
{
  for (guint i = 0; identity->headers && i < identity->headers->len; i += 2)
    if (strcmp (identity->headers->pdata[i], name) == 0)
      return identity->headers->pdata[i + 1];
  return NULL;
}

/* OWNER of who was let in; NULL: nobody was, with STATUS. */
static void
assert_answer (struct identify *identify, const struct identify_facts *facts, const char *owner, int status)
{
  struct identity identity;
  g_assert_true (identify_request (identify, facts, &identity) == (owner != NULL));
  g_assert_cmpint (identity.status, ==, owner ? 0 : status);
  g_assert_true ((identity.problem != NULL) == (status >= 400));
  g_assert_true ((header_of (&identity, "WWW-Authenticate") != NULL) == (status == 401));
  g_assert_true ((header_of (&identity, "Retry-After") != NULL) == (status == 429 || status == 503));
  if (owner)
    g_assert_cmpstr (identity.who->owner, ==, owner);
  identity_clear (&identity);
}

static void
assert_token (struct identify *identify, const struct world *world, const struct http_route *route,
              const char *secret, const char *owner, int status)
{
  g_autofree char *authorization = g_strconcat ("Bearer ", secret, NULL);
  struct identify_facts facts = facts_of (world, route);
  facts.authorization = authorization;
  assert_answer (identify, &facts, owner, status);
}

static void
test_tokens (void)
{
  struct world world;
  g_autoptr (GError) problem = NULL;
  world_begin (&world, "");
  g_autofree char *guest = make (&world, (struct token){.name = (char *)"guest", .role = ROLE_GUEST});
  g_autofree char *admin =
      make (&world, (struct token){.name = (char *)"admin", .role = ROLE_ADMIN, .may_decide = TRUE});
  g_autofree char *looker =
      make (&world, (struct token){.name = (char *)"looker", .role = ROLE_USER, .read_only = TRUE});
  g_autofree char *over =
      make (&world, (struct token){.name = (char *)"over", .role = ROLE_USER, .expires_ms = 1});
  struct identify *identify = identify_for (world.config, IDENTIFY_OTHERS, TRUE, &problem);
  g_assert_no_error (problem);
  g_assert_null (identify_startup_token (identify));

  assert_token (identify, &world, &acting, guest, "token:guest", 0);
  assert_token (identify, &world, &deciding, guest, NULL, 403);
  assert_token (identify, &world, &ruling, guest, NULL, 403);
  assert_token (identify, &world, &ruling, admin, "token:admin", 0);
  assert_token (identify, &world, &deciding, admin, "token:admin", 0);
  assert_token (identify, &world, &acting, looker, NULL, 403);
  assert_token (identify, &world, &looking, looker, "token:looker", 0);
  assert_token (identify, &world, &calling, looker, "token:looker", 0);
  assert_token (identify, &world, &looking, over, NULL, 401);
  assert_token (identify, &world, &looking, "adder_no", NULL, 401);

  /* A name that is nobody's knows no better than a secret. */
  struct identify_facts facts = facts_of (&world, &looking);
  assert_answer (identify, &facts, NULL, 401);
  facts.authorization = "Basic Z3Vlc3Q6";
  assert_answer (identify, &facts, NULL, 401);
  facts = facts_of (&world, &healthy);
  struct identity open;
  g_assert_true (identify_request (identify, &facts, &open));
  g_assert_null (open.who);
  identity_clear (&open);
  identify_free (identify);
  world_end (&world);
}

static void
test_pages (void)
{
  struct world world;
  g_autoptr (GError) problem = NULL;
  world_begin (&world, "origins = https://app.example\nhosts = adder.lan\n");
  struct identify *identify = identify_for (world.config, IDENTIFY_LOOPBACK, TRUE, &problem);
  g_assert_no_error (problem);
  struct identify_facts facts = facts_of (&world, &healthy);
  facts.host = "evil.example:7117";
  assert_answer (identify, &facts, NULL, 421);
  facts.origin = "http://evil.example:7117"; /* its own page, as the browser sees it */
  assert_answer (identify, &facts, NULL, 421);
  facts.host = NULL;
  assert_answer (identify, &facts, NULL, 403);
  facts.origin = NULL;
  assert_answer (identify, &facts, NULL, 421);
  facts.host = "adder.lan";
  facts.origin = "http://evil.example\r\nX: y";
  assert_answer (identify, &facts, NULL, 403);

  struct identity identity;
  facts.origin = "https://app.example";
  g_assert_true (identify_request (identify, &facts, &identity));
  g_assert_cmpstr (header_of (&identity, "Access-Control-Allow-Origin"), ==, "https://app.example");
  g_assert_cmpstr (header_of (&identity, "Vary"), ==, "Origin");
  identity_clear (&identity);

  facts.method = "OPTIONS";
  facts.route = NULL;
  facts.wanted_method = "POST";
  facts.wanted_headers = "authorization, content-type";
  g_assert_false (identify_request (identify, &facts, &identity));
  g_assert_cmpint (identity.status, ==, 204);
  g_assert_no_error (identity.problem);
  g_assert_cmpstr (header_of (&identity, "Access-Control-Allow-Headers"), ==, "authorization, content-type");
  identity_clear (&identity);
  facts.wanted_headers = "x\r\nSet-Cookie: a=b";
  g_assert_false (identify_request (identify, &facts, &identity));
  g_assert_null (header_of (&identity, "Access-Control-Allow-Headers"));
  identity_clear (&identity);
  identify_free (identify);
  world_end (&world);
}

static void
test_start (void)
{
  struct world world;
  g_autoptr (GError) problem = NULL;
  world_begin (&world, "");
  g_assert_null (identify_for (world.config, IDENTIFY_OTHERS, TRUE, &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (problem->message, "adder token new"));
  g_clear_error (&problem);

  struct identify *identify = identify_for (world.config, IDENTIFY_LOOPBACK, TRUE, &problem);
  const char *startup = identify_startup_token (identify);
  assert_token (identify, &world, &acting, startup, "token:startup", 0);
  assert_token (identify, &world, &deciding, startup, NULL, 403);
  assert_token (identify, &world, &ruling, startup, NULL, 403);
  struct identify_facts facts = facts_of (&world, &acting);
  assert_answer (identify, &facts, NULL, 401);
  identify_free (identify);

  identify = identify_for (world.config, IDENTIFY_UNIX, TRUE, &problem);
  g_assert_null (identify_startup_token (identify));
  facts.fd = world.unix_fds[0];
  g_autofree char *owner = g_strdup_printf ("uid:%u", geteuid ());
  assert_answer (identify, &facts, owner, 0);
  facts.host = "anything at all";
  facts.route = &deciding;
  assert_answer (identify, &facts, owner, 0);
  facts.authorization = "Bearer adder_wrong"; /* they meant to be somebody else */
  assert_answer (identify, &facts, NULL, 401);
  identify_free (identify);
  world_end (&world);
}

static void
test_bounds (void)
{
  struct world world;
  g_autoptr (GError) problem = NULL;
  world_begin (&world, "failures = 30\n");
  g_autofree char *few =
      make (&world, (struct token){.name = (char *)"few", .role = ROLE_USER, .rate = 12, .concurrent = 100});
  g_autofree char *one =
      make (&world, (struct token){.name = (char *)"one", .role = ROLE_USER, .concurrent = 1});
  struct identify *identify = identify_for (world.config, IDENTIFY_OTHERS, TRUE, &problem);
  assert_token (identify, &world, &looking, few, "token:few", 0);
  assert_token (identify, &world, &looking, few, "token:few", 0);
  assert_token (identify, &world, &looking, few, NULL, 429);

  struct identity held;
  g_autofree char *authorization = g_strconcat ("Bearer ", one, NULL);
  struct identify_facts facts = facts_of (&world, &looking);
  facts.authorization = authorization;
  g_assert_true (identify_request (identify, &facts, &held));
  assert_answer (identify, &facts, NULL, 429);
  identity_clear (&held);
  assert_answer (identify, &facts, "token:one", 0);

  int unknown = 0, limited = 0;
  for (int i = 0; i < 50; i++) {
    struct identity identity;
    facts.authorization = "Bearer adder_wrong";
    g_assert_false (identify_request (identify, &facts, &identity));
    *(identity.status == 401 ? &unknown : &limited) += 1;
    identity_clear (&identity);
  }
  g_assert_cmpint (unknown, >=, 5);
  g_assert_cmpint (unknown, <=, 6);
  g_assert_cmpint (limited, ==, 50 - unknown);
  /* Nobody is shut out by what others at their address do. */
  facts.authorization = authorization;
  assert_answer (identify, &facts, "token:one", 0);
  identify_free (identify);
  world_end (&world);
}

/* Names of users cost nothing, so a service's token has a bound for all of them. */
static void
test_bounds_of_a_service (void)
{
  struct world world;
  g_autoptr (GError) problem = NULL;
  struct identity held[2];
  char user[16];
  world_begin (&world, "users_factor = 2\n");
  g_autofree char *one = make (
      &world,
      (struct token){.name = (char *)"one", .role = ROLE_USER, .concurrent = 1, .acts_for_users = TRUE});
  g_autofree char *few = make (
      &world, (struct token){.name = (char *)"few", .role = ROLE_USER, .rate = 12, .acts_for_users = TRUE});
  struct identify *identify = identify_for (world.config, IDENTIFY_OTHERS, TRUE, &problem);
  struct identify_facts facts = facts_of (&world, &looking);
  facts.user = user;

  g_autofree char *authorization = g_strconcat ("Bearer ", one, NULL);
  facts.authorization = authorization;
  for (gsize i = 0; i < G_N_ELEMENTS (held); i++) {
    g_snprintf (user, sizeof user, "user-%zu", i);
    g_assert_true (identify_request (identify, &facts, &held[i]));
  }
  g_strlcpy (user, "another", sizeof user);
  assert_answer (identify, &facts, NULL, 429);
  identity_clear (&held[0]);
  assert_answer (identify, &facts, "token:one/another", 0);
  /* What the service asks for itself is none of theirs. */
  facts.user = NULL;
  assert_answer (identify, &facts, "token:one", 0);
  identity_clear (&held[1]);

  g_autofree char *other = g_strconcat ("Bearer ", few, NULL);
  facts.authorization = other;
  facts.user = user;
  int taken = 0;
  gboolean refused = FALSE;
  for (int i = 0; i < 10 && !refused; i++) {
    struct identity identity;
    g_snprintf (user, sizeof user, "new-%d", i);
    refused = !identify_request (identify, &facts, &identity);
    taken += !refused;
    g_assert_true (!refused || identity.status == 429);
    identity_clear (&identity);
  }
  /* Two for each at once, and four for all; another comes back each two and a half seconds. */
  g_assert_true (refused);
  g_assert_cmpint (taken, >=, 4);
  identify_free (identify);
  world_end (&world);
}

/* ---- authorization servers ---- */

#define OAUTH                                                                                                \
  "[oauth]\nissuer = https://as.example\nintrospection = http://127.0.0.1:1/introspect\n"                    \
  "resource = https://adder.example/\nscopes = run=user rule=admin\n"

static void
test_judge (void)
{
#define ANSWER(more)                                                                                         \
  "{\"active\": true, \"sub\": \"alice\", \"aud\": \"https://adder.example\", \"scope\": \"x run\"" more "}"
  static const struct {
    const char *text;
    enum oauth_answer answer;
    const char *owner;
  } rows[] = {
      {ANSWER (""), OAUTH_KNOWN, "oauth:alice"},
      {ANSWER (", \"exp\": 2000, \"nbf\": 900, \"iss\": \"https://as.example\", \"token_type\": \"bearer\""),
       OAUTH_KNOWN, "oauth:alice"},
      {ANSWER (", \"exp\": 1000"), OAUTH_UNKNOWN, NULL},
      {ANSWER (", \"exp\": \"soon\""), OAUTH_UNKNOWN, NULL},
      {ANSWER (", \"nbf\": 1001"), OAUTH_UNKNOWN, NULL},
      {ANSWER (", \"iss\": \"https://other.example\""), OAUTH_UNKNOWN, NULL},
      {ANSWER (", \"token_type\": \"DPoP\""), OAUTH_UNKNOWN, NULL},
      {"{\"active\": false}", OAUTH_UNKNOWN, NULL},
      {"{\"active\": \"true\"}", OAUTH_UNKNOWN, NULL},
      {"{}", OAUTH_UNKNOWN, NULL},
      {"[]", OAUTH_UNREACHABLE, NULL},
      {"", OAUTH_UNREACHABLE, NULL},
      {"<html>", OAUTH_UNREACHABLE, NULL},
      {"{\"active\": true, \"sub\": \"a\", \"scope\": \"run\"}", OAUTH_UNKNOWN, NULL},
      {"{\"active\": true, \"sub\": \"a\", \"scope\": \"run\", \"aud\": \"https://other.example\"}",
       OAUTH_UNKNOWN, NULL},
      {"{\"active\": true, \"sub\": \"a\", \"scope\": \"run\", \"aud\": [\"https://other.example\", "
       "\"https://adder.example/mcp\"]}",
       OAUTH_KNOWN, "oauth:a"},
      {"{\"active\": true, \"sub\": \"a\", \"scope\": \"runner\", \"aud\": \"https://adder.example/\"}",
       OAUTH_NO_SCOPE, NULL},
      {"{\"active\": true, \"sub\": \"a\", \"aud\": \"https://adder.example/\"}", OAUTH_NO_SCOPE, NULL},
      {"{\"active\": true, \"client_id\": \"a\", \"scope\": \"run\", \"aud\": \"https://adder.example/\"}",
       OAUTH_KNOWN, "oauth-client:a"},
      {"{\"active\": true, \"scope\": \"run\", \"aud\": \"https://adder.example/\"}", OAUTH_UNKNOWN, NULL},
      {"{\"active\": true, \"sub\": \"a b\", \"scope\": \"run\", \"aud\": \"https://adder.example/\"}",
       OAUTH_UNKNOWN, NULL},
  };
  struct world world;
  world_begin (&world, OAUTH);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct principal *who = NULL;
    gint64 until_ms = 0;
    g_test_message ("%s", rows[i].text);
    g_assert_cmpint (
        oauth_judge (world.config, rows[i].text, strlen (rows[i].text), 1000 * 1000, &who, &until_ms), ==,
        rows[i].answer);
    g_assert_cmpstr (who ? who->owner : NULL, ==, rows[i].owner);
    g_assert_true (!who || who->role == ROLE_USER);
    principal_unref (who);
  }
  world_end (&world);
}

static void
test_document (void)
{
  struct world world;
  world_begin (&world, OAUTH);
  g_autofree char *whole = oauth_document_url (world.config, "/v1/runs"),
                  *mcp = oauth_document_url (world.config, "/mcp");
  g_assert_cmpstr (whole, ==, "https://adder.example/.well-known/oauth-protected-resource");
  g_assert_cmpstr (mcp, ==, "https://adder.example/.well-known/oauth-protected-resource/mcp");
  g_autoptr (json_t) document = oauth_document (world.config, "/mcp");
  g_assert_cmpstr (json_member_text (document, "resource"), ==, "https://adder.example/mcp");
  g_autofree char *scopes = oauth_scopes_for (world.config, ROLE_ADMIN);
  g_assert_cmpstr (scopes, ==, "rule");
  /* Nobody answers there, which is not a no. */
  g_autoptr (GError) problem = NULL;
  struct identify *identify = identify_for (world.config, IDENTIFY_OTHERS, TRUE, &problem);
  g_assert_no_error (problem);
  assert_token (identify, &world, &looking, "some-token", NULL, 503);
  assert_token (identify, &world, &looking, "adder_none", NULL, 401);
  identify_free (identify);
  world_end (&world);

  static const char *const bad[] = {
      "[oauth]\nissuer = https://as.example\n",
      "[oauth]\nissuer = http://as.example\nintrospection = https://as.example/i\nresource = "
      "https://a.example\n",
      "[oauth]\nissuer = https://as.example\nintrospection = http://127.0.0.1@as.example/i\nresource = "
      "https://a.example\n",
      "[oauth]\nissuer = https://as.example\nintrospection = https://as.example/i\nresource = "
      "https://a.example\nscopes = run\n",
      "[oauth]\nissuer = https://as.example\nintrospection = https://as.example/i\nresource = "
      "https://a.example\nscopes = run=king\n",
      "[oauth]\nissuer = https://as.example\nintrospection = https://as.example/i\nresource = "
      "https://a.example\nsecret_file = /etc/passwd\n",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) wrong = NULL;
    world_begin (&world, bad[i]);
    g_assert_null (identify_for (world.config, IDENTIFY_OTHERS, TRUE, &wrong));
    g_assert_error (wrong, ADDER_ERROR, ADDER_ERROR_INVALID);
    world_end (&world);
  }
}

UNIT_SUITE (interfaces_identify)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interfaces/identify/host", test_host);
  g_test_add_func ("/interfaces/identify/origin", test_origin);
  g_test_add_func ("/interfaces/identify/bearer", test_bearer);
  g_test_add_func ("/interfaces/identify/tokens", test_tokens);
  g_test_add_func ("/interfaces/identify/pages", test_pages);
  g_test_add_func ("/interfaces/identify/start", test_start);
  g_test_add_func ("/interfaces/identify/bounds", test_bounds);
  g_test_add_func ("/interfaces/identify/bounds-of-a-service", test_bounds_of_a_service);
  g_test_add_func ("/interfaces/identify/judge", test_judge);
  g_test_add_func ("/interfaces/identify/document", test_document);
  return g_test_run ();
}
