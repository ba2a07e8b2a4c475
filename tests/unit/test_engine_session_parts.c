/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows without a sandbox: whose it is for now, the cells that it ran, names, limits of
 * a cell. */
#include <glib.h>
#include <string.h>

#include "common/json.h"
#include "engine/session/history.h"
#include "engine/session/session.h"
#include "engine/session/ticket_lock.h"
#include "suite.h"

/* Who waits is served in the order of coming, and who leaves holds up nobody. */
static void
test_ticket_lock (void)
{
  struct ticket_lock lock = {0};
  struct ticket tickets[3];
  struct interrupt interrupts[3];
  g_assert_true (ticket_lock_try (&lock));
  g_assert_false (ticket_lock_try (&lock));
  for (int i = 0; i < 3; i++) {
    g_assert_true (interrupt_init (&interrupts[i], -1, NULL));
    ticket_lock_enter (&lock, &tickets[i], &interrupts[i]);
  }
  ticket_lock_leave (&lock, &tickets[1]);
  ticket_lock_release (&lock);
  g_assert_true (tickets[0].served && !tickets[2].served);
  g_assert_cmpint (interrupt_wait_one (&interrupts[0], -1, 0, 0), ==, WAIT_WOKEN);
  g_assert_cmpint (interrupt_wait_one (&interrupts[2], -1, 0, 0), ==, WAIT_DEADLINE);
  g_assert_false (ticket_lock_try (&lock));
  ticket_lock_wake_all (&lock);
  g_assert_cmpint (interrupt_wait_one (&interrupts[2], -1, 0, 0), ==, WAIT_WOKEN);
  g_assert_false (tickets[2].served);
  ticket_lock_release (&lock);
  g_assert_true (tickets[2].served);
  ticket_lock_release (&lock);
  g_assert_true (ticket_lock_try (&lock));
  for (int i = 0; i < 3; i++)
    interrupt_clear (&interrupts[i]);
}

static void
add (struct history *history, guint64 number, const char *code)
{
  const struct history_cell cell = {
      .number = number, .code = g_strdup (code), .length = strlen (code), .outcome = ADDER_OUTCOME_OK};
  history_add (history, &cell);
}

static const json_t *
result_of (const json_t *history, gsize index)
{
  return json_object_get (json_array_get (json_object_get (history, "cells"), index), "result");
}

static void
test_history_results (void)
{
  struct history history, copy;
  history_init (&history, 4096, 400);
  for (guint64 number = 1; number <= 3; number++)
    add (&history, number, "1");
  history_keep_result (&history, 1, 0, "{\"a\": 1}");
  history_keep_result (&history, 2, 0, "{\"a\": 2}");
  history_copy (&history, &copy);
  /* Of another cell, of one that is gone, and of one with too many values. */
  history_keep_result (&history, 2, 7, "{\"a\": 9}");
  history_keep_result (&history, 9, 0, "{\"a\": 9}");
  history_keep_result (&history, 2, 0, "{\"a\": [0, 0, 0, 0, 0, 0]}");
  g_autoptr (json_t) before = history_to_json (&history, TRUE);
  g_assert_cmpint (json_integer_value (json_object_get (result_of (before, 1), "a")), ==, 2);
  /* The oldest makes room; the copy has it still. */
  history_keep_result (&history, 3, 0, "{\"a\": 33}");
  g_assert_cmpuint (history.result_bytes, <=, 400);
  g_autoptr (json_t) after = history_to_json (&history, TRUE);
  g_assert_true (json_is_null (result_of (after, 0)) && json_is_object (result_of (after, 2)));
  g_autoptr (json_t) copied = history_to_json (&copy, TRUE);
  g_assert_true (json_is_object (result_of (copied, 0)) && json_is_null (result_of (copied, 2)));
  history_limit_results (&history, 0);
  g_assert_cmpuint (history.result_bytes, ==, 0);
  history_clear (&history);
  history_clear (&copy);
  g_assert_cmpuint (copy.result_bytes, ==, 0);
}

static void
test_history (void)
{
  struct history history;
  g_autofree char *long_code = g_strnfill (3000, 'x');
  history_init (&history, 4096, 64);
  add (&history, 1, "a = 1");
  add (&history, 2, "b = 2");
  add (&history, 3, long_code);
  json_t *json = history_to_json (&history, FALSE);
  g_assert_cmpuint (json_array_size (json_object_get (json, "cells")), ==, 3);
  json_decref (json);

  /* The oldest make room, as many as it takes. */
  add (&history, 4, long_code);
  json = history_to_json (&history, FALSE);
  json_t *left = json_array_get (json_object_get (json, "cells"), 0);
  g_assert_cmpuint (json_array_size (json_object_get (json, "cells")), ==, 1);
  g_assert_cmpint (json_integer_value (json_object_get (left, "cell")), ==, 4);
  g_assert_cmpint (json_integer_value (json_object_get (json, "dropped")), ==, 3);
  json_decref (json);

  /* What has no room at all leaves none. */
  g_autofree char *too_long = g_strnfill (5000, 'x');
  add (&history, 5, too_long);
  g_assert_cmpuint (history.cells.length, ==, 0);
  g_assert_cmpuint (history.bytes, ==, 0);
  g_assert_cmpuint (history.dropped, ==, 5);
  history_clear (&history);
}

static void
test_names (void)
{
  static const struct {
    const char *name;
    gboolean good;
  } rows[] = {
      {"a", TRUE},
      {"Analysis_of-2026", TRUE},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TRUE},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", FALSE},
      {"", FALSE},
      {"a b", FALSE},
      {"a\n", FALSE},
      {"\xC3\xA4", FALSE},
      {"01a201c6-e864-7c69-9d53-6956a3ce7e12", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (session_check_name (rows[i].name, NULL), ==, rows[i].good);
}

static void
test_limits (void)
{
  const struct session session = {.limits = limits_default ()};
  struct limits limits = limits_maximum ();
  g_autoptr (GError) error = NULL;
  limits.value[LIMIT_WALL] = 7;
  g_assert_true (session_merge_limits (&session, &limits, 1u << LIMIT_WALL, &error));
  g_assert_cmpuint (limits.value[LIMIT_WALL], ==, 7);
  g_assert_cmpuint (limits.value[LIMIT_REPLY], ==, session.limits.value[LIMIT_REPLY]);
  g_assert_true (session_merge_limits (&session, &limits, 1u << LIMIT_MEMORY, &error));
  limits.value[LIMIT_MEMORY]++;
  g_assert_false (session_merge_limits (&session, &limits, 1u << LIMIT_MEMORY, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
}

UNIT_SUITE (engine_session_parts)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session-parts/order", test_ticket_lock);
  g_test_add_func ("/session-parts/history", test_history);
  g_test_add_func ("/session-parts/history-results", test_history_results);
  g_test_add_func ("/session-parts/names", test_names);
  g_test_add_func ("/session-parts/limits", test_limits);
  return g_test_run ();
}
