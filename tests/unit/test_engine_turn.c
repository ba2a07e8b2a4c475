/* SPDX-License-Identifier: Apache-2.0 */
/* What a session keeps account of without a sandbox: turns, the cells that it ran, names, limits of a cell.
 */
#include <glib.h>
#include <string.h>

#include "engine/history.h"
#include "engine/session.h"
#include "engine/turn.h"
#include "suite.h"

/* Who waits is served in the order of coming, and who leaves holds up nobody. */
static void
test_turn (void)
{
  struct turn turn = {0};
  struct turn_place places[3];
  struct interrupt interrupts[3];
  g_assert_true (turn_try (&turn));
  g_assert_false (turn_try (&turn));
  for (int i = 0; i < 3; i++) {
    g_assert_true (interrupt_init (&interrupts[i], -1, NULL));
    turn_enter (&turn, &places[i], &interrupts[i]);
  }
  turn_leave (&turn, &places[1]);
  turn_pass (&turn);
  g_assert_true (places[0].served && !places[2].served);
  g_assert_cmpint (interrupt_wait_one (&interrupts[0], -1, 0, 0), ==, WAIT_WOKEN);
  g_assert_cmpint (interrupt_wait_one (&interrupts[2], -1, 0, 0), ==, WAIT_DEADLINE);
  g_assert_false (turn_try (&turn));
  turn_wake_all (&turn);
  g_assert_cmpint (interrupt_wait_one (&interrupts[2], -1, 0, 0), ==, WAIT_WOKEN);
  g_assert_false (places[2].served);
  turn_pass (&turn);
  g_assert_true (places[2].served);
  turn_pass (&turn);
  g_assert_true (turn_try (&turn));
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

static void
test_history (void)
{
  struct history history;
  g_autofree char *long_code = g_strnfill (3000, 'x');
  history_init (&history, 4096);
  add (&history, 1, "a = 1");
  add (&history, 2, "b = 2");
  add (&history, 3, long_code);
  json_t *json = history_to_json (&history);
  g_assert_cmpuint (json_array_size (json_object_get (json, "cells")), ==, 3);
  json_decref (json);

  /* The oldest make room, as many as it takes. */
  add (&history, 4, long_code);
  json = history_to_json (&history);
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

UNIT_SUITE (engine_turn)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/turn/order", test_turn);
  g_test_add_func ("/turn/history", test_history);
  g_test_add_func ("/turn/names", test_names);
  g_test_add_func ("/turn/limits", test_limits);
  return g_test_run ();
}
