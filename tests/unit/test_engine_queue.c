/* SPDX-License-Identifier: Apache-2.0 */
/* Who is served next, and who may wait at all. */
#include <glib.h>

#include "engine/pool/queue.h"
#include "suite.h"

static gboolean
enter (struct queue *queue, struct queue_place *place, const char *owner)
{
  struct queue_place *displaced = place;
  place->owner = owner;
  gboolean entered = queue_enter (queue, place, &displaced);
  /* Set on success only. */
  g_assert_true (entered ? displaced == NULL : displaced == place);
  return entered;
}

static const char *
serve (struct queue *queue)
{
  struct queue_place *place = queue_first (queue);
  const char *owner = place->owner;
  queue_serve (queue, place);
  return owner;
}

static void
test_fair (void)
{
  struct queue *queue = queue_new (100);
  struct queue_place a[5], b[2], c;
  for (int i = 0; i < 5; i++)
    g_assert_true (enter (queue, &a[i], "a"));
  for (int i = 0; i < 2; i++)
    g_assert_true (enter (queue, &b[i], "b"));
  g_assert_cmpstr (serve (queue), ==, "a");
  g_assert_cmpstr (serve (queue), ==, "b");
  g_assert_true (enter (queue, &c, "c"));
  g_assert_cmpstr (serve (queue), ==, "a");
  g_assert_cmpstr (serve (queue), ==, "b");
  g_assert_cmpstr (serve (queue), ==, "c");
  for (int i = 0; i < 3; i++)
    g_assert_cmpstr (serve (queue), ==, "a");
  g_assert_cmpuint (queue_length (queue), ==, 0);
  queue_free (queue);
}

static void
test_bounded (void)
{
  struct queue *queue = queue_new (2);
  struct queue_place places[3];
  g_assert_true (enter (queue, &places[0], "a"));
  g_assert_true (enter (queue, &places[1], "b"));
  g_assert_false (enter (queue, &places[2], "c"));
  queue_leave (queue, &places[0]);
  g_assert_true (enter (queue, &places[2], "c"));
  g_assert_true (queue_first (queue) == &places[1]);
  g_assert_true (queue_next (&places[1]) == &places[2]);
  g_assert_null (queue_next (&places[2]));
  queue_free (queue);
}

static void
test_no_places (void)
{
  struct queue *queue = queue_new (0);
  struct queue_place place;
  g_assert_false (enter (queue, &place, "a"));
  g_assert_null (queue_first (queue));
  queue_free (queue);
}

/* An owner who comes again and again waits behind one who waited all the time, but is not held back for the
 * past. */
static void
test_newcomer (void)
{
  struct queue *queue = queue_new (10);
  struct queue_place a, b, again;
  enter (queue, &a, "a");
  g_assert_cmpstr (serve (queue), ==, "a");
  enter (queue, &b, "b");
  enter (queue, &again, "a");
  g_assert_cmpstr (serve (queue), ==, "b");
  g_assert_cmpstr (serve (queue), ==, "a");
  queue_free (queue);
}

/* Who gives up has not used their turn. */
static void
test_turns_that_were_not_taken (void)
{
  struct queue *queue = queue_new (10);
  struct queue_place a[5], b;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++)
      enter (queue, &a[i], "a");
    for (int i = 3; i > 0; i--)
      queue_leave (queue, &a[i]);
    queue_leave (queue, &a[0]);
  }
  enter (queue, &a[0], "a");
  enter (queue, &b, "b");
  enter (queue, &a[1], "a");
  g_assert_true (queue_first (queue) == &a[0]);
  g_assert_true (queue_next (&a[0]) == &b);
  g_assert_true (queue_next (&b) == &a[1]);
  queue_free (queue);
}

/* The newest of the owner who has most makes room, until nobody has two more than the newcomer. */
static void
test_full (void)
{
  struct queue *queue = queue_new (6);
  struct queue_place a[7], b[4], c[2], *displaced;
  for (int i = 0; i < 6; i++)
    g_assert_true (enter (queue, &a[i], "a"));
  a[6].owner = "a";
  g_assert_false (queue_enter (queue, &a[6], &displaced));

  for (int i = 0; i < 3; i++) {
    b[i].owner = "b";
    g_assert_true (queue_enter (queue, &b[i], &displaced));
    g_assert_true (displaced == &a[5 - i]);
    g_assert_cmpuint (queue_length (queue), ==, 6);
  }
  /* Three and three: neither gains from the other. */
  g_assert_false (enter (queue, &b[3], "b"));
  g_assert_false (enter (queue, &a[6], "a"));

  /* Of two who have as many, the one who came last. */
  c[0].owner = c[1].owner = "c";
  g_assert_true (queue_enter (queue, &c[0], &displaced));
  g_assert_true (displaced == &b[2]);
  g_assert_true (queue_enter (queue, &c[1], &displaced));
  g_assert_true (displaced == &a[2]);

  static const char *const order[] = {"a", "b", "c", "a", "b", "c"};
  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    g_assert_cmpstr (serve (queue), ==, order[i]);
  g_assert_null (queue_first (queue));
  queue_free (queue);
}

/* As many owners as places: each has one, and who comes next has to come again. */
static void
test_full_of_owners (void)
{
  struct queue *queue = queue_new (3);
  struct queue_place places[4];
  static const char *const owners[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 3; i++)
    g_assert_true (enter (queue, &places[i], owners[i]));
  g_assert_false (enter (queue, &places[3], owners[3]));
  queue_free (queue);
}

UNIT_SUITE (engine_queue)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/queue/fair", test_fair);
  g_test_add_func ("/queue/bounded", test_bounded);
  g_test_add_func ("/queue/no-places", test_no_places);
  g_test_add_func ("/queue/newcomer", test_newcomer);
  g_test_add_func ("/queue/turns-not-taken", test_turns_that_were_not_taken);
  g_test_add_func ("/queue/full", test_full);
  g_test_add_func ("/queue/full-of-owners", test_full_of_owners);
  return g_test_run ();
}
