/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, rollbacks and branches of sessions, through the public API. What goes on in a branch itself is
 * in test_engine_branch.c. */
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "run_support.h"
#include "session_calls.h"
#include "suite.h"

#define SETTINGS                                                                                             \
  "[pool]\nparked = 2\n[sessions]\nmax_sessions_per_owner = 12\nmax_checkpoints = 3\n"                       \
  "interrupt_grace_ms = 60s\n"

static AdderEngine *engine;

/* ---- help ---- */

static json_t *
to_json (char *text, GError *error)
{
  g_assert_no_error (error);
  json_t *root = json_parse_object (text, strlen (text), "a session", &error);
  g_assert_no_error (error);
  g_free (text);
  return root;
}

static void
begin (const char *name)
{
  g_autoptr (GError) error = NULL;
  AdderRequest *options = new_request ("");
  g_free (adder_session_new (engine, options, name, &error));
  g_assert_no_error (error);
  adder_request_free (options);
}

static void
end (const char *name)
{
  g_autoptr (GError) error = NULL;
  called_session_end (engine, NULL, name, &error);
  g_assert_no_error (error);
}

static json_t *
cell_in (AdderEngine *where, const char *session, const char *code, const char *outcome, int exit_code)
{
  AdderRequest *request = adder_request_new (code, -1);
  adder_request_set_session (request, session, TRUE);
  return run (where, request, outcome, exit_code);
}

static void
cell (const char *session, const char *code, const char *output)
{
  g_autoptr (json_t) result = cell_in (engine, session, code, "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, output);
}

static json_t *
show (const char *session)
{
  GError *error = NULL;
  char *text = called_session_show (engine, NULL, session, &error);
  return to_json (text, error);
}

static char *
checkpoint (const char *session, const char *name)
{
  GError *error = NULL;
  char *text = called_session_checkpoint (engine, NULL, session, name, &error);
  g_autoptr (json_t) made = to_json (text, error);
  g_assert_cmpstr (string_at (made, "name"), ==, name);
  return g_strdup (string_at (made, "checkpoint_id"));
}

static void
roll_back (const char *session, const char *to)
{
  g_autoptr (GError) error = NULL;
  called_session_rollback (engine, NULL, session, to, &error);
  g_assert_no_error (error);
}

/* The ids of COUNT branches; the array is the caller's. */
static GPtrArray *
branch (const char *session, const char *from, guint count)
{
  GError *error = NULL;
  GPtrArray *ids = g_ptr_array_new_with_free_func (g_free);
  char *text = called_session_branch (engine, NULL, session, from, count, &error);
  g_autoptr (json_t) made = to_json (text, error);
  g_autoptr (json_t) parent = show (session);
  json_t *list = json_object_get (made, "sessions"), *one;
  gsize index;
  json_array_foreach (list, index, one)
  {
    g_assert_cmpstr (string_at (one, "parent"), ==, string_at (parent, "session_id"));
    g_assert_cmpstr (string_at (one, "state"), ==, "idle");
    g_ptr_array_add (ids, g_strdup (string_at (one, "session_id")));
  }
  g_assert_cmpuint (ids->len, ==, count);
  return ids;
}

static guint
living (void)
{
  g_autofree char *text = adder_engine_status_json (engine);
  g_autoptr (json_t) status = json_parse_object (text, strlen (text), "the status", NULL);
  return (guint)json_integer_value (json_object_get (json_object_get (status, "sessions"), "live"));
}

/* ---- tests ---- */

static void
test_rollback (void)
{
  begin ("a");
  cell ("a", "x = [1]; open('f', 'w').write('one'); n = iter(range(9)); next(n)", "");
  g_autofree char *id = checkpoint ("a", "before");
  for (int i = 0; i < 3; i++) {
    cell ("a", "x.append(2); print(x, next(n), open('f').read())", "[1, 2] 1 one\n");
    cell ("a", "open('f', 'w').write('two'); open('g', 'w').close(); del x", "");
    roll_back ("a", i ? id : "before");
    cell ("a", "import os; print(x, os.listdir('/work'), open('f').read())", "[1] ['f'] one\n");
    roll_back ("a", id);
  }
  /* History and numbers are those of then. */
  g_autoptr (json_t) shown = show ("a");
  g_assert_cmpint (json_integer_value (json_object_get (shown, "cells")), ==, 1);
  json_t *checkpoints = json_object_get (shown, "checkpoints");
  g_assert_cmpuint (json_array_size (checkpoints), ==, 1);
  g_assert_cmpstr (string_at (json_array_get (checkpoints, 0), "checkpoint_id"), ==, id);
  g_autofree char *history = called_session_history (engine, NULL, "a", NULL);
  g_assert_null (strstr (history, "append"));

  /* Files that were there are not a cell's own. */
  g_autoptr (json_t) result = cell_in (engine, "a", "open('h', 'w').write('x')", "ok", 0);
  json_t *files = json_object_get (result, "files");
  g_assert_cmpuint (json_array_size (files), ==, 1);
  g_assert_cmpstr (string_at (json_array_get (files, 0), "name"), ==, "h");

  g_autoptr (GError) error = NULL;
  g_assert_false (called_session_rollback (engine, NULL, "a", "after", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_clear_error (&error);
  called_session_forget (engine, NULL, "a", "before", &error);
  g_assert_no_error (error);
  g_assert_false (called_session_rollback (engine, NULL, "a", id, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  cell ("a", "print(x)", "[1]\n");
  end ("a");
}

static void
test_branches (void)
{
  begin ("a");
  cell ("a", "import random, os; x = []; open('f', 'w').write('f')", "");
  g_free (checkpoint ("a", "then"));
  cell ("a", "x.append('now')", "");
  g_autoptr (GPtrArray) now = branch ("a", NULL, 7), then = branch ("a", "then", 3);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < 10; i++) {
    const char *id = i < 7 ? now->pdata[i] : then->pdata[i - 7];
    g_autofree char *code = g_strdup_printf ("x.append(%u); open('f', 'a').write('%u')", i, i);
    g_autoptr (json_t) result = cell_in (engine, id, code, "ok", 0);
    g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 1);
    g_assert_cmpint (json_integer_value (json_object_get (json_object_get (result, "session"), "cell")), ==,
                     i < 7 ? 3 : 2);
    g_autoptr (json_t) drawn = cell_in (engine, id, "print(random.random())", "ok", 0);
    g_assert_true (g_hash_table_add (seen, g_strdup (string_at (drawn, "stdout"))));
  }
  for (guint i = 0; i < 10; i++) {
    g_autofree char *output = g_strdup_printf (i < 7 ? "['now', %u] f%u\n" : "[%u] f%u\n", i, i);
    cell (i < 7 ? now->pdata[i] : then->pdata[i - 7], "print(x, open('f').read())", output);
  }
  cell ("a", "print(x, open('f').read())", "['now'] f\n");

  /* An eleventh and twelfth and thirteenth would be too many: none of them is made, and nobody ends for them.
   */
  g_autoptr (GError) error = NULL;
  g_assert_null (called_session_branch (engine, NULL, "a", NULL, 2, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, "max_sessions_per_owner"));
  g_assert_cmpuint (living (), ==, 11);

  /* One that crashes says so, and takes nobody along; nor does the first. */
  json_decref (cell_in (engine, now->pdata[2], "import ctypes; ctypes.string_at(0)", "crashed", 139));
  g_autoptr (json_t) crashed = show (now->pdata[2]);
  g_assert_nonnull (strstr (string_at (crashed, "reason"), "it crashed (SIGSEGV) in cell 6"));
  end ("a");
  cell (now->pdata[0], "print(x)", "['now', 0]\n");
  cell (then->pdata[0], "print(x)", "[7]\n");

  /* Branches have checkpoints and branches of their own. */
  g_free (checkpoint (now->pdata[0], NULL));
  g_autoptr (GPtrArray) again = branch (now->pdata[0], NULL, 1);
  cell (again->pdata[0], "print(x, open('f').read())", "['now', 0] f0\n");
  end (again->pdata[0]);
  for (guint i = 0; i < 10; i++)
    end (i < 7 ? now->pdata[i] : then->pdata[i - 7]);
  g_assert_cmpuint (living (), ==, 0);
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  begin ("a");
  cell ("a",
        "import threading; e = threading.Event(); t = threading.Thread(target=e.wait, name='ticker'); "
        "t.start()",
        "");
  g_assert_null (called_session_checkpoint (engine, NULL, "a", NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, "ticker"));
  g_clear_error (&error);
  cell ("a", "e.set(); t.join()", "");
  for (int i = 0; i < 3; i++)
    g_free (checkpoint ("a", NULL));
  g_assert_null (called_session_checkpoint (engine, NULL, "a", NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, "max_checkpoints"));
  g_clear_error (&error);
  g_assert_null (called_session_checkpoint (engine, NULL, "a", "no name", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (called_session_checkpoint (engine, "somebody", "a", NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (called_session_branch (engine, NULL, "a", NULL, 0, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);

  /* One that breaks the protocol ends, and says so. */
  cell ("a", "import sys; sys.modules['adder_runner.branches'].branch = lambda *a: [1]", "");
  g_assert_null (called_session_branch (engine, NULL, "a", NULL, 1, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_ENDED);
  g_assert_nonnull (strstr (error->message, "it did not answer as it should"));
  g_assert_cmpuint (living (), ==, 0);
}

/* The registry looks at what is idle, and asks it: a branch is not taken for dead by that. */
static void
test_idle_branch (void)
{
  g_autoptr (AdderEngine) other = new_engine ("[pool]\nparked = 1\n[sessions]\nidle_cpu_ms = 20\n");
  AdderEngine *shared = engine;
  engine = other;
  begin ("a");
  g_autoptr (GPtrArray) ids = branch ("a", NULL, 2);
  end ("a");
  for (guint i = 0; i < ids->len; i++) {
    g_autoptr (GError) error = NULL;
    /* Longer than the first look needs, which comes after this budget on all processors. */
    g_usleep (200000);
    g_free (called_session_variables (other, NULL, ids->pdata[i], NULL, &error));
    g_assert_no_error (error);
    cell (ids->pdata[i], "print(2)", "2\n");
    end (ids->pdata[i]);
  }
  engine = shared;
}

/* Whatever lies in the workspace, and whatever threads are called: the session lives on, and what is said can
 * be read. */
static void
test_names_that_are_no_text (void)
{
  static const struct {
    const char *code, *expected; /* in the warnings, or in the refusal */
    gboolean refused;
  } rows[] = {
      {"import socket; s = socket.socket(socket.AF_UNIX); s.bind(b'\\xff\\x1b'); s.close()", "not a file",
       FALSE},
      {"import socket\n"
       "for i in range(2000): s = socket.socket(socket.AF_UNIX); s.bind('n' * 90 + str(i)); s.close()",
       "and 1985 more", FALSE},
      {"import os\nhere = os.getcwd()\nfor i in range(100): os.mkdir('d' * 50); os.chdir('d' * "
       "50)\nos.chdir(here)",
       "File name too long", TRUE},
      {"import threading; e = threading.Event()\n"
       "t = threading.Thread(target=e.wait, name='\\ud800\\x1b[2J', daemon=True); t.start()",
       "are alive", TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    begin ("a");
    cell ("a", rows[i].code, "");
    g_autofree char *made = called_session_checkpoint (engine, NULL, "a", NULL, &error);
    g_assert_cmpint (rows[i].refused, ==, made == NULL);
    if (!rows[i].refused)
      g_assert_no_error (error);
    const char *said = made ? made : error->message;
    if (!strstr (said, rows[i].expected))
      g_error ("“%s” is not in: %s", rows[i].expected, said);
    g_assert_null (strchr (said, '\x1b'));
    cell ("a", "print(1)", "1\n");
    end ("a");
  }
}

/* Without namespaces sessions work, and say why they cannot be branched. */
static void
test_without_namespaces (void)
{
  g_autoptr (AdderEngine) other = new_engine ("[pool]\nparked = 1\n[sandbox]\nisolation = process\n");
  g_autoptr (GError) error = NULL;
  AdderRequest *options = new_request ("");
  g_free (adder_session_new (other, options, "a", &error));
  adder_request_free (options);
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED)) {
    g_test_skip (error->message);
    return;
  }
  g_assert_no_error (error);
  g_assert_null (called_session_branch (other, NULL, "a", NULL, 1, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "namespaces"));
  json_decref (cell_in (other, "a", "print(1)", "ok", 0));
}

static void
test_cost (void)
{
  begin ("a");
  cell ("a", "data = [b'x' * (1 << 20) for _ in range(200)]", "");
  gint64 start = g_get_monotonic_time (), now;
  g_free (checkpoint ("a", "c"));
  now = g_get_monotonic_time ();
  g_test_message ("checkpoint: %.1f ms", (double)(now - start) / 1000);
  start = now;
  roll_back ("a", "c");
  now = g_get_monotonic_time ();
  g_test_message ("rollback: %.1f ms", (double)(now - start) / 1000);
  start = now;
  g_autoptr (GPtrArray) ids = branch ("a", NULL, 10);
  now = g_get_monotonic_time ();
  g_test_message ("branch of ten: %.1f ms", (double)(now - start) / 1000);
  g_autoptr (json_t) shown = show ("a"), one = show (ids->pdata[9]);
  g_autofree char *a = json_to_text (shown), *b = json_to_text (one);
  g_test_message ("%s", a);
  g_test_message ("%s", b);
  for (guint i = 0; i < ids->len; i++)
    end (ids->pdata[i]);
  end ("a");
}

UNIT_SUITE (engine_checkpoint)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  engine = new_engine (SETTINGS);
  g_test_add_func ("/checkpoint/rollback", test_rollback);
  g_test_add_func ("/checkpoint/branches", test_branches);
  g_test_add_func ("/checkpoint/refused", test_refused);
  g_test_add_func ("/checkpoint/idle-branch", test_idle_branch);
  g_test_add_func ("/checkpoint/names-that-are-no-text", test_names_that_are_no_text);
  g_test_add_func ("/checkpoint/without-namespaces", test_without_namespaces);
  g_test_add_func ("/checkpoint/cost", test_cost);
  int status = g_test_run ();
  adder_engine_free (engine);
  support_end ();
  return status;
}
