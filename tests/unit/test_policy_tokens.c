/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, how often their holders may come, and the directories that they may name. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "policy/rates.h"
#include "policy/roots.h"
#include "policy/tokens.h"
#include "policy/tokens_file.h"
#include "suite.h"

struct world {
  char *folder, *file;
  struct config *config;
};

/* LINES: what [http] has beside the file of tokens. */
static void
world_begin (struct world *world, const char *lines)
{
  g_autoptr (GError) problem = NULL;
  world->folder = g_dir_make_tmp ("adder-tokens-XXXXXX", &problem);
  g_assert_no_error (problem);
  world->file = g_build_filename (world->folder, "tokens.json", NULL);
  g_autofree char *path = g_build_filename (world->folder, "adder.conf", NULL);
  g_autofree char *text = g_strdup_printf ("[http]\ntokens = %s\n%s", world->file, lines);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  world->config = config_load (path, &problem);
  g_assert_no_error (problem);
}

static void
world_end (struct world *world)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", world->folder);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  config_free (world->config);
  g_free (world->file);
  g_free (world->folder);
}

/* ---- the file ---- */

struct wanted {
  const char *name;
  gint64 expires_ms;
  char *secret; /* made here */
};

static gboolean
add (GPtrArray *tokens, gpointer data, GError **error)
{
  struct wanted *wanted = data;
  struct token *token = g_new0 (struct token, 1);
  token->name = g_strdup (wanted->name);
  token->role = ROLE_USER;
  token->expires_ms = wanted->expires_ms;
  wanted->secret = token_new_secret (error);
  token->digest = token_digest (wanted->secret);
  g_ptr_array_add (tokens, token);
  return TRUE;
}

static gboolean
drop (GPtrArray *tokens, gpointer data, GError **error)
{
  (void)error;
  g_ptr_array_remove (tokens, tokens_find_name (tokens, data, NULL));
  return TRUE;
}

static gboolean
refuse (GPtrArray *tokens, gpointer data, GError **error)
{
  (void)data;
  g_ptr_array_set_size (tokens, 0);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "no");
  return FALSE;
}

static char *
make (struct world *world, const char *name, gint64 expires_ms)
{
  g_autoptr (GError) problem = NULL;
  struct wanted wanted = {.name = name, .expires_ms = expires_ms};
  g_assert_true (tokens_file_change (world->file, add, &wanted, &problem));
  g_assert_no_error (problem);
  return wanted.secret;
}

static void
assert_owner (struct tokens *tokens, const char *secret, const char *owner)
{
  g_autoptr (GError) problem = NULL;
  gboolean expired;
  struct principal *who = tokens_find (tokens, secret, TRUE, &expired, &problem);
  g_assert_no_error (problem);
  g_assert_false (expired);
  g_assert_cmpstr (who ? who->owner : NULL, ==, owner);
  principal_unref (who);
}

static void
test_life (void)
{
  struct world world;
  world_begin (&world, "");
  g_autoptr (GError) problem = NULL;
  struct tokens *tokens = tokens_new (world.config, NULL, &problem);
  g_assert_no_error (problem);
  g_assert_cmpuint (tokens_count (tokens), ==, 0);
  g_autofree char *alice = make (&world, "alice", 0), *bob = make (&world, "bob", 0);
  g_assert_true (g_str_has_prefix (alice, TOKEN_PREFIX));
  g_assert_cmpuint (strlen (alice), ==, strlen (TOKEN_PREFIX) + 43);
  assert_owner (tokens, alice, "token:alice");
  assert_owner (tokens, bob, "token:bob");
  assert_owner (tokens, "adder_", NULL);
  assert_owner (tokens, "", NULL);
  g_autofree char *longer = g_strnfill (100000, 'a');
  assert_owner (tokens, longer, NULL);
  /* The digest is not the secret. */
  g_autofree char *digest = token_digest (alice);
  assert_owner (tokens, digest, NULL);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (world.file, &text, NULL, NULL));
  g_assert_null (strstr (text, alice));
  g_assert_nonnull (strstr (text, digest));

  g_assert_true (tokens_file_change (world.file, drop, (gpointer) "alice", &problem));
  g_assert_cmpuint (tokens_count (tokens), ==, 1);
  assert_owner (tokens, alice, NULL);
  assert_owner (tokens, bob, "token:bob");
  /* What is given up changes nothing. */
  g_assert_false (tokens_file_change (world.file, refuse, NULL, &problem));
  g_clear_error (&problem);
  assert_owner (tokens, bob, "token:bob");
  g_assert_cmpint (g_unlink (world.file), ==, 0);
  assert_owner (tokens, bob, NULL);
  tokens_free (tokens);
  world_end (&world);
}

static void
test_expiry (void)
{
  struct world world;
  world_begin (&world, "");
  g_autoptr (GError) problem = NULL;
  gint64 now_ms = g_get_real_time () / 1000;
  g_autofree char *over = make (&world, "over", now_ms - 1), *later = make (&world, "later", now_ms + 60000);
  struct tokens *tokens = tokens_new (world.config, NULL, &problem);
  gboolean expired;
  g_assert_null (tokens_find (tokens, over, TRUE, &expired, &problem));
  g_assert_true (expired);
  assert_owner (tokens, later, "token:later");
  g_assert_cmpuint (tokens_count (tokens), ==, 1);
  tokens_free (tokens);
  world_end (&world);
}

/* A file that cannot be trusted is no reason to go on with what stood there before. */
static void
test_trust (void)
{
  struct world world;
  world_begin (&world, "");
  g_autoptr (GError) problem = NULL;
  g_autofree char *alice = make (&world, "alice", 0);
  struct stat status;
  g_assert_cmpint (stat (world.file, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 0777, ==, 0600);
  struct tokens *tokens = tokens_new (world.config, NULL, &problem);
  assert_owner (tokens, alice, "token:alice");
  gboolean expired;
  static const int modes[] = {0640, 0604, 0660, 0602};
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++) {
    g_assert_cmpint (chmod (world.file, (mode_t)modes[i]), ==, 0);
    g_assert_null (tokens_find (tokens, alice, TRUE, &expired, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_FAILED);
    g_clear_error (&problem);
    g_assert_false (tokens_check (tokens, &problem));
    g_assert_nonnull (strstr (problem->message, "chmod 600"));
    g_clear_error (&problem);
  }
  g_assert_cmpint (chmod (world.file, 0600), ==, 0);
  assert_owner (tokens, alice, "token:alice");
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (world.file, &text, NULL, NULL));
  g_assert_true (g_file_set_contents_full (world.file, "{", -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
  g_assert_null (tokens_find (tokens, alice, TRUE, &expired, &problem));
  g_assert_nonnull (problem);
  g_clear_error (&problem);
  g_assert_true (g_file_set_contents_full (world.file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
  assert_owner (tokens, alice, "token:alice");
  tokens_free (tokens);
  world_end (&world);
}

/* What the file may be, and what it must not. */
static void
test_what_it_is (void)
{
  struct world world;
  world_begin (&world, "");
  const struct {
    const char *command, *word;
    gboolean as_root;
  } rows[] = {
      {"mkdir '%s'", "is no regular file: name another one", FALSE},
      /* Without waiting for somebody who writes. */
      {"mkfifo '%s'", "is no regular file: name another one", FALSE},
      {"ln -s '%s' '%s'", "cannot open the file of tokens", FALSE},
      {"truncate -s 65M '%s'", "is too long: remove tokens", FALSE},
      {"touch '%s'", "cannot be understood", FALSE},
      {"touch '%s' && chown 1:1 '%s'", "belongs to another user: chown it", TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;
    if (rows[i].as_root && geteuid () != 0)
      continue;
    g_autoptr (GString) script = g_string_new (rows[i].command);
    g_string_prepend (script, "umask 077 && ");
    g_string_replace (script, "%s", world.file, 0);
    char *shell[] = {(char *)"/bin/sh", (char *)"-c", script->str, NULL};
    gint status = -1;
    g_assert_true (g_spawn_sync (NULL, shell, NULL, 0, NULL, NULL, NULL, NULL, &status, NULL));
    g_assert_cmpint (status, ==, 0);
    g_test_message ("%s", rows[i].command);
    struct tokens *tokens = tokens_new (world.config, NULL, &problem);
    g_assert_no_error (problem);
    g_assert_false (tokens_check (tokens, &problem));
    tokens_free (tokens);
    g_test_message ("%s", problem->message);
    g_assert_nonnull (strstr (problem->message, rows[i].word));
    /* Nobody makes a token in it either. */
    g_assert_false (tokens_file_change (world.file, drop, (gpointer) "a", NULL));
    g_assert_cmpint (g_remove (world.file), ==, 0);
  }
  world_end (&world);
}

static void
test_names (void)
{
  static const struct {
    const char *name;
    gboolean good;
  } rows[] = {
      {"a", TRUE},    {"Build-1.2_x", TRUE}, {"", FALSE},     {"1a", FALSE}, {"_a", FALSE},
      {"a b", FALSE}, {"a:b", FALSE},        {"\xff", FALSE}, {"ä", FALSE},  {"a\n", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_cmpint (token_check_name (rows[i].name, &problem), ==, rows[i].good);
    if (!rows[i].good)
      g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  g_autofree char *longest = g_strnfill (TOKEN_NAME_MAX, 'a'), *longer = g_strnfill (TOKEN_NAME_MAX + 1, 'a');
  g_assert_true (token_check_name (longest, NULL));
  g_assert_false (token_check_name (longer, NULL));
}

static void
test_parse (void)
{
#define ROW(name, digest, more)                                                                              \
  "{\"name\": \"" name "\", \"digest\": \"" digest                                                           \
  "\", \"created_ms\": 1, \"expires_ms\": 0, \"role\": \"user\", "                                           \
  "\"toolset\": null, \"profiles\": [\"a*\"], \"roots\": null, \"read_only\": false, \"may_decide\": true, " \
  "\"rate\": 0, \"concurrent\": 5" more "}"
#define FILE_OF(rows) "{\"schema_version\": 1, \"tokens\": [" rows "]}"
#define DIGEST        "461a0095739cb9274fae7a30178b07ce5618d6f8b4e41950c4b875e36ec1e4bb"
#define OTHER         "561a0095739cb9274fae7a30178b07ce5618d6f8b4e41950c4b875e36ec1e4bb"
  static const char *const bad[] = {
      "",
      "[]",
      "{}",
      "{\"schema_version\": 2, \"tokens\": []}",
      "{\"schema_version\": 1, \"tokens\": [], \"more\": 1}",
      FILE_OF ("1"),
      FILE_OF ("{}"),
      FILE_OF (ROW ("1000", DIGEST, "")),
      FILE_OF (ROW ("uid:0", DIGEST, "")),
      FILE_OF (ROW ("a\\u0000b", DIGEST, "")),
      FILE_OF (ROW ("", DIGEST, "")),
      FILE_OF (ROW ("a", "short", "")),
      FILE_OF (ROW ("a", DIGEST, ", \"narrowed_by\": \"a later Adder\"")),
      FILE_OF (ROW ("a", DIGEST, "") ", " ROW ("a", OTHER, "")),
      FILE_OF (ROW ("a", DIGEST, "") ", " ROW ("b", DIGEST, "")),
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_null (tokens_parse (bad[i], strlen (bad[i]), &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  /* Each member must be there, and be what it is. */
  static const struct {
    const char *member, *value;
  } members[] = {
      {"name", "1"},          {"name", "null"},     {"digest", "null"},     {"created_ms", "-1"},
      {"expires_ms", "1.5"},  {"role", "\"root\""}, {"role", "1"},          {"toolset", "1"},
      {"profiles", "\"a\""},  {"profiles", "[1]"},  {"roots", "{}"},        {"read_only", "1"},
      {"may_decide", "null"}, {"rate", "\"1\""},    {"concurrent", "null"}, {"concurrent", NULL},
      {"toolset", NULL},
  };
  const char *row = ROW ("a", DIGEST, "");
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++) {
    g_autoptr (GError) problem = NULL;
    json_t *value = members[i].value ? json_loads (members[i].value, JSON_DECODE_ANY, NULL) : NULL;
    g_autoptr (json_t) token = json_loads (row, 0, NULL);
    if (value)
      json_object_set_new (token, members[i].member, value);
    else
      json_object_del (token, members[i].member);
    g_autoptr (json_t) file = json_pack ("{s:i, s:[O]}", "schema_version", 1, "tokens", token);
    g_autofree char *text = json_to_text (file);
    g_assert_null (tokens_parse (text, strlen (text), &problem));
    g_assert_true (g_str_has_prefix (problem->message, "its token 1: "));
    g_assert_nonnull (strstr (problem->message, members[i].member));
  }
  g_autoptr (GError) problem = NULL;
  const char *good = FILE_OF (ROW ("b", OTHER, "") ", " ROW ("a", DIGEST, ""));
  g_autoptr (GPtrArray) tokens = tokens_parse (good, strlen (good), &problem);
  g_assert_no_error (problem);
  g_assert_cmpuint (tokens->len, ==, 2);
  const struct token *first = tokens->pdata[0];
  g_assert_cmpstr (first->name, ==, "a");
  g_assert_cmpstr (first->profiles[0], ==, "a*");
  g_assert_null (first->roots);
  g_assert_true (first->may_decide);
  g_assert_cmpuint (first->concurrent, ==, 5);
}

static gboolean
add_many (GPtrArray *tokens, gpointer data, GError **error)
{
  (void)error;
  for (guint i = 0; i < GPOINTER_TO_UINT (data); i++) {
    struct token *token = g_new0 (struct token, 1);
    token->name = g_strdup_printf ("t%u", i);
    token->digest = token_digest (token->name);
    g_ptr_array_add (tokens, token);
  }
  return TRUE;
}

static void
test_too_many (void)
{
  struct world world;
  world_begin (&world, "");
  g_autoptr (GError) problem = NULL;
  g_assert_false (tokens_file_change (world.file, add_many, GUINT_TO_POINTER (TOKENS_MAX + 1), &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_false (g_file_test (world.file, G_FILE_TEST_EXISTS));
  world_end (&world);
}

/* That a token is found takes no longer with many of them; the bound, of processor time, is far from what it
 * takes. */
static void
test_many (void)
{
  struct world world;
  world_begin (&world, "");
  g_autoptr (GError) problem = NULL;
  guint many = 20000;
  g_assert_true (tokens_file_change (world.file, add_many, GUINT_TO_POINTER (many), &problem));
  struct tokens *tokens = tokens_new (world.config, NULL, &problem);
  g_assert_no_error (problem);
  g_assert_cmpuint (tokens_count (tokens), ==, many);
  clock_t began = clock ();
  for (guint i = 0; i < 10000; i++) {
    g_autofree char *secret = g_strdup_printf ("t%u", i * 2);
    gboolean expired;
    struct principal *who = tokens_find (tokens, secret, TRUE, &expired, NULL);
    g_assert_true ((who != NULL) == (i * 2 < many));
    principal_unref (who);
  }
  clock_t took = clock () - began;
  g_test_message ("%.2f us each", (double)took / CLOCKS_PER_SEC * G_USEC_PER_SEC / 10000);
  g_assert_cmpint (took, <, 5 * CLOCKS_PER_SEC);
  tokens_free (tokens);
  world_end (&world);
}

/* ---- many at once ---- */

static gpointer
make_ten (gpointer data)
{
  static gint next = 0;
  for (int i = 0; i < 10; i++) {
    g_autofree char *name = g_strdup_printf ("n%d", g_atomic_int_add (&next, 1));
    g_free (make (data, name, 0));
  }
  return NULL;
}

static void
test_writers (void)
{
  struct world world;
  world_begin (&world, "");
  GThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("writer", make_ten, &world);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_autoptr (GPtrArray) tokens = tokens_file_read (world.file, NULL, NULL);
  g_assert_cmpuint (tokens->len, ==, 10 * G_N_ELEMENTS (threads));
  world_end (&world);
}

/* ---- rates ---- */

static void
assert_enter (struct rates *rates, const char *key, guint64 at_once, gint64 now_us, enum rates_answer answer)
{
  guint wait_s;
  g_assert_cmpint (rates_enter (rates, key, 60, at_once, now_us, &wait_s), ==, answer);
  g_assert_true ((wait_s > 0) == (answer != RATES_YES));
}

static void
test_rate (void)
{
  struct rates *rates = rates_new (100, RATES_MINUTE_US);
  gint64 now_us = G_USEC_PER_SEC;
  for (int i = 0; i < 10; i++)
    assert_enter (rates, "a", 0, now_us, RATES_YES);
  guint wait_s;
  g_assert_false (rates_has_left (rates, "a", now_us, &wait_s));
  g_assert_cmpuint (wait_s, ==, 2);
  assert_enter (rates, "a", 0, now_us, RATES_TOO_OFTEN);
  assert_enter (rates, "b", 0, now_us, RATES_YES);
  assert_enter (rates, "a", 0, now_us + 999 * 1000, RATES_TOO_OFTEN);
  assert_enter (rates, "a", 0, now_us + 1001 * 1000, RATES_YES);
  assert_enter (rates, "a", 0, now_us + 1002 * 1000, RATES_TOO_OFTEN);
  /* No more is saved up than a sixth of a minute's. */
  now_us += G_TIME_SPAN_HOUR;
  for (int i = 0; i < 10; i++)
    assert_enter (rates, "a", 0, now_us, RATES_YES);
  assert_enter (rates, "a", 0, now_us, RATES_TOO_OFTEN);
  rates_free (rates);
}

static void
test_rate_of_an_hour (void)
{
  struct rates *rates = rates_new (100, RATES_HOUR_US);
  gint64 now_us = G_USEC_PER_SEC;
  for (int i = 0; i < 10; i++)
    assert_enter (rates, "a", 0, now_us, RATES_YES);
  assert_enter (rates, "a", 0, now_us + 59 * G_USEC_PER_SEC, RATES_TOO_OFTEN);
  assert_enter (rates, "a", 0, now_us + 61 * G_USEC_PER_SEC, RATES_YES);
  rates_free (rates);
}

static void
test_concurrency (void)
{
  struct rates *rates = rates_new (100, RATES_MINUTE_US);
  gint64 now_us = G_USEC_PER_SEC;
  assert_enter (rates, "a", 2, now_us, RATES_YES);
  assert_enter (rates, "a", 2, now_us, RATES_YES);
  assert_enter (rates, "a", 2, now_us, RATES_TOO_MANY);
  assert_enter (rates, "b", 2, now_us, RATES_YES);
  rates_leave (rates, "a");
  assert_enter (rates, "a", 2, now_us, RATES_YES);
  assert_enter (rates, "a", 2, now_us, RATES_TOO_MANY);
  rates_leave (rates, "nobody");
  /* Who left once more often than they came gets no more for it. */
  rates_leave (rates, "b");
  rates_leave (rates, "b");
  assert_enter (rates, "b", 1, now_us, RATES_YES);
  assert_enter (rates, "b", 1, now_us, RATES_TOO_MANY);
  rates_free (rates);
}

static void
test_bounded (void)
{
  struct rates *rates = rates_new (50, RATES_MINUTE_US);
  gint64 now_us = G_USEC_PER_SEC;
  assert_enter (rates, "busy", 1, now_us, RATES_YES);
  for (int i = 0; i < 1000; i++) {
    g_autofree char *key = g_strdup_printf ("%d", i);
    assert_enter (rates, key, 0, now_us + i, RATES_YES);
    g_assert_cmpuint (rates_kept (rates), <=, 50);
  }
  /* Who is busy is not forgotten, so that nobody gets around the bound by making others come. */
  assert_enter (rates, "busy", 1, now_us + 1000, RATES_TOO_MANY);
  rates_free (rates);

  rates = rates_new (2, RATES_MINUTE_US);
  assert_enter (rates, "a", 1, now_us, RATES_YES);
  assert_enter (rates, "b", 1, now_us, RATES_YES);
  assert_enter (rates, "c", 1, now_us, RATES_TOO_MANY);
  rates_leave (rates, "a");
  assert_enter (rates, "c", 1, now_us, RATES_YES);
  rates_free (rates);

  /* Whoever has all that they may have is as if they had never come. */
  rates = rates_new (2, RATES_MINUTE_US);
  guint wait_s;
  assert_enter (rates, "a", 0, now_us, RATES_YES);
  assert_enter (rates, "b", 0, now_us, RATES_YES);
  g_assert_true (rates_has_left (rates, "a", now_us, &wait_s));
  assert_enter (rates, "c", 0, now_us + G_TIME_SPAN_HOUR, RATES_YES);
  g_assert_cmpuint (rates_kept (rates), ==, 1);
  g_assert_true (rates_has_left (rates, "never", now_us, &wait_s));
  rates_free (rates);
}

/* ---- roots ---- */

static void
assert_no_root (struct world *world, const struct principal *who, const char *name, const char *path,
                const char *mode, AdderError code)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = NULL;
  g_assert_cmpint (root_open (world->config, who, name, path, mode, &shown, &problem), ==, -1);
  g_assert_error (problem, ADDER_ERROR, (gint)code);
  g_assert_null (strstr (problem->message, world->folder));
}

static void
test_roots (void)
{
  struct world world;
  g_autofree char *data = g_dir_make_tmp ("adder-root-XXXXXX", NULL);
  g_autofree char *inner = g_build_filename (data, "in", "ner", NULL);
  g_autofree char *link = g_build_filename (data, "link", NULL), *out = g_build_filename (data, "out", NULL);
  g_autofree char *file = g_build_filename (data, "file", NULL);
  g_autofree char *lines =
      g_strdup_printf ("roots = data=%s:read both=%s:overlay most=%s:rw\n", data, data, data);
  g_assert_cmpint (g_mkdir_with_parents (inner, 0755), ==, 0);
  g_assert_cmpint (symlink (inner, link), ==, 0);
  g_assert_cmpint (symlink ("/etc", out), ==, 0);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  world_begin (&world, lines);
  g_autoptr (GError) problem = NULL;
  g_assert_true (roots_check (world.config, &problem));
  struct principal *who = principal_new (world.config, "token:a"),
                   *other = principal_new (world.config, "token:b");
  who->roots = g_strsplit ("data both most gone", " ", -1);
  g_autofree char *shown = NULL, *whole = NULL, *up = NULL;
  int fd = root_open (world.config, who, "data", "in/ner", "read", &shown, &problem);
  g_assert_no_error (problem);
  g_assert_cmpstr (shown, ==, "/data/in/ner");
  close (fd);
  close (root_open (world.config, who, "data", "", "read", &whole, &problem));
  g_assert_cmpstr (whole, ==, "/data");
  close (root_open (world.config, who, "most", "in/../in", "rw", &up, &problem));
  g_assert_cmpstr (up, ==, "/most/in");
  g_assert_no_error (problem);

  assert_no_root (&world, other, "data", NULL, "read", ADDER_ERROR_NOT_FOUND);
  assert_no_root (&world, who, "gone", NULL, "read", ADDER_ERROR_NOT_FOUND);
  assert_no_root (&world, who, "DATA", NULL, "read", ADDER_ERROR_NOT_FOUND);
  assert_no_root (&world, who, "data", "in", "overlay", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "both", "in", "rw", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "data", "in", "all", ADDER_ERROR_INVALID);
  assert_no_root (&world, who, "data", "/etc", "read", ADDER_ERROR_INVALID);
  assert_no_root (&world, who, "data", "..", "read", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "data", "in/../..", "read", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "data", "link", "read", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "data", "out", "read", ADDER_ERROR_REFUSED);
  assert_no_root (&world, who, "data", "file", "read", ADDER_ERROR_NOT_FOUND);
  assert_no_root (&world, who, "data", "no", "read", ADDER_ERROR_NOT_FOUND);
  assert_no_root (&world, who, "data", "\xff", "read", ADDER_ERROR_INVALID);
  g_autoptr (json_t) list = roots_list (world.config, who);
  g_assert_cmpuint (json_array_size (json_object_get (list, "roots")), ==, 3);
  g_autoptr (json_t) none = roots_list (world.config, other);
  g_assert_cmpuint (json_array_size (json_object_get (none, "roots")), ==, 0);
  g_assert_true (root_exists (world.config, "most"));
  g_assert_false (root_exists (world.config, "gone"));
  /* What became of it after the start is told without where it was. */
  g_autofree char *moved = g_strconcat (data, ".moved", NULL);
  g_autoptr (GError) gone = NULL;
  g_assert_cmpint (g_rename (data, moved), ==, 0);
  g_assert_cmpint (root_open (world.config, who, "data", "in", "read", &shown, &gone), ==, -1);
  g_assert_cmpstr (gone->message, ==, "the root data cannot be opened");
  g_assert_cmpint (g_rename (moved, data), ==, 0);
  principal_unref (who);
  principal_unref (other);
  world_end (&world);

  static const char *const bad[] = {"roots = data\n",
                                    "roots = data=srv:read\n",
                                    "roots = data=/tmp\n",
                                    "roots = data=/tmp:all\n",
                                    "roots = 1=/tmp:read\n",
                                    "roots = d=/tmp:read d=/tmp:rw\n",
                                    "roots = d=/no/such:read\n",
                                    "roots = a:b=/tmp\n",
                                    "roots = d.e=/tmp:read\n",
                                    "roots = \"d\n"};
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) wrong = NULL;
    world_begin (&world, bad[i]);
    g_assert_false (roots_check (world.config, &wrong));
    g_assert_nonnull (wrong);
    g_assert_false (root_exists (world.config, "data"));
    world_end (&world);
  }
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", data);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
}

UNIT_SUITE (policy_tokens)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/tokens/life", test_life);
  g_test_add_func ("/policy/tokens/expiry", test_expiry);
  g_test_add_func ("/policy/tokens/trust", test_trust);
  g_test_add_func ("/policy/tokens/what-it-is", test_what_it_is);
  g_test_add_func ("/policy/tokens/names", test_names);
  g_test_add_func ("/policy/tokens/parse", test_parse);
  g_test_add_func ("/policy/tokens/too-many", test_too_many);
  g_test_add_func ("/policy/tokens/many", test_many);
  g_test_add_func ("/policy/tokens/writers", test_writers);
  g_test_add_func ("/policy/rates/rate", test_rate);
  g_test_add_func ("/policy/rates/rate-of-an-hour", test_rate_of_an_hour);
  g_test_add_func ("/policy/rates/concurrency", test_concurrency);
  g_test_add_func ("/policy/rates/bounded", test_bounded);
  g_test_add_func ("/policy/roots", test_roots);
  return g_test_run ();
}
