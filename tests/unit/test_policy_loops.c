/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of runs that failed: whose, for how long, how many, and what makes it forgotten. */
#include "adder.h"
#include "common/json.h"
#include "policy/loops.h"
#include "suite.h"

static struct loops *
make (guint64 max_owner, guint64 max, guint64 forget_ms)
{
  const struct config config = {
      .loop_failures = 3, .max_loops_owner = max_owner, .max_loops = max, .loop_forget_ms = forget_ms};
  return loops_new (&config);
}

static void
end_as (struct loops *loops, const char *owner, const char *conversation, guint64 setting,
        AdderOutcome outcome, const char *type)
{
  g_autoptr (json_t) error = json_pack ("{s:s, s:s}", "type", type, "message", "m");
  g_autoptr (json_t) attempt = json_pack ("{s:s, s:[i]}", "digest", "d", "near", 1);
  const struct request_end end = {outcome, error, attempt};
  loops_ended (loops, owner, conversation, setting, &end);
}

static void
fail (struct loops *loops, const char *owner, const char *conversation, guint64 setting)
{
  end_as (loops, owner, conversation, setting, ADDER_OUTCOME_ERROR, "ValueError");
}

static gsize
failures (struct loops *loops, const char *owner, const char *conversation, guint64 setting)
{
  g_autoptr (json_t) attempts = loops_attempts (loops, owner, conversation, setting);
  g_assert_cmpint (json_integer_value (json_object_get (attempts, "most")), ==, 3);
  return json_array_size (json_object_get (attempts, "failed"));
}

static void
test_of_whom (void)
{
  struct loops *loops = make (8, 8, 60000);
  fail (loops, "a", "c", 1);
  fail (loops, "a", "c", 1);
  g_assert_cmpuint (failures (loops, "a", "c", 1), ==, 2);
  g_assert_cmpuint (failures (loops, "b", "c", 1), ==, 0);
  g_assert_cmpuint (failures (loops, "a", "d", 1), ==, 0);
  g_assert_cmpuint (failures (loops, "a", "c", 2), ==, 0);
  g_assert_cmpuint (failures (loops, NULL, "c", 1), ==, 0);
  loops_unref (loops);
}

static void
test_what_counts (void)
{
  static const struct {
    AdderOutcome outcome;
    const char *type;
    gsize after;
  } rows[] = {
      {ADDER_OUTCOME_ERROR, "ValueError", 2},   {ADDER_OUTCOME_TIMEOUT, "Timeout", 2},
      {ADDER_OUTCOME_CRASHED, "Crashed", 2},    {ADDER_OUTCOME_REFUSED, "Refused", 2},
      {ADDER_OUTCOME_REFUSED, "Loop", 1},       {ADDER_OUTCOME_CANCELLED, "Cancelled", 1},
      {ADDER_OUTCOME_BUSY, "Busy", 1},          {ADDER_OUTCOME_FAILED, "Failed", 1},
      {ADDER_OUTCOME_APPROVAL_REQUIRED, "", 0}, {ADDER_OUTCOME_OK, "", 0},
      {ADDER_OUTCOME_CPU_LIMIT, "", 2},         {ADDER_OUTCOME_MEMORY_LIMIT, "", 2},
      {ADDER_OUTCOME_OUTPUT_LIMIT, "", 2},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct loops *loops = make (8, 8, 60000);
    fail (loops, "a", "c", 1);
    end_as (loops, "a", "c", 1, rows[i].outcome, rows[i].type);
    g_assert_cmpuint (failures (loops, "a", "c", 1), ==, rows[i].after);
    loops_unref (loops);
  }
}

/* The sandbox said nothing of its code. */
static void
test_without_report (void)
{
  const struct request_end end = {ADDER_OUTCOME_ERROR, NULL, NULL};
  struct loops *loops = make (8, 8, 60000);
  loops_ended (loops, "a", "c", 1, &end);
  g_assert_cmpuint (failures (loops, "a", "c", 1), ==, 0);
  loops_unref (loops);
}

/* Code that never ran, for want of a yes, has not succeeded; nor is whose nobody knows another's. */
static void
test_asked_first (void)
{
  const struct request_end end = {ADDER_OUTCOME_APPROVAL_REQUIRED, NULL, NULL};
  struct loops *loops = make (8, 8, 60000);
  fail (loops, NULL, "c", 1);
  loops_ended (loops, NULL, "c", 1, &end);
  g_assert_cmpuint (failures (loops, NULL, "c", 1), ==, 1);
  loops_unref (loops);
}

/* A run that a signal ended has no error of Python's: how it ended stands for one. */
static void
test_without_error (void)
{
  g_autoptr (json_t) attempt = json_pack ("{s:s}", "digest", "d");
  const struct request_end crashed = {ADDER_OUTCOME_CRASHED, NULL, attempt};
  const struct request_end late = {ADDER_OUTCOME_TIMEOUT, NULL, attempt};
  struct loops *loops = make (8, 8, 60000);
  loops_ended (loops, "a", "c", 1, &crashed);
  loops_ended (loops, "a", "c", 1, &crashed);
  loops_ended (loops, "a", "c", 1, &late);
  g_autoptr (json_t) attempts = loops_attempts (loops, "a", "c", 1);
  json_int_t keys[3];
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    keys[i] = json_integer_value (
        json_object_get (json_array_get (json_object_get (attempts, "failed"), i), "error"));
  g_assert_cmpint (keys[0], ==, keys[1]);
  g_assert_cmpint (keys[0], !=, keys[2]);
  loops_unref (loops);
}

static void
test_bounds (void)
{
  struct loops *loops = make (2, 3, 60000);
  for (int i = 0; i < 1000; i++)
    fail (loops, "a", "first", 1);
  g_assert_cmpuint (failures (loops, "a", "first", 1), <=, 32);
  /* One too many of an owner takes their own oldest, one too many in all the oldest of all. */
  fail (loops, "b", "other", 1);
  fail (loops, "a", "second", 1);
  fail (loops, "a", "third", 1);
  g_assert_cmpuint (failures (loops, "a", "first", 1), ==, 0);
  g_assert_cmpuint (failures (loops, "b", "other", 1), ==, 1);
  fail (loops, "c", "fourth", 1);
  g_assert_cmpuint (failures (loops, "b", "other", 1), ==, 0);
  g_assert_cmpuint (failures (loops, "a", "third", 1), ==, 1);
  loops_unref (loops);
}

static void
test_forgotten (void)
{
  struct loops *loops = make (8, 8, 20);
  fail (loops, "a", "c", 1);
  g_usleep (40 * 1000);
  g_assert_cmpuint (failures (loops, "a", "c", 1), ==, 0);
  loops_unref (loops);
}

static void
test_switched_off (void)
{
  const struct config config = {.loop_failures = 0};
  struct loops *loops = loops_new (&config);
  g_assert_null (loops_attempts (loops, "a", "c", 1));
  loops_unref (loops);
}

static void
test_error_keys (void)
{
  static const struct {
    const char *left, *right;
    gboolean same;
  } rows[] = {
      {"line 3", "line 17", TRUE},
      {"at 0x7f00aa", "at 0x1", TRUE},
      {"a  b\n c", "a b c", TRUE},
      {"no column 'a'", "no column 'b'", FALSE},
      {"", "x", FALSE},
      {"1.5 and 2", "22.75 and 1234567", TRUE},
      {"0x", "0", TRUE},
      {"issue #5", "issue #17", TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (loops_error_key ("E", rows[i].left) == loops_error_key ("E", rows[i].right), ==,
                     rows[i].same);
  g_assert_cmpuint (loops_error_key ("E", "m"), !=, loops_error_key ("F", "m"));
  /* So much of a message tells; what a program put behind it does not. */
  g_autofree char *most = g_strnfill (100000, 'x');
  g_autofree char *more = g_strconcat (most, "y", NULL);
  g_assert_cmpuint (loops_error_key ("E", most), ==, loops_error_key ("E", more));
}

UNIT_SUITE (policy_loops)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loops/of-whom", test_of_whom);
  g_test_add_func ("/loops/what-counts", test_what_counts);
  g_test_add_func ("/loops/without-report", test_without_report);
  g_test_add_func ("/loops/asked-first", test_asked_first);
  g_test_add_func ("/loops/without-error", test_without_error);
  g_test_add_func ("/loops/bounds", test_bounds);
  g_test_add_func ("/loops/forgotten", test_forgotten);
  g_test_add_func ("/loops/switched-off", test_switched_off);
  g_test_add_func ("/loops/error-keys", test_error_keys);
  return g_test_run ();
}
