/* SPDX-License-Identifier: Apache-2.0 */
/* Browsers that sign in: cookies as bytes from outside, when they count, one-time codes, and the tokens that
 * codes become. */
#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/peer_tcp.h"
#include "interfaces/http/identify.h"
#include "interfaces/http/identify_cookie.h"
#include "policy/browser_token.h"
#include "policy/sign_in_codes.h"
#include "policy/tokens_file.h"
#include "suite.h"

#define NAME "adder-token-7117"

/* ---- cookies ---- */

static void
test_cookie_names (void)
{
  static const struct {
    const char *host;
    gboolean tls;
    const char *name;
  } rows[] = {
      {"127.0.0.1:7117", FALSE, NAME},
      {"localhost:7117", TRUE, NAME},
      {"[::1]:7117", FALSE, NAME},
      {"[::1]", FALSE, "adder-token-80"},
      {"adder.lan", TRUE, "adder-token-443"},
      {NULL, FALSE, "adder-token-80"},
      {"", FALSE, "adder-token-80"},
      {"a:", FALSE, "adder-token-80"},
      {"a:0", FALSE, "adder-token-80"},
      {"a:65536", FALSE, "adder-token-80"},
      {"a:-1", FALSE, "adder-token-80"},
      {"a:1; x=y", FALSE, "adder-token-80"},
      {"a:1\r\nB: c", FALSE, "adder-token-80"},
      {"a:00080", FALSE, "adder-token-80"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *name = cookie_name (rows[i].host, rows[i].tls);
    g_assert_cmpstr (name, ==, rows[i].name);
  }
}

static void
test_cookie_values (void)
{
  static const char *const good[] = {
      NAME "=s3cret",
      " \t" NAME "=s3cret \t",
      "a=b; " NAME "=s3cret",
      NAME "=s3cret; a=b",
      ";;; ;" NAME "=s3cret;;",
      "adder-token-71170=no; " NAME "=s3cret; xadder-token-7117=no; Adder-Token-7117=no",
      "a=\""
      "x; " NAME "=s3cret",
  };
  static const char *const bad[] = {
      "",
      ";",
      "=",
      "=s3cret",
      NAME,
      NAME ";",
      NAME "=",
      NAME "=;",
      NAME " =s3cret",
      NAME "= s3cret",
      NAME "=\"s3cret\"",
      NAME "=s3 cret",
      NAME "=s3cret,",
      NAME "=s3\tcret",
      NAME "=s3cret\x01",
      NAME "=\xff\xfe",
      NAME "==",
      NAME "=a=b",
      NAME "=one; " NAME "=two",
      NAME "=one;" NAME "=one",
      NAME "=; " NAME "=two",
      "a=" NAME "=s3cret",
      "x" NAME "=s3cret",
      NAME "x=s3cret",
      "adder-token-711=s3cret",
      "a=b, " NAME "=s3cret",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autofree char *value = cookie_find (good[i], NAME);
    g_test_message ("%s", good[i]);
    g_assert_cmpstr (value, ==, "s3cret");
  }
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_test_message ("%zu", i);
    g_assert_null (cookie_find (bad[i], NAME));
  }
  g_assert_null (cookie_find (NULL, NAME));
}

static void
test_long_cookies (void)
{
  g_autofree char *most = g_strnfill (COOKIE_SECRET_MAX, 'a'),
                  *more = g_strnfill (COOKIE_SECRET_MAX + 1, 'a');
  g_autofree char *fits = g_strconcat (NAME "=", most, NULL), *too_long = g_strconcat (NAME "=", more, NULL);
  g_autofree char *found = cookie_find (fits, NAME);
  g_assert_cmpstr (found, ==, most);
  g_assert_null (cookie_find (too_long, NAME));
  g_assert_true (cookie_may_hold (most));
  g_assert_false (cookie_may_hold (more));
  /* Many of them take time that grows with their bytes alone. */
  g_autoptr (GString) many = g_string_new (NULL);
  for (int i = 0; i < 100000; i++)
    g_string_append (many, "a=b; ");
  g_string_append (many, NAME "=s3cret");
  g_autofree char *last = cookie_find (many->str, NAME);
  g_assert_cmpstr (last, ==, "s3cret");
}

static void
test_set_cookie (void)
{
  static const char *const bad[] = {"",     "a;b",  "a b", "a\r\nSet-Cookie: x=y", "a,b", "\"a\"",
                                    "a\\b", "\x7f", "="};
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (cookie_may_hold (bad[i]));
  g_autofree char *set = cookie_header (NAME, "a.b-c_d~e+f/g==", 60, FALSE);
  g_assert_cmpstr (set, ==, NAME "=a.b-c_d~e+f/g==; Path=/; HttpOnly; SameSite=Strict; Max-Age=60");
  g_autofree char *secure = cookie_header (NAME, "a", 1, TRUE);
  g_assert_cmpstr (secure, ==, NAME "=a; Path=/; HttpOnly; SameSite=Strict; Max-Age=1; Secure");
  g_autofree char *removed = cookie_header (NAME, "a", 0, FALSE);
  g_assert_cmpstr (removed, ==, NAME "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

static void
test_when_cookies_count (void)
{
  static const struct {
    struct cookie_request request;
    gboolean counts;
  } rows[] = {
      {{"GET", BROWSER_NO_PAGE, "same-origin", "cors"}, TRUE},
      {{"POST", BROWSER_OWN, "same-origin", "cors"}, TRUE},
      {{"DELETE", BROWSER_OWN, "same-origin", NULL}, TRUE},
      /* Behind a proxy that adds TLS. */
      {{"POST", BROWSER_LISTED, "same-origin", "cors"}, TRUE},
      {{"POST", BROWSER_OWN, NULL, NULL}, TRUE},
      {{"GET", BROWSER_OWN, NULL, NULL}, TRUE},
      {{"GET", BROWSER_NO_PAGE, "none", "navigate"}, TRUE},
      {{"HEAD", BROWSER_NO_PAGE, "none", "navigate"}, TRUE},
      /* Nobody says whose page it is. */
      {{"GET", BROWSER_NO_PAGE, NULL, NULL}, FALSE},
      {{"POST", BROWSER_NO_PAGE, NULL, NULL}, FALSE},
      /* Another port of this host is the same site, and listed pages are to use tokens. */
      {{"GET", BROWSER_NO_PAGE, "same-site", "navigate"}, FALSE},
      {{"GET", BROWSER_NO_PAGE, "same-site", "no-cors"}, FALSE},
      {{"POST", BROWSER_LISTED, "same-site", "cors"}, FALSE},
      {{"POST", BROWSER_LISTED, "cross-site", "cors"}, FALSE},
      {{"POST", BROWSER_LISTED, NULL, NULL}, FALSE},
      {{"GET", BROWSER_NO_PAGE, "cross-site", "navigate"}, FALSE},
      {{"POST", BROWSER_NO_PAGE, "none", "navigate"}, FALSE},
      {{"DELETE", BROWSER_NO_PAGE, "none", "navigate"}, FALSE},
      {{"GET", BROWSER_NO_PAGE, "none", "no-cors"}, FALSE},
      {{"GET", BROWSER_NO_PAGE, "none", NULL}, FALSE},
      {{"GET", BROWSER_OWN, "none", "navigate"}, FALSE},
      /* Contradictions, and words that no browser sends. */
      {{"POST", BROWSER_FOREIGN, "same-origin", "cors"}, FALSE},
      {{"POST", BROWSER_OWN, "cross-site", "cors"}, FALSE},
      {{"POST", BROWSER_OWN, "", "cors"}, FALSE},
      {{"GET", BROWSER_OWN, "Same-Origin", "cors"}, FALSE},
      {{"GET", BROWSER_NO_PAGE, "same-origin, none", "cors"}, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%zu", i);
    g_assert_true (cookie_counts (&rows[i].request) == rows[i].counts);
  }
}

/* ---- codes ---- */

static void
test_codes (void)
{
  struct sign_in_codes *codes = sign_in_codes_new (NULL);
  g_autofree char *code = sign_in_codes_make (codes, "uid:7", 0, NULL);
  g_assert_cmpuint (strlen (code), ==, 43);
  g_assert_true (cookie_may_hold (code)); /* needs no encoding after # */
  g_assert_null (sign_in_codes_take (codes, "", 1, NULL));
  g_assert_null (sign_in_codes_take (codes, "wrong", 1, NULL));
  g_autofree char *longer = g_strconcat (code, "a", NULL);
  g_assert_null (sign_in_codes_take (codes, longer, 1, NULL));
  g_autofree char *account = sign_in_codes_take (codes, code, 1, NULL);
  g_assert_cmpstr (account, ==, "uid:7");
  g_assert_null (sign_in_codes_take (codes, code, 1, NULL));

  const gint64 life_us = (gint64)SIGN_IN_CODE_MS * 1000;
  g_autofree char *old = sign_in_codes_make (codes, "uid:7", 0, NULL);
  g_assert_null (sign_in_codes_take (codes, old, life_us, NULL));
  g_assert_null (sign_in_codes_take (codes, old, 1, NULL)); /* it is gone for good */
  g_autofree char *fresh = sign_in_codes_make (codes, "uid:8", 0, NULL);
  g_autofree char *eighth = sign_in_codes_take (codes, fresh, life_us - 1, NULL);
  g_assert_cmpstr (eighth, ==, "uid:8");

  g_autofree char *first = sign_in_codes_make (codes, "uid:1", 10, NULL);
  for (int i = 0; i < SIGN_IN_CODES_MAX; i++)
    g_free (sign_in_codes_make (codes, "uid:2", 10, NULL));
  g_assert_null (sign_in_codes_take (codes, first, 11, NULL));
  sign_in_codes_free (codes);
}

/* ---- tokens, and who may use them ---- */

struct signing {
  char *folder, *file;
  struct config *config;
  struct token_place *place;
  int fds[2]; /* of TCP; the first is the server's end */
};

static void
signing_begin (struct signing *signing)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  g_autoptr (GError) problem = NULL;
  signing->folder = g_dir_make_tmp ("adder-sign-in-XXXXXX", &problem);
  signing->file = g_build_filename (signing->folder, "tokens.json", NULL);
  g_autofree char *path = g_build_filename (signing->folder, "adder.conf", NULL);
  g_autofree char *text = g_strdup_printf ("[http]\ntokens = %s\nfailures = 6000\n", signing->file);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  signing->config = config_load (path, &problem);
  g_assert_no_error (problem);
  signing->place = token_place_new (signing->config, NULL, &problem);
  g_assert_no_error (problem);
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (listener, (struct sockaddr *)&address, size), ==, 0);
  g_assert_cmpint (listen (listener, 1), ==, 0);
  g_assert_cmpint (getsockname (listener, (struct sockaddr *)&address, &size), ==, 0);
  signing->fds[1] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (connect (signing->fds[1], (struct sockaddr *)&address, size), ==, 0);
  signing->fds[0] = accept (listener, NULL, NULL);
  close (listener);
}

static void
signing_end (struct signing *signing)
{
  for (int i = 0; i < 2; i++)
    if (signing->fds[i] >= 0)
      close (signing->fds[i]);
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", signing->folder);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  token_place_free (signing->place);
  config_free (signing->config);
  g_free (signing->file);
  g_free (signing->folder);
}

static gboolean
add_other (GPtrArray *tokens, gpointer data, G_GNUC_UNUSED GError **error)
{
  g_ptr_array_add (tokens, data);
  return TRUE;
}

static guint
count_of_tokens (const struct signing *signing)
{
  g_autoptr (GPtrArray) tokens = tokens_file_read (signing->file, NULL, NULL);
  return tokens->len;
}

static void
test_browser_tokens (void)
{
  struct signing signing;
  gboolean found = TRUE;
  gint64 now_ms = g_get_real_time () / 1000;
  signing_begin (&signing);
  g_autofree char *other = token_new_secret (NULL);
  struct token *token = g_new0 (struct token, 1);
  token->name = g_strdup ("browser-like");
  token->digest = token_digest (other);
  g_assert_true (tokens_file_change (signing.file, add_other, token, NULL));

  g_autofree char *one = browser_token_make (signing.place, "uid:7", now_ms + 60000, NULL, NULL);
  g_autofree char *two = browser_token_make (signing.place, "uid:7", now_ms + 60000, one, NULL);
  g_assert_cmpuint (count_of_tokens (&signing), ==, 2); /* in place of the first */
  g_assert_true (browser_token_end (signing.place, one, &found, NULL));
  g_assert_false (found);
  /* A token that a person made is never a browser's to end. */
  g_assert_true (browser_token_end (signing.place, other, &found, NULL));
  g_assert_false (found);
  g_free (browser_token_make (signing.place, "uid:7", now_ms + 60000, other, NULL));
  g_assert_cmpuint (count_of_tokens (&signing), ==, 3);
  g_assert_true (browser_token_end (signing.place, two, &found, NULL));
  g_assert_true (found);

  g_free (
      browser_token_make (signing.place, "uid:7", now_ms - 1, NULL, NULL)); /* expired: the next removes it */
  for (int i = 0; i < BROWSER_TOKENS_MAX + 4; i++)
    g_free (browser_token_make (signing.place, "uid:7", now_ms + 60000, NULL, NULL));
  g_free (browser_token_make (signing.place, "uid:8", now_ms + 60000, NULL, NULL));
  g_assert_cmpuint (count_of_tokens (&signing), ==, 1 + BROWSER_TOKENS_MAX + 1);
  signing_end (&signing);
}

static const struct http_route looking = {.method = "GET", .path = "/v1/runs", .role = ROLE_GUEST};
static const struct http_route calling = {
    .method = "GET", .path = "/mcp", .role = ROLE_GUEST, .flags = HTTP_NO_COOKIE};

static void
assert_owner (struct identify *identify, const struct identify_facts *facts, const char *owner)
{
  struct identity identity;
  g_assert_true (identify_request (identify, facts, &identity) == (owner != NULL));
  g_assert_cmpstr (identity.who ? identity.who->owner : NULL, ==, owner);
  g_assert_cmpint (identity.status, ==, owner ? 0 : 401);
  identity_clear (&identity);
}

static void
test_exchange (void)
{
  struct signing signing;
  struct identity identity;
  struct sign_in made = {0};
  g_autoptr (GError) problem = NULL;
  signing_begin (&signing);
  struct identify *identify = identify_new (signing.config, NULL, &problem);
  g_autofree char *own = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  g_autofree char *code = identify_new_code (identify, own, NULL);
  struct identify_facts facts = {.fd = signing.fds[0],
                                 .method = "POST",
                                 .path = "/v1/sign-in",
                                 .host = "127.0.0.1:7117",
                                 .origin = "http://127.0.0.1:8000",
                                 .route = &looking};
  /* A page of another port neither signs anybody in nor uses the code up. */
  g_assert_false (identify_exchange_code (identify, &facts, code, &made, &identity));
  g_assert_cmpint (identity.status, ==, 403);
  identity_clear (&identity);
  facts.origin = "http://127.0.0.1:7117";
  g_assert_true (identify_exchange_code (identify, &facts, code, &made, &identity));
  g_assert_cmpstr (identity.who->owner, ==, own);
  g_assert_true (identity.who->may_decide && identity.who->role == ROLE_ADMIN && made.age_s > 86400);
  g_assert_false (identity.who->acts_for_users);
  identity_clear (&identity);

  g_autofree char *cookie = g_strdup_printf (NAME "=%s", made.secret);
  facts.method = "GET";
  facts.origin = NULL;
  facts.cookies = cookie;
  assert_owner (identify, &facts, NULL);
  facts.fetch_site = "same-origin";
  assert_owner (identify, &facts, own);
  facts.route = &calling;
  assert_owner (identify, &facts, NULL);
  facts.route = &looking;
  facts.host = "127.0.0.1:7118"; /* another daemon's */
  assert_owner (identify, &facts, NULL);
  facts.host = "127.0.0.1:7117";
  facts.authorization = "Bearer wrong"; /* it wins, also when it is wrong */
  assert_owner (identify, &facts, NULL);
  facts.authorization = NULL;
  g_assert_true (identify_sign_out (identify, &facts, &identity));
  identity_clear (&identity);
  assert_owner (identify, &facts, NULL);
  g_assert_cmpuint (count_of_tokens (&signing), ==, 0);
  g_free (made.secret);
  identify_free (identify);
  signing_end (&signing);
}

/* ---- whose program ---- */

static void
test_peer_over_tcp (void)
{
  struct signing signing;
  uid_t uid = (uid_t)-1;
  int pair[2];
  signing_begin (&signing);
  g_assert_cmpint (peer_tcp_look (signing.fds[0], &uid), ==, 0);
  g_assert_cmpuint (uid, ==, geteuid ());
  /* The kernel lists what is left of a closed socket as root's: nobody knows whose it was. */
  close (signing.fds[1]);
  signing.fds[1] = -1;
  uid = (uid_t)-1;
  g_assert_cmpint (peer_tcp_look (signing.fds[0], &uid), ==, -ENOENT);
  g_assert_cmpuint (uid, ==, (uid_t)-1);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  g_assert_cmpint (peer_tcp_look (pair[0], &uid), <, 0);
  close (pair[0]);
  close (pair[1]);
  signing_end (&signing);
}

UNIT_SUITE (interfaces_sign_in)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sign-in/cookie/names", test_cookie_names);
  g_test_add_func ("/sign-in/cookie/values", test_cookie_values);
  g_test_add_func ("/sign-in/cookie/long", test_long_cookies);
  g_test_add_func ("/sign-in/cookie/set", test_set_cookie);
  g_test_add_func ("/sign-in/cookie/counts", test_when_cookies_count);
  g_test_add_func ("/sign-in/codes", test_codes);
  g_test_add_func ("/sign-in/tokens", test_browser_tokens);
  g_test_add_func ("/sign-in/exchange", test_exchange);
  g_test_add_func ("/sign-in/peer", test_peer_over_tcp);
  return g_test_run ();
}
