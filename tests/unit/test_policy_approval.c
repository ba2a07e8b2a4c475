/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals: what a yes is for, whose it is, how long it holds, and the bounds. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "policy/approval.h"
#include "suite.h"

static struct config *
make_config (void)
{
  struct config *config = g_new0 (struct config, 1);
  config->approval_expire_ms = 60 * 1000;
  config->approval_always_ms = 60 * 1000;
  config->max_approvals = 8;
  config->max_approvals_owner = 4;
  config->max_approvals_bytes = 4096;
  return config;
}

static struct approvals *
make_with (const struct config *config)
{
  return approvals_new (config, NULL);
}

static struct approvals *
make (void)
{
  g_autofree struct config *config = make_config ();
  return make_with (config);
}

struct asked {
  const char *owner, *conversation, *digest, *place, *given;
};

/* The id of what is waited for, "granted", or the error's message; the caller's. */
static char *
ask (struct approvals *approvals, struct asked asked, int expected_code)
{
  struct approval_answer answer = {0};
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) shown = json_pack ("{s:s}", "code", "print(1)");
  const struct approval_subject subject = {
      .owner = asked.owner ? asked.owner : "uid:1",
      .conversation = asked.conversation,
      .digest = asked.digest ? asked.digest : "d1",
      .place = asked.place ? asked.place : "p1",
      .shown = shown,
  };
  gboolean ok = approvals_decide (approvals, &subject, asked.given, &answer, &error);
  if (expected_code >= 0) {
    g_assert_false (ok);
    g_assert_error (error, ADDER_ERROR, expected_code);
    return g_strdup (error->message);
  }
  g_assert_no_error (error);
  g_assert_true (answer.granted || answer.id);
  if (!answer.granted)
    return answer.id;
  g_free (answer.id);
  return g_strdup ("granted");
}

#define ASK(approvals, ...) ask (approvals, (struct asked){__VA_ARGS__}, -1)
#define GRANTED(approvals, ...)                                                                              \
  do {                                                                                                       \
    g_autofree char *answer = ASK (approvals, __VA_ARGS__);                                                  \
    g_assert_cmpstr (answer, ==, "granted");                                                                 \
  } while (0)

static void
approve (struct approvals *approvals, const char *id, gboolean always)
{
  const struct approver person = {.owner = "uid:1"};
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) whole = approvals_approve (approvals, &person, id, always, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_string_value (json_object_get (whole, "state")), ==, "approved");
}

static void
deny (struct approvals *approvals, const char *id, const char *reason)
{
  const struct approver person = {.owner = "uid:1"};
  g_autoptr (json_t) whole = approvals_deny (approvals, &person, id, reason, NULL);
  g_assert_nonnull (whole);
}

/* ---- what a yes is for ---- */

static void
test_single_use (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, 0);
  g_autofree char *again = ASK (approvals, 0);
  g_assert_cmpstr (id, ==, again);
  g_assert_cmpuint (approvals_waiting (approvals), ==, 1);
  approve (approvals, id, FALSE);
  g_assert_cmpuint (approvals_waiting (approvals), ==, 1);
  GRANTED (approvals, .given = id);
  g_assert_cmpuint (approvals_waiting (approvals), ==, 0);
  g_autofree char *other = ASK (approvals, .given = id);
  g_assert_cmpstr (other, !=, "granted");
  g_assert_cmpstr (other, !=, id);
  approvals_unref (approvals);
}

/* Asking the same again is enough once it was approved. */
static void
test_without_the_id (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, .conversation = "c");
  approve (approvals, id, FALSE);
  GRANTED (approvals, .conversation = "c");
  g_autofree char *other = ASK (approvals, .conversation = "c");
  g_assert_cmpstr (other, !=, "granted");
  approvals_unref (approvals);
}

static void
test_bound_to_all (void)
{
  static const struct asked others[] = {
      {.digest = "d2"}, {.conversation = "c"}, {.owner = "uid:2"}, {.owner = "uid:2", .conversation = "c"}};
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, 0);
  approve (approvals, id, FALSE);
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++) {
    struct asked asked = others[i];
    asked.given = id;
    g_autofree char *answer = ask (approvals, asked, -1);
    g_assert_cmpstr (answer, !=, "granted");
    g_assert_cmpstr (answer, !=, id);
  }
  GRANTED (approvals, .given = id);
  approvals_unref (approvals);
}

static void
test_digest_parts (void)
{
  struct approval_digest *parts[4];
  g_autofree char *texts[G_N_ELEMENTS (parts)] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    parts[i] = approval_digest_new ();
  approval_digest_add (parts[0], "a", "xy", -1);
  approval_digest_add (parts[1], "a", "x", -1);
  approval_digest_add (parts[1], "", "y", -1);
  approval_digest_add (parts[2], "a", NULL, -1);
  approval_digest_add (parts[3], "a", "", -1);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++) {
    texts[i] = approval_digest_end (parts[i]);
    g_assert_cmpuint (strlen (texts[i]), ==, 64);
    for (gsize j = 0; j < i; j++)
      g_assert_cmpstr (texts[i], !=, texts[j]);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    g_clear_pointer (&texts[i], g_free);
}

/* ---- no ---- */

static void
test_denied (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, .conversation = "c");
  deny (approvals, id, "not\non my machine");
  g_autofree char *message = ask (approvals, (struct asked){.conversation = "c"}, ADDER_ERROR_REFUSED);
  g_assert_nonnull (strstr (message, "denied: not\\x0aon my machine"));
  g_assert_cmpuint (approvals_waiting (approvals), ==, 0);
  /* Whoever said no may think again. */
  approve (approvals, id, FALSE);
  GRANTED (approvals, .conversation = "c");
  approvals_unref (approvals);
}

/* Without a conversation each call is its own: who was told no with the id, and who asks anew. */
static void
test_denied_without_conversation (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, 0);
  deny (approvals, id, NULL);
  g_autofree char *message = ask (approvals, (struct asked){.given = id}, ADDER_ERROR_REFUSED);
  g_assert_nonnull (strstr (message, id));
  g_autofree char *other = ASK (approvals, 0);
  g_assert_cmpstr (other, !=, id);
  approvals_unref (approvals);
}

/* ---- always ---- */

static void
test_always (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, .conversation = "c");
  approve (approvals, id, TRUE);
  for (int i = 0; i < 3; i++) {
    g_autofree char *digest = g_strdup_printf ("other %d", i);
    GRANTED (approvals, .conversation = "c", .digest = digest);
  }
  static const struct asked others[] = {{.conversation = "d"},
                                        {.conversation = "c", .place = "p2", .digest = "d2"},
                                        {.conversation = "c", .owner = "uid:2"},
                                        {0}};
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *answer = ask (approvals, others[i], -1);
    g_assert_cmpstr (answer, !=, "granted");
  }
  approvals_unref (approvals);
}

static void
test_always_needs_conversation (void)
{
  const struct approver person = {.owner = "uid:1"};
  struct approvals *approvals = make ();
  g_autoptr (GError) error = NULL;
  g_autofree char *id = ASK (approvals, 0);
  g_assert_null (approvals_approve (approvals, &person, id, TRUE, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  approvals_unref (approvals);
}

/* ---- who may decide ---- */

static gboolean
is_known (struct approvals *approvals, const char *id)
{
  g_autoptr (json_t) whole = approvals_show (approvals, "uid:1", id, NULL);
  return whole != NULL;
}

static void
test_others_ids (void)
{
  const struct approver stranger = {.owner = "uid:2"}, agent = {.owner = "uid:1", .conversation = "c"};
  const struct approver other_agent = {.owner = "uid:1", .conversation = "d"};
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, .conversation = "c");
  const struct {
    const struct approver *by;
    int code;
  } rows[] = {
      {&stranger, ADDER_ERROR_NOT_FOUND}, {&agent, ADDER_ERROR_REFUSED}, {&other_agent, ADDER_ERROR_REFUSED}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) yes = NULL;
    g_autoptr (GError) no = NULL;
    g_assert_null (approvals_approve (approvals, rows[i].by, id, FALSE, &yes));
    g_assert_error (yes, ADDER_ERROR, rows[i].code);
    g_assert_null (approvals_deny (approvals, rows[i].by, id, NULL, &no));
    g_assert_error (no, ADDER_ERROR, rows[i].code);
  }
  g_assert_null (approvals_show (approvals, "uid:2", id, NULL));
  g_autoptr (json_t) list = approvals_list (approvals, "uid:2");
  g_assert_cmpuint (json_array_size (json_object_get (list, "approvals")), ==, 0);
  approvals_unref (approvals);
}

/* Two persons who see the same pending request: the first decides. Both may think again, until it is used. */
static void
test_first_decides (void)
{
  const struct approver first = {.owner = "uid:1", .name = "token:boss", .if_pending = TRUE};
  for (int yes = 0; yes < 2; yes++) {
    struct approvals *approvals = make ();
    g_autoptr (GError) also_yes = NULL, also_no = NULL, late = NULL;
    g_autofree char *id = ASK (approvals, 0);
    g_autoptr (json_t) decided = yes ? approvals_approve (approvals, &first, id, FALSE, NULL)
                                     : approvals_deny (approvals, &first, id, "no", NULL);
    g_assert_nonnull (decided);
    g_assert_null (approvals_approve (approvals, &first, id, FALSE, &also_yes));
    g_assert_error (also_yes, ADDER_ERROR, ADDER_ERROR_EXISTS);
    g_assert_nonnull (
        strstr (also_yes->message, yes ? "was approved meanwhile: token:boss, " : "was denied"));
    g_assert_null (approvals_deny (approvals, &first, id, NULL, &also_no));
    g_assert_error (also_no, ADDER_ERROR, ADDER_ERROR_EXISTS);
    deny (approvals, id, "on second thoughts");
    approve (approvals, id, FALSE);
    GRANTED (approvals, 0);
    g_assert_null (approvals_deny (approvals, &first, id, NULL, &late));
    g_assert_error (late, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
    approvals_unref (approvals);
  }
}

/* ---- bounds ---- */

static void
test_bounds (void)
{
  struct approvals *approvals = make ();
  for (int i = 0; i < 8; i++) {
    g_autofree char *digest = g_strdup_printf ("d%d", i);
    g_autofree char *id = ASK (approvals, .owner = i < 4 ? "uid:1" : "uid:2", .digest = digest);
    g_assert_cmpuint (strlen (id), ==, 36);
  }
  g_autofree char *owner = ask (approvals, (struct asked){.digest = "more"}, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (owner, "max_pending_per_owner = 4"));
  g_autofree char *all =
      ask (approvals, (struct asked){.owner = "uid:3", .digest = "more"}, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (all, "max_pending = 8"));
  /* What waits already is no further one. */
  g_autofree char *same = ASK (approvals, .digest = "d0");
  g_assert_cmpuint (strlen (same), ==, 36);
  approvals_unref (approvals);
}

static void
test_bytes (void)
{
  g_autofree struct config *config = make_config ();
  config->max_approvals_bytes = 40;
  struct approvals *approvals = make_with (config);
  g_autofree char *first = ASK (approvals, .digest = "first");
  g_autofree char *second = ASK (approvals, .digest = "second");
  g_assert_cmpuint (strlen (second), ==, 36);
  g_autofree char *message = ask (approvals, (struct asked){.digest = "third"}, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (message, "max_bytes"));
  /* What was denied makes room. */
  deny (approvals, first, NULL);
  g_autofree char *third = ASK (approvals, .digest = "third");
  g_assert_cmpuint (strlen (third), ==, 36);
  g_assert_null (approvals_show (approvals, "uid:1", first, NULL));
  approvals_unref (approvals);
}

static void
test_expiry (void)
{
  g_autofree struct config *config = make_config ();
  config->approval_always_ms = 20;
  struct approvals *approvals = make_with (config);
  g_autofree char *id = ASK (approvals, .conversation = "c");
  approve (approvals, id, TRUE);
  g_usleep (40 * 1000);
  g_autofree char *once G_GNUC_UNUSED = ASK (approvals, .conversation = "c");
  g_autofree char *other = ASK (approvals, .conversation = "c");
  g_assert_cmpstr (other, !=, "granted");
  g_assert_cmpstr (other, !=, id);
  approvals_unref (approvals);

  config->approval_expire_ms = 20;
  approvals = make_with (config);
  g_autofree char *first = ASK (approvals, .conversation = "c");
  g_usleep (40 * 1000);
  g_assert_cmpuint (approvals_waiting (approvals), ==, 0);
  g_autofree char *second = ASK (approvals, .conversation = "c");
  g_assert_cmpstr (second, !=, first);
  approvals_unref (approvals);
}

/* ---- changes ---- */

struct carried {
  int calls;
  gboolean yes, fails;
  struct approvals *approvals;
};

static gboolean
carry_out (gpointer data, const char *owner, const char *review_id, const char *digest, gboolean yes,
           json_t **ret_outcome, GError **error)
{
  struct carried *carried = data;
  g_assert_cmpstr (owner, ==, "uid:1");
  g_assert_cmpstr (review_id, ==, "r1");
  g_assert_cmpstr (digest, ==, "changes");
  carried->calls++;
  carried->yes = yes;
  /* Without the lock: asking something is no deadlock. */
  g_assert_cmpuint (approvals_waiting (carried->approvals), ==, 1);
  if (carried->fails) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a.txt was changed meanwhile");
    return FALSE;
  }
  *ret_outcome = json_pack ("{s:i}", "committed", 3);
  return TRUE;
}

/* The subject of the review r1, of which SHOWN is told. */
static struct approval_subject
changes_of (json_t *shown)
{
  return (struct approval_subject){.kind = APPROVAL_OF_CHANGES,
                                   .owner = "uid:1",
                                   .digest = "changes",
                                   .place = "p",
                                   .review_id = "r1",
                                   .shown = shown};
}

static void
test_changes (void)
{
  const struct approver person = {.owner = "uid:1"};
  struct approvals *approvals = make ();
  struct carried carried = {.fails = TRUE, .approvals = approvals};
  struct approval_answer answer = {0};
  g_autoptr (json_t) shown = json_pack ("{s:i}", "files", 3);
  const struct approval_subject subject = changes_of (shown);
  approvals_set_carry_out (approvals, carry_out, &carried);
  g_assert_true (approvals_decide (approvals, &subject, NULL, &answer, NULL));
  g_autofree char *id = answer.id;

  g_autoptr (GError) error = NULL;
  g_assert_null (approvals_approve (approvals, &person, id, FALSE, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpuint (approvals_waiting (approvals), ==, 1);

  carried.fails = FALSE;
  g_autoptr (json_t) done = approvals_approve (approvals, &person, id, FALSE, NULL);
  g_assert_cmpint (json_integer_value (json_object_get (json_object_get (done, "outcome"), "committed")), ==,
                   3);
  g_assert_cmpint (carried.calls, ==, 2);
  g_assert_true (carried.yes);
  g_assert_null (approvals_show (approvals, "uid:1", id, NULL));
  approvals_unref (approvals);
}

/* While changes are made nobody else decides about them, and they neither expire nor are forgotten. */
static gboolean
carry_out_slowly (gpointer data, const char *owner, const char *review_id, const char *digest, gboolean yes,
                  json_t **ret_outcome, GError **error)
{
  struct carried *carried = data;
  const struct approver person = {.owner = owner};
  g_autoptr (GError) also_yes = NULL, also_no = NULL;
  (void)digest;
  (void)ret_outcome;
  carried->calls++;
  carried->yes = yes;
  g_assert_null (approvals_approve (carried->approvals, &person, review_id, FALSE, &also_yes));
  g_assert_error (also_yes, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_assert_null (approvals_deny (carried->approvals, &person, review_id, NULL, &also_no));
  g_assert_error (also_no, ADDER_ERROR, ADDER_ERROR_BUSY);
  approvals_forget (carried->approvals, owner, review_id);
  /* Until it had expired, were it not for this. */
  g_usleep (30 * 1000);
  g_assert_cmpuint (approvals_waiting (carried->approvals), ==, 1);
  if (carried->fails)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the disk is full");
  return !carried->fails;
}

static void
test_one_decides (void)
{
  const struct approver person = {.owner = "uid:1"};
  g_autofree struct config *config = make_config ();
  config->approval_expire_ms = 20;
  g_autoptr (json_t) shown = json_object ();
  const struct approval_subject subject = changes_of (shown);
  for (int fails = 0; fails < 2; fails++) {
    struct approvals *approvals = make_with (config);
    struct carried carried = {.fails = fails, .approvals = approvals};
    g_autoptr (GError) error = NULL;
    g_autoptr (json_t) whole = NULL;
    approvals_set_carry_out (approvals, carry_out_slowly, &carried);
    /* On a busy machine it may have expired before it is decided about: then there is another. */
    do {
      struct approval_answer answer = {0};
      g_clear_error (&error);
      g_assert_true (approvals_decide (approvals, &subject, NULL, &answer, NULL));
      g_autofree char *id = answer.id;
      whole = approvals_deny (approvals, &person, id, "not now", &error);
    } while (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND));
    g_assert_true ((whole == NULL) == fails);
    g_assert_cmpint (carried.calls, ==, 1);
    g_assert_false (carried.yes);
    if (fails)
      g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
    else
      g_assert_cmpstr (json_string_value (json_object_get (whole, "reason")), ==, "not now");
    approvals_unref (approvals);
  }
}

/* A review that was decided by other means waits for nobody; a run's approval is none of a review. */
static void
test_decided_elsewhere (void)
{
  struct approvals *approvals = make ();
  struct approval_answer answer = {0};
  g_autoptr (json_t) shown = json_object ();
  const struct approval_subject subject = {
      .kind = APPROVAL_OF_CHANGES, .digest = "changes", .place = "p", .review_id = "r1", .shown = shown};
  g_assert_true (approvals_decide (approvals, &subject, NULL, &answer, NULL));
  g_assert_cmpstr (answer.id, ==, "r1");
  g_clear_pointer (&answer.id, g_free);
  g_autofree char *run = ASK (approvals, 0);
  approvals_forget (approvals, "uid:1", run);
  approvals_forget (approvals, "uid:1", "r1");
  approvals_forget (approvals, NULL, "no such");
  g_assert_cmpuint (approvals_waiting (approvals), ==, 2);
  approvals_forget (approvals, NULL, "r1");
  g_assert_cmpuint (approvals_waiting (approvals), ==, 1);
  g_assert_null (approvals_show (approvals, NULL, "r1", NULL));
  approvals_unref (approvals);
}

/* ---- waiting ---- */

static gpointer
approve_later (gpointer data)
{
  struct approvals *approvals = data;
  g_autoptr (json_t) list = approvals_list (approvals, "uid:1");
  const json_t *first = json_array_get (json_object_get (list, "approvals"), 0);
  approve (approvals, json_string_value (json_object_get (first, "approval_id")), FALSE);
  return NULL;
}

static void
test_wait (void)
{
  struct approvals *approvals = make ();
  g_autofree char *id = ASK (approvals, 0);
  g_autoptr (json_t) before = approvals_wait (approvals, "uid:1", id, -1, 1, NULL);
  g_assert_cmpstr (json_string_value (json_object_get (before, "state")), ==, "pending");
  GThread *thread = g_thread_new ("approve", approve_later, approvals);
  g_autoptr (json_t) after = approvals_wait (approvals, "uid:1", id, -1, 60 * 1000, NULL);
  g_assert_cmpstr (json_string_value (json_object_get (after, "state")), ==, "approved");
  g_thread_join (thread);
  approvals_unref (approvals);
}

static void
test_wait_until_expiry (void)
{
  g_autofree struct config *config = make_config ();
  config->approval_expire_ms = 20;
  struct approvals *approvals = make_with (config);
  g_autoptr (GError) error = NULL;
  g_autofree char *id = ASK (approvals, 0);
  g_assert_null (approvals_wait (approvals, "uid:1", id, -1, 60 * 1000, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  approvals_unref (approvals);
}

static gpointer
hang_up (gpointer data)
{
  close (GPOINTER_TO_INT (data));
  return NULL;
}

static void
test_wait_until_gone (void)
{
  struct approvals *approvals = make ();
  g_autoptr (GError) error = NULL;
  int ends[2];
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  g_autofree char *id = ASK (approvals, 0);
  GThread *thread = g_thread_new ("hang up", hang_up, GINT_TO_POINTER (ends[1]));
  g_assert_null (approvals_wait (approvals, "uid:1", id, ends[0], 60 * 1000, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED);
  g_thread_join (thread);
  close (ends[0]);
  /* It waits on for others. */
  g_assert_cmpuint (approvals_waiting (approvals), ==, 1);
  approvals_unref (approvals);
}

/* ---- bounds of what is over ---- */

static void
test_denials_bound (void)
{
  g_autofree struct config *config = make_config ();
  config->max_approvals_bytes = 1 << 20;
  struct approvals *approvals = make_with (config);
  g_autofree char *first = ASK (approvals, .digest = "first");
  deny (approvals, first, NULL);
  for (int i = 0; i < 1100; i++) {
    g_autofree char *digest = g_strdup_printf ("d%d", i);
    g_autofree char *id = ASK (approvals, .digest = digest);
    deny (approvals, id, NULL);
    if (i == 500)
      g_assert_true (is_known (approvals, first));
  }
  g_assert_false (is_known (approvals, first));
  g_autoptr (json_t) list = approvals_list (approvals, "uid:1");
  g_assert_cmpuint (json_array_size (json_object_get (list, "approvals")), <=, 1024);
  approvals_unref (approvals);
}

UNIT_SUITE (policy_approval)
{
  static const struct {
    const char *name;
    void (*test) (void);
  } tests[] = {
      {"single-use", test_single_use},
      {"without-the-id", test_without_the_id},
      {"bound-to-all", test_bound_to_all},
      {"digest-parts", test_digest_parts},
      {"denied", test_denied},
      {"denied-without-conversation", test_denied_without_conversation},
      {"always", test_always},
      {"always-needs-conversation", test_always_needs_conversation},
      {"others-ids", test_others_ids},
      {"first-decides", test_first_decides},
      {"bounds", test_bounds},
      {"bytes", test_bytes},
      {"expiry", test_expiry},
      {"changes", test_changes},
      {"wait", test_wait},
      {"wait-until-expiry", test_wait_until_expiry},
      {"wait-until-gone", test_wait_until_gone},
      {"one-decides", test_one_decides},
      {"decided-elsewhere", test_decided_elsewhere},
      {"denials-bound", test_denials_bound},
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *path = g_strconcat ("/approval/", tests[i].name, NULL);
    g_test_add_func (path, tests[i].test);
  }
  return g_test_run ();
}
