/* SPDX-License-Identifier: Apache-2.0 */
/* What may run at once, by number and by memory, and who may overtake whom. */
#include <glib.h>

#include "engine/pool/budget.h"
#include "suite.h"

#define MIB    ((guint64)1 << 20)
#define PARKED BUDGET_PARKED_BYTES

static void
park (struct budget *budget, guint count)
{
  for (guint i = 0; i < count; i++)
    budget_park (budget, PARKED);
}

static enum budget_answer
ask (const struct budget *budget, guint64 bytes, guint64 spare)
{
  struct budget_round round = {.budget = budget};
  struct budget_claim claim = {.bytes = bytes};
  return budget_ask (&round, &claim, spare);
}

static void
test_memory (void)
{
  struct budget budget = {.max_running = 100, .max_bytes = 1000 * MIB};
  g_assert_true (budget_fits_alone (&budget, 1000 * MIB));
  g_assert_false (budget_fits_alone (&budget, 1000 * MIB + 1));
  park (&budget, 2);
  /* The share of the sandbox that is taken is part of the run's. */
  g_assert_cmpint (ask (&budget, 1000 * MIB - PARKED, PARKED), ==, BUDGET_FITS);
  g_assert_cmpint (ask (&budget, 1000 * MIB - PARKED + 1, PARKED), ==, BUDGET_SHORT);
  g_assert_cmpint (ask (&budget, 1000 * MIB - PARKED, 0), ==, BUDGET_SHORT);
  g_assert_cmpint (ask (&budget, 1, 2 * PARKED), ==, BUDGET_FITS);

  budget_run (&budget, PARKED, 600 * MIB);
  g_assert_cmpint (ask (&budget, 400 * MIB, PARKED), ==, BUDGET_FITS);
  g_assert_cmpint (ask (&budget, 400 * MIB + 1, PARKED), ==, BUDGET_SHORT);
  budget_release (&budget, 1, 600 * MIB, PARKED);
  g_assert_cmpint (ask (&budget, 1000 * MIB, 0), ==, BUDGET_FITS);
  g_assert_cmpuint (budget.running + budget.running_bytes + budget.parked_bytes, ==, 0);
}

static void
test_number (void)
{
  struct budget budget = {.max_running = 2, .max_bytes = 1000 * MIB};
  park (&budget, 3);
  budget_run (&budget, PARKED, MIB);
  g_assert_cmpint (ask (&budget, MIB, PARKED), ==, BUDGET_FITS);
  budget_run (&budget, PARKED, MIB);
  g_assert_cmpint (ask (&budget, MIB, PARKED), ==, BUDGET_END);
}

static void
test_parking (void)
{
  struct budget budget = {.max_running = 100, .max_bytes = 80 * PARKED};
  guint parked = 0;
  for (; budget_may_park (&budget, PARKED, 0); parked++)
    budget_park (&budget, PARKED);
  g_assert_cmpuint (parked, ==, 20); /* a quarter */
  budget_release (&budget, 0, 0, 10 * PARKED);
  budget_run (&budget, PARKED, 70 * PARKED);
  g_assert_true (budget_may_park (&budget, PARKED, 0));
  /* What callers are about to have is not parked away. */
  g_assert_false (budget_may_park (&budget, PARKED, PARKED));
  budget_park (&budget, PARKED);
  g_assert_false (budget_may_park (&budget, PARKED, 0));
}

/* One that needs much is overtaken as often as sandboxes may run at once; then what is free is kept. */
static void
test_overtaking (void)
{
  struct budget budget = {.max_running = 3, .max_bytes = 1000 * MIB};
  struct budget_claim large = {.bytes = 900 * MIB}, larger = {.bytes = 950 * MIB},
                      small = {.bytes = 100 * MIB};
  park (&budget, 20);
  budget_run (&budget, PARKED, 200 * MIB);
  for (int i = 0; i < 3; i++) {
    struct budget_round round = {.budget = &budget};
    g_assert_cmpint (budget_ask (&round, &large, PARKED), ==, BUDGET_SHORT);
    g_assert_cmpint (budget_ask (&round, &larger, PARKED), ==, BUDGET_SHORT);
    g_assert_cmpint (budget_ask (&round, &small, PARKED), ==, BUDGET_FITS);
    budget_note_served (&round);
    budget_run (&budget, PARKED, small.bytes);
    budget_release (&budget, 1, small.bytes, 0);
  }
  g_assert_cmpuint (large.overtaken, ==, 3);
  g_assert_cmpuint (larger.overtaken, ==, 0); /* one at a time is enough to be kept waiting */
  struct budget_round round = {.budget = &budget};
  g_assert_cmpint (budget_ask (&round, &large, PARKED), ==, BUDGET_END);

  /* Room now, but no sandbox yet: those behind do not take it away. */
  budget_release (&budget, 1, 200 * MIB, budget.parked_bytes);
  round = (struct budget_round){.budget = &budget};
  g_assert_cmpint (budget_ask (&round, &large, 0), ==, BUDGET_FITS);
  g_assert_true (budget_is_due (&budget, &large));
  budget_reserve (&round, &large);
  g_assert_cmpint (budget_ask (&round, &larger, 0), ==, BUDGET_SHORT);
  g_assert_cmpint (budget_ask (&round, &small, 0), ==, BUDGET_FITS);
  budget_reserve (&round, &small);
  g_assert_cmpint (budget_ask (&round, &small, 0), ==, BUDGET_SHORT);
}

UNIT_SUITE (engine_budget)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/budget/memory", test_memory);
  g_test_add_func ("/budget/number", test_number);
  g_test_add_func ("/budget/parking", test_parking);
  g_test_add_func ("/budget/overtaking", test_overtaking);
  return g_test_run ();
}
