/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of containers, against a program that stands in for the launcher (container_program.py): what is
 * kept ready, what is used once, what happens to containers that die, hang or lie, and what there is when
 * there are none. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "library/library.h"
#include "run_support.h"
#include "suite.h"
#include "tests-dir.h"

#define SETTINGS "[environment]\ndefault = system\n[container]\nparked = 2\nstart_ms = %s\n"
#define WAIT_US  (30 * G_USEC_PER_SEC)

struct bed {
  char *directory; /* of the program, and what it notes */
  AdderEngine *engine;
};

static void
write_in (const struct bed *bed, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (bed->directory, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
copy_in (const struct bed *bed, const char *name, const char *from)
{
  g_autofree char *path = g_build_filename (TESTS_DIR, from, NULL);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  write_in (bed, name, text);
}

/* A busy host may take long to start a program, but there are those that nothing comes of. */
static char *
settings_for (const char *mode)
{
  static const char *const endless[] = {"silent", "deaf", NULL};
  return g_strdup_printf (SETTINGS, g_strv_contains (endless, mode) ? "2s" : "10min");
}

static void
make_bed (struct bed *bed, gconstpointer mode)
{
  g_autofree char *settings = settings_for (mode);
  bed->directory = g_build_filename (scratch, "bed-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (bed->directory));
  copy_in (bed, "adder-container", "unit/container_program.py");
  copy_in (bed, "wire.h", "../src/runner/wire.h");
  write_in (bed, "mode", mode);
  write_in (bed, "log", "");
  g_autofree char *program = g_build_filename (bed->directory, "adder-container", NULL);
  g_chmod (program, 0755);
  bed->engine = new_engine (settings);
  struct host *host = bed->engine->engine->host;
  g_free (host->container_launcher);
  host->container_launcher = g_steal_pointer (&program);
}

static void
clear_bed (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  adder_engine_free (bed->engine);
  g_free (bed->directory);
}

/* How often the program noted WHAT; the last number that it noted with it. */
static guint
count_noted (const struct bed *bed, const char *what, int *ret_last)
{
  g_autofree char *path = g_build_filename (bed->directory, "log", NULL);
  g_autofree char *text = NULL;
  guint count = 0;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    if (!g_str_has_prefix (*line, what))
      continue;
    count++;
    if (ret_last)
      *ret_last = (int)g_ascii_strtoll (*line + strlen (what), NULL, 10);
  }
  return count;
}

static void
await_noted (const struct bed *bed, const char *what, guint most)
{
  gint64 deadline_us = g_get_monotonic_time () + WAIT_US;
  while (count_noted (bed, what, NULL) < most) {
    g_assert_cmpint (g_get_monotonic_time (), <, deadline_us);
    g_usleep (5000);
  }
}

static void
await_parked (const struct bed *bed, json_int_t parked)
{
  gint64 deadline_us = g_get_monotonic_time () + WAIT_US;
  while (pool_number (bed->engine, "parked") != parked) {
    g_assert_cmpint (g_get_monotonic_time (), <, deadline_us);
    g_usleep (5000);
  }
}

static AdderRequest *
ask (const char *code, const char *kind, const char *profile)
{
  AdderRequest *request = adder_request_new (code, -1);
  adder_request_set_isolation (request, kind);
  adder_request_set_profile (request, profile);
  return request;
}

/* A run that insists on a container. */
static json_t *
run_contained (const struct bed *bed, const char *code, const char *outcome, int exit_code)
{
  return run (bed->engine, ask (code, "container", "container"), outcome, exit_code);
}

static const char *
backend_of (const json_t *result)
{
  return string_at (json_object_get (result, "isolation"), "backend");
}

static gboolean
is_alive (int pid)
{
  return kill (pid, 0) == 0;
}

/* ---- one after the other ---- */

static void
test_used_once (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  g_autoptr (json_t) first = run_contained (bed, "import os; print(os.getppid())", "ok", 0);
  g_autoptr (json_t) second = run_contained (bed, "import os; print(os.getppid())", "ok", 0);
  g_assert_cmpstr (string_at (first, "stdout"), !=, string_at (second, "stdout"));
  g_assert_cmpstr (backend_of (first), ==, "container");
  const json_t *container = json_object_get (json_object_get (first, "isolation"), "container");
  g_assert_cmpstr (string_at (container, "engine"), ==, "docker");
  g_assert_cmpstr (string_at (container, "digest"), ==, "sha256:1");
  g_assert_true (json_is_null (json_object_get (container, "runtime")));
  await_noted (bed, "removed ", 2);
  await_noted (bed, "swept", 1);
  await_parked (bed, 2);
  g_assert_false (is_alive (atoi (string_at (first, "stdout"))));
  g_assert_cmpuint (count_noted (bed, "started ", NULL) - count_noted (bed, "removed ", NULL), ==, 2);
}

/* With the engine all go, also those that are parked. */
static void
test_closed (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  json_decref (run_contained (bed, "1", "ok", 0));
  await_parked (bed, 2);
  g_clear_pointer (&bed->engine, adder_engine_free);
  g_assert_cmpuint (count_noted (bed, "started ", NULL), ==, count_noted (bed, "removed ", NULL));
}

/* One that is removed from outside while nobody has it is replaced. */
static void
test_replaced (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  int last = 0;
  json_decref (run_contained (bed, "1", "ok", 0));
  await_parked (bed, 2);
  guint started = count_noted (bed, "started ", &last);
  g_assert_cmpint (kill (last, SIGKILL), ==, 0);
  await_noted (bed, "started ", started + 1);
  await_parked (bed, 2);
  json_decref (run_contained (bed, "1", "ok", 0));
}

/* And one that a run has is that run's end. */
static void
test_removed_in_a_run (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  g_autoptr (json_t) result =
      run_contained (bed, "import os; os.kill(os.getppid(), 9); os.kill(os.getpid(), 9)", "failed", 125);
  g_assert_nonnull (strstr (error_at (result, "message"), "the container of the run ended"));
  json_decref (run_contained (bed, "1", "ok", 0));
}

static void
test_timeout (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  int container = 0;
  /* On a busy machine the time may be over before the code has said where it is. */
  for (guint64 wall_ms = 1500; container == 0; wall_ms *= 2) {
    g_assert_cmpuint (wall_ms, <, 30000);
    AdderRequest *request =
        ask ("import os, time; print(os.getppid(), flush=True); time.sleep(60)", "container", "container");
    set_limit (request, "wall_ms", wall_ms);
    guint removed = count_noted (bed, "removed ", NULL);
    g_autoptr (json_t) result = run (bed->engine, request, "timeout", 124);
    await_noted (bed, "removed ", removed + 1);
    container = atoi (string_at (result, "stdout"));
  }
  g_assert_false (is_alive (container));
}

/* What was asked for last is what is kept ready. */
static void
test_specs (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  json_decref (run_contained (bed, "1", "ok", 0));
  await_parked (bed, 2);
  AdderRequest *request = ask ("1", "container", "container");
  set_limit (request, "memory_bytes", 300 * MIB);
  expect (bed->engine, request, "ok", 0);
  await_noted (bed, "removed ", 4);
  await_parked (bed, 2);
  int last = 0;
  count_noted (bed, "ordered ", &last);
  g_assert_cmpint (last, ==, (int)(300 * MIB));
}

/* Another image: what is parked is of the old one. */
static void
test_new_image (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  json_decref (run_contained (bed, "1", "ok", 0));
  await_parked (bed, 2);
  guint started = count_noted (bed, "started ", NULL);
  g_autofree char *stamp = g_build_filename (g_getenv ("ADDER_STATE_DIR"), "container-image", NULL);
  g_mkdir_with_parents (g_getenv ("ADDER_STATE_DIR"), 0755);
  g_assert_true (g_file_set_contents (stamp, "1", -1, NULL));
  json_decref (run_contained (bed, "1", "ok", 0));
  await_noted (bed, "started ", started + 3);
  await_noted (bed, "removed ", started + 1);
  await_parked (bed, 2);
}

static void
test_warning (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  g_autoptr (json_t) result = run_contained (bed, "1", "ok", 0);
  const json_t *warnings = json_object_get (result, "warnings");
  g_assert_cmpuint (json_array_size (warnings), ==, 1);
  g_assert_cmpstr (json_string_value (json_array_get (warnings, 0)), ==, "the image is old");
}

/* ---- a directory of the host ---- */

static AdderRequest *
ask_in (const char *directory, const char *mode, const char *kind)
{
  AdderRequest *request = ask ("print(6 * 7)", kind, "container");
  int fd = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_autoptr (GError) error = NULL;
  adder_request_set_workdir (request, fd, directory, mode, &error);
  g_assert_no_error (error);
  close (fd);
  return request;
}

/* Which the container says that it has, as "place" does. */
static char *
make_place (const struct bed *bed)
{
  char *place = g_build_filename (bed->directory, "place-of,a:caller", NULL);
  g_assert_cmpint (g_mkdir (place, 0755), ==, 0);
  write_in (bed, "place", place);
  return place;
}

/* One container for one directory: it is not kept for anybody, and others are as they were. */
static void
test_bind_mounted (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  g_autofree char *place = make_place (bed);
  g_autoptr (json_t) result = run (bed->engine, ask_in (place, "rw", "container"), "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, "42\n");
  g_assert_cmpstr (backend_of (result), ==, "container");
  g_autofree char *bound = g_strconcat ("bind write ", place, NULL);
  g_assert_cmpuint (count_noted (bed, geteuid () == 0 ? "bind mount None" : bound, NULL), ==, 1);
  await_noted (bed, "removed ", 1);
  g_assert_cmpint (pool_number (bed->engine, "parked"), ==, 0);
  json_decref (run_contained (bed, "1", "ok", 0));
  await_parked (bed, 2);
  g_assert_cmpuint (count_noted (bed, "bind ", NULL), ==, 1);
}

/* No code is handed to a container that has another directory, or that could write to what it may read. A run
 * that insists on none is in a sandbox of the host's, which needs no path. */
static void
test_bind_mounted_wrongly (struct bed *bed, gconstpointer mode)
{
  gboolean other = g_str_equal (mode, "other-directory");
  const char *wanted = other ? "rw" : "read";
  g_autofree char *place = make_place (bed);
  g_autoptr (json_t) result = run (bed->engine, ask_in (place, wanted, "container"), "failed", 125);
  g_assert_nonnull (
      strstr (error_at (result, "message"), other ? "another directory than" : "bind-mounted read-only"));
  g_assert_cmpstr (string_at (result, "stdout"), ==, "");
  g_autoptr (json_t) native = run (bed->engine, ask_in (place, wanted, NULL), "ok", 0);
  g_assert_cmpstr (backend_of (native), ==, "native");
  json_decref (run_contained (bed, "1", "ok", 0));
}

/* What needs mounts of a sandbox's own, and what no engine shall bind. */
static void
test_bind_mounted_beyond (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  g_autofree char *place = make_place (bed);
  g_autoptr (json_t) review = run (bed->engine, ask_in (place, "review", "container"), "refused", 126);
  g_assert_nonnull (strstr (error_at (review, "message"), "kept apart"));
  g_autoptr (json_t) native = run (bed->engine, ask_in (place, "overlay", NULL), "ok", 0);
  g_assert_cmpstr (backend_of (native), ==, "native");
  if (geteuid () != 0) {
    g_autoptr (json_t) kernel =
        run (bed->engine, ask_in ("/proc/self/fd", "read", "container"), "refused", 126);
    g_assert_nonnull (strstr (error_at (kernel, "message"), "the kernel's own"));
  }
  g_assert_cmpuint (count_noted (bed, "ordered ", NULL), ==, 0);
}

/* ---- none ---- */

/* A run that can do without has a sandbox, and is told; one that insists fails, and nothing is left. */
static void
test_none (struct bed *bed, gconstpointer mode)
{
  gboolean none = g_str_equal (mode, "has-none");
  g_autoptr (json_t) native = run (bed->engine, ask ("print(1)", NULL, "container"), "ok", 0);
  g_assert_cmpstr (string_at (native, "stdout"), ==, "1\n");
  g_assert_cmpstr (backend_of (native), ==, "native");
  const json_t *warnings = json_object_get (native, "warnings");
  g_assert_cmpuint (json_array_size (warnings), ==, 1);
  const char *warning = json_string_value (json_array_get (warnings, 0));
  g_assert_nonnull (strstr (warning, none ? "no engine answers: start one" : "container"));

  g_autoptr (json_t) result = run_contained (bed, "1", none ? "refused" : "failed", none ? 126 : 125);
  g_assert_nonnull (
      strstr (error_at (result, "message"), none ? "no engine answers: start one" : "container"));
  if (none)
    json_decref (run (bed->engine, ask ("1", NULL, "container"), "ok", 0));
  g_clear_pointer (&bed->engine, adder_engine_free);
  g_assert_cmpuint (count_noted (bed, "started ", NULL), ==, count_noted (bed, "removed ", NULL));
}

/* What its launcher may have asked the engine for before it was killed is removed by another. */
static void
test_launcher_killed (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  json_decref (run_contained (bed, "1", "failed", 125));
  guint killed = count_noted (bed, "killed adder-", NULL);
  g_assert_cmpuint (killed, >, 0);
  await_noted (bed, "took away adder-", killed);
}

/* What failed for a while works again. */
static void
test_comes_back (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  json_decref (run (bed->engine, ask ("1", NULL, "container"), "ok", 0));
  write_in (bed, "mode", "good");
  gint64 deadline_us = g_get_monotonic_time () + WAIT_US;
  for (gboolean back = FALSE; !back;) {
    g_autoptr (json_t) result = run (bed->engine, ask ("1", NULL, "container"), "ok", 0);
    back = g_strcmp0 (backend_of (result), "container") == 0;
    g_assert_cmpint (g_get_monotonic_time (), <, deadline_us);
  }
}

/* What a container has not. */
static void
test_beyond (struct bed *bed, G_GNUC_UNUSED gconstpointer mode)
{
  AdderRequest *request = ask ("print(1)", NULL, "container");
  set_limit (request, "memory_bytes", 64 * MIB);
  g_autoptr (json_t) native = run (bed->engine, request, "ok", 0);
  g_assert_cmpstr (backend_of (native), ==, "native");
  request = ask ("print(1)", "container", NULL);
  set_limit (request, "cpu_percent", 24);
  g_autoptr (json_t) slow = run (bed->engine, request, "refused", 126);
  g_assert_nonnull (strstr (error_at (slow, "message"), "cpu_percent"));
  request = ask ("print(1)", "container", NULL);
  adder_request_set_environment (request, "shell");
  g_autoptr (json_t) refused = run (bed->engine, request, "refused", 126);
  g_assert_nonnull (strstr (error_at (refused, "message"), "command lines"));
  request = ask ("print(1)", "process", "container");
  g_autoptr (json_t) process = run (bed->engine, request, "ok", 0);
  g_assert_cmpstr (backend_of (process), ==, "native");
  g_assert_cmpuint (count_noted (bed, "ordered ", NULL), ==, 0);
}

static const struct {
  const char *path, *mode;
  void (*test) (struct bed *bed, gconstpointer mode);
} rows[] = {
    {"used-once", "good", test_used_once},
    {"closed", "good", test_closed},
    {"replaced", "good", test_replaced},
    {"removed-in-a-run", "good", test_removed_in_a_run},
    {"timeout", "good", test_timeout},
    {"specs", "good", test_specs},
    {"new-image", "good", test_new_image},
    {"warning", "old", test_warning},
    {"beyond", "good", test_beyond},
    {"bind", "good", test_bind_mounted},
    {"bind/another", "other-directory", test_bind_mounted_wrongly},
    {"bind/writable", "good", test_bind_mounted_wrongly},
    {"bind/beyond", "good", test_bind_mounted_beyond},
    {"comes-back/has-none", "has-none", test_comes_back},
    {"launcher-killed", "killed", test_launcher_killed},
    {"comes-back/fails", "fails", test_comes_back},
    {"none/has-none", "has-none", test_none},
    {"none/fails", "fails", test_none},
    {"none/dies", "dies", test_none},
    {"none/silent", "silent", test_none},
    {"none/lies", "lies", test_none},
    {"none/no-process", "no-process", test_none},
    {"none/deaf", "deaf", test_none},
    {"none/refuses", "refuses", test_none},
    {"none/hangs-up", "hangs-up", test_none},
    {"none/dies-parking", "dies-parking", test_none},
};

UNIT_SUITE (engine_containers)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strconcat ("/engine/containers/", rows[i].path, NULL);
    g_test_add (path, struct bed, rows[i].mode, make_bed, rows[i].test, clear_bed);
  }
  int failed = g_test_run ();
  support_end ();
  return failed;
}
