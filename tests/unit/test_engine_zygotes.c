/* SPDX-License-Identifier: Apache-2.0 */
/* Zygotes come and go: those that are old, those whose sandboxes crash, those that do not start, those that
 * are killed. Callers are served all the while, and no fault becomes a loop of imports. */
#include <glib.h>
#include <signal.h>
#include <string.h>

#include "run_support.h"
#include "suite.h"

/* Between two runs of many that only pass the time. */
#define PAUSE_US 10000

/* Runs that find the module loaded, and so were not served by a bare zygote. */
static void
expect_loaded (AdderEngine *engine, const char *name, int runs)
{
  for (int i = 0; i < runs; i++) {
    g_autoptr (json_t) result = run_in (engine, name, COUNT_SLOW, "ok", 0);
    g_assert_cmpstr (string_at (json_object_get (result, "value"), "text/plain"), ==, "1");
  }
}

/* Asks for runs until so many zygotes were started. */
static void
run_until_started (AdderEngine *engine, const char *name, json_int_t starts)
{
  gint64 deadline_us = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  while (pool_number (engine, "starts") < starts) {
    g_assert_cmpint (g_get_monotonic_time (), <, deadline_us);
    expect_loaded (engine, name, 1);
    g_usleep (PAUSE_US);
  }
}

static AdderRun *
start_until_end (AdderEngine *engine, const char *name)
{
  AdderRequest *request =
      adder_request_new ("import os, sys, time\n"
                         "while not os.path.exists(sys.prefix + '/end'): time.sleep(0.01)\n"
                         "print('ended')",
                         -1);
  AdderEvent event;
  adder_request_set_environment (request, name);
  AdderRun *run = adder_run_start (engine, request);
  adder_request_free (request);
  g_assert_true (adder_run_next (run, &event));
  g_assert_cmpint (event.kind, ==, ADDER_EVENT_STARTED);
  return run;
}

/* ---- rotation ---- */

struct rotation {
  const char *name, *settings;
};

static const struct rotation by_runs = {"by_runs", "[pool]\nparked = 2\nzygote_runs = 8\n"};
/* So long that the first is not too old before the test holds up the imports of the next. */
static const struct rotation by_age = {"by_age", "[pool]\nparked = 2\nzygote_age_ms = 5s\n"};

/* The next zygote does not come to the end of its imports, and nobody notices. When it does, and replaces the
 * old one, a run that the old one has under way goes on to its own end. */
static void
test_rotation (gconstpointer data)
{
  const struct rotation *row = data;
  g_autoptr (AdderEngine) engine = new_engine (row->settings);
  g_free (make_environment (row->name, "slow", SLOW));
  set_mark (row->name, "go", TRUE);
  json_decref (run_in (engine, row->name, "import slow", "ok", 0));
  AdderRun *lasting = start_until_end (engine, row->name);

  set_mark (row->name, "go", FALSE);
  run_until_started (engine, row->name, 2);
  expect_loaded (engine, row->name, 30);
  g_assert_cmpint (pool_number (engine, "starts"), ==, 2);
  g_assert_cmpint (pool_number (engine, "zygotes"), ==, 2);

  /* That a third is started says that the second has served. */
  set_mark (row->name, "go", TRUE);
  run_until_started (engine, row->name, 3);
  set_mark (row->name, "end", TRUE);
  g_autoptr (AdderResult) result = pull (lasting);
  adder_run_free (lasting);
  g_autoptr (json_t) ended = parse (result);
  g_assert_cmpstr (string_at (ended, "outcome"), ==, "ok");
  g_assert_cmpstr (string_at (ended, "stdout"), ==, "ended\n");

  /* The old ones go when the last of their runs has ended. */
  gint64 deadline_us = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  while (pool_number (engine, "zygotes") > 1) {
    g_assert_cmpint (g_get_monotonic_time (), <, deadline_us);
    g_usleep (PAUSE_US);
  }
}

/* A zygote that cannot start is tried again later and later, as long as the old one serves. */
static void
test_rotation_fails (void)
{
  static const char name[] = "broken_later";
  g_autoptr (AdderEngine) engine = new_engine ("[pool]\nparked = 2\nzygote_runs = 8\n");
  g_free (make_environment (
      name, "slow", "import os, sys\nif os.path.exists(os.path.join(sys.prefix, 'bad')): os._exit(3)\n"));
  json_decref (run_in (engine, name, "import slow", "ok", 0));
  set_mark (name, "bad", TRUE);
  run_until_started (engine, name, 2);
  gint64 before = g_get_monotonic_time ();
  run_until_started (engine, name, 6);
  /* A quarter of a second, a half, one, two. */
  g_assert_cmpint (g_get_monotonic_time () - before, >=, 3750 * 1000);

  set_mark (name, "bad", FALSE);
  run_until_started (engine, name, 8);
}

/* ---- crashes ---- */

/* A loop of crashes has the zygote replaced, and then only as often as takes a twentieth of the time. */
static void
test_crash_loop (void)
{
  static const char name[] = "crashing";
  g_autoptr (AdderEngine) engine = new_engine ("[pool]\nparked = 2\ncrash_budget = 3\n");
  g_free (make_environment (name, "slow", "import time\ntime.sleep(0.5)\n"));
  json_decref (run_in (engine, name, "import slow", "ok", 0));
  gint64 begin_us = g_get_monotonic_time (), passed_us = 0;
  for (int i = 0; i < 30 || passed_us < 4 * G_USEC_PER_SEC; i++) {
    json_decref (run_in (engine, name, "import ctypes; ctypes.string_at(0)", "crashed", 139));
    g_usleep (PAUSE_US);
    passed_us = g_get_monotonic_time () - begin_us;
  }
  g_assert_cmpint (pool_number (engine, "starts"), >=, 2);
  g_assert_cmpint (pool_number (engine, "starts"), <=, 2 + passed_us / (20 * G_USEC_PER_SEC / 2));
  expect_loaded (engine, name, 3);
}

/* ---- zygotes that are killed ---- */

/* Whose command line has NAME in it, of this process's children. */
static pid_t
zygote_of (const char *name)
{
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  pid_t found = 0;
  for (const char *task; !found && (task = g_dir_read_name (tasks));) {
    g_autofree char *path = g_strdup_printf ("/proc/self/task/%s/children", task);
    g_autofree char *text = NULL;
    if (!g_file_get_contents (path, &text, NULL, NULL))
      continue;
    g_auto (GStrv) children = g_strsplit (g_strchomp (text), " ", -1);
    for (char **child = children; *child && **child && !found; child++) {
      g_autofree char *file = g_strdup_printf ("/proc/%s/cmdline", *child);
      g_autofree char *line = NULL;
      gsize length = 0;
      if (g_file_get_contents (file, &line, &length, NULL) && memmem (line, length, name, strlen (name)))
        found = (pid_t)g_ascii_strtoll (*child, NULL, 10);
    }
  }
  return found;
}

static pid_t
kill_zygote (const char *name)
{
  pid_t zygote = zygote_of (name);
  g_assert_cmpint (zygote, >, 1);
  g_assert_cmpint (kill (zygote, SIGKILL), ==, 0);
  return zygote;
}

/* One that was handed a sandbox which was about to die says so; the next one waits. */
static void
run_until_ok (AdderEngine *engine, const char *name)
{
  AdderOutcome outcome = ADDER_OUTCOME_FAILED;
  for (int i = 0; i < 100 && outcome != ADDER_OUTCOME_OK; i++) {
    AdderRequest *request = adder_request_new (COUNT_SLOW, -1);
    adder_request_set_environment (request, name);
    g_autoptr (AdderResult) result = adder_run (engine, request);
    adder_request_free (request);
    outcome = adder_result_outcome (result);
    g_assert_true (outcome == ADDER_OUTCOME_OK || outcome == ADDER_OUTCOME_FAILED);
  }
  g_assert_cmpint (outcome, ==, ADDER_OUTCOME_OK);
}

/* Each is replaced, the first at once, the others later and later although each has served. */
static void
test_killed_again_and_again (void)
{
  g_autoptr (AdderEngine) engine = new_engine ("[pool]\nparked = 1\n");
  run_until_ok (engine, ENVIRONMENT);
  gint64 begin_us = g_get_monotonic_time ();
  for (int i = 0; i < 4; i++) {
    json_int_t starts = pool_number (engine, "starts");
    (void)kill_zygote (ENVIRONMENT);
    while (pool_number (engine, "starts") == starts)
      g_usleep (1000);
    run_until_ok (engine, ENVIRONMENT);
  }
  g_assert_cmpint (g_get_monotonic_time () - begin_us, >=, 1750 * 1000);
  g_assert_cmpint (pool_number (engine, "starts"), ==, 5);
}

static gpointer
run_slow (gpointer engine)
{
  return run_in (engine, "killed", "import slow; slow.__name__", "ok", 0);
}

/* While a zygote is away, the sandboxes of another go on serving. */
static void
test_killed_beside_another (void)
{
  g_autoptr (AdderEngine) engine = new_engine ("[pool]\nparked = 2\n");
  g_free (make_environment ("killed", "slow", SLOW));
  set_mark ("killed", "go", TRUE);
  expect (engine, new_request ("1"), "ok", 0);
  json_decref (run_in (engine, "killed", "import slow", "ok", 0));
  set_mark ("killed", "go", FALSE);
  pid_t zygote = kill_zygote ("killed");
  /* Until it is waited for, and so all its sandboxes are dead as well. */
  while (kill (zygote, 0) == 0)
    g_usleep (1000);
  GThread *waiting = g_thread_new ("waiting", run_slow, engine);
  for (int i = 0; i < 20; i++)
    expect (engine, new_request ("1"), "ok", 0);
  set_mark ("killed", "go", TRUE);
  json_decref (g_thread_join (waiting));
}

UNIT_SUITE (engine_zygotes)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  g_test_add_data_func ("/zygotes/rotation/runs", &by_runs, test_rotation);
  g_test_add_data_func ("/zygotes/rotation/age", &by_age, test_rotation);
  g_test_add_func ("/zygotes/rotation/fails", test_rotation_fails);
  g_test_add_func ("/zygotes/crash-loop", test_crash_loop);
  g_test_add_func ("/zygotes/killed/again", test_killed_again_and_again);
  g_test_add_func ("/zygotes/killed/beside-another", test_killed_beside_another);
  int r = g_test_run ();
  support_end ();
  return r;
}
