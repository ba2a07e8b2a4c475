/* SPDX-License-Identifier: Apache-2.0 */
#include "run_support.h"

#include <glib/gstdio.h>
#include <string.h>

#include "sandbox/probe.h"
#include "suite.h"

char *scratch;

gboolean
support_begin (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  if (probe.userns != PROBE_USERNS_OK) {
    g_print ("1..0 # SKIP no user namespaces: %s\n", probe.line[PROBE_USER_NAMESPACES].text);
    return FALSE;
  }
  scratch = g_strdup ("/var/tmp/adder-run-XXXXXX");
  g_assert_nonnull (g_mkdtemp_full (scratch, 0755));
  g_autofree char *state = g_build_filename (scratch, "state", NULL);
  /* Beside what is bind-mounted into runs, which may not reach environments. */
  g_autofree char *environments = g_build_filename (scratch, "environments", NULL);
  g_setenv ("ADDER_ENVIRONMENTS_DIR", environments, TRUE);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  return TRUE;
}

void
support_end (void)
{
  suite_remove (scratch);
  g_free (scratch);
}

AdderEngine *
new_engine (const char *settings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "adder.conf", NULL);
  g_assert_true (g_file_set_contents (path, settings ? settings : "[pool]\nparked = 3\n", -1, NULL));
  AdderEngine *engine = adder_engine_new (path, &error);
  g_assert_no_error (error);
  return engine;
}

AdderRequest *
new_request (const char *code)
{
  AdderRequest *request = adder_request_new (code, -1);
  adder_request_set_environment (request, ENVIRONMENT);
  return request;
}

void
set_limit (AdderRequest *request, const char *name, guint64 value)
{
  g_autoptr (GError) error = NULL;
  adder_request_set_limit (request, name, value, &error);
  g_assert_no_error (error);
}

json_t *
parse (const AdderResult *result)
{
  const char *text = adder_result_json (result);
  g_autoptr (GError) error = NULL;
  json_t *root = json_parse_object (text, strlen (text), "the result", &error);
  g_assert_no_error (error);
  return root;
}

const char *
string_at (const json_t *object, const char *key)
{
  return json_string_value (json_object_get (object, key));
}

const char *
error_at (const json_t *result, const char *key)
{
  return string_at (json_object_get (result, "error"), key);
}

json_t *
run (AdderEngine *engine, AdderRequest *request, const char *outcome, int exit_code)
{
  g_autoptr (AdderResult) result = adder_run (engine, request);
  adder_request_free (request);
  json_t *root = parse (result);
  if (g_strcmp0 (string_at (root, "outcome"), outcome) != 0 || adder_result_exit_code (result) != exit_code)
    g_error ("expected %s, %d: %s", outcome, exit_code, adder_result_json (result));
  g_assert_cmpstr (adder_outcome_name (adder_result_outcome (result)), ==, outcome);
  g_assert_cmpint (json_integer_value (json_object_get (root, "exit_code")), ==, exit_code);
  return root;
}

void
expect (AdderEngine *engine, AdderRequest *request, const char *outcome, int exit_code)
{
  json_decref (run (engine, request, outcome, exit_code));
}

gboolean
has_cgroups (const json_t *result)
{
  return json_integer_value (json_object_get (json_object_get (result, "isolation"), "level")) == 3;
}

double
usage_of (const json_t *result, const char *key)
{
  return json_number_value (json_object_get (json_object_get (result, "usage"), key));
}

AdderResult *
pull (AdderRun *run)
{
  AdderEvent event;
  do
    g_assert_true (adder_run_next (run, &event));
  while (event.kind != ADDER_EVENT_RESULT);
  return event.result;
}

void
check_row (AdderEngine *engine, const struct row *row)
{
  AdderRequest *request = new_request (row->code);
  set_limit (request, "wall_ms", 20000);
  if (row->limit)
    set_limit (request, row->limit, row->value);
  if (!row->outcome) {
    /* Whatever it does, it ends. */
    adder_result_free (adder_run (engine, request));
    adder_request_free (request);
    return;
  }
  g_autoptr (json_t) result = run (engine, request, row->outcome, row->exit_code);
  if (row->type)
    g_assert_cmpstr (error_at (result, "type"), ==, row->type);
  if (strcmp (row->outcome, "ok") == 0)
    g_assert_true (json_is_null (json_object_get (result, "error")));
  else
    g_assert_nonnull (error_at (result, "message"));
}

static json_t *
status_of (AdderEngine *engine)
{
  g_autofree char *text = adder_engine_status_json (engine);
  return json_parse_object (text, strlen (text), "the status", NULL);
}

json_int_t
status_number (AdderEngine *engine, const char *key)
{
  g_autoptr (json_t) status = status_of (engine);
  return json_integer_value (json_object_get (status, key));
}

json_int_t
pool_number (AdderEngine *engine, const char *key)
{
  g_autoptr (json_t) status = status_of (engine);
  return json_integer_value (json_object_get (json_array_get (json_object_get (status, "pools"), 0), key));
}

gboolean
pool_flag (AdderEngine *engine, const char *key)
{
  g_autoptr (json_t) status = status_of (engine);
  return json_is_true (json_object_get (json_array_get (json_object_get (status, "pools"), 0), key));
}

char *
make_environment (const char *name, const char *module, const char *content)
{
  g_autofree char *venv = g_build_filename (scratch, "environments", name, "venv", NULL);
  const char *const argv[] = {"/usr/bin/python3", "-I",         "-m", "venv",
                              "--without-pip",    "--symlinks", venv, NULL};
  int status = -1;
  g_assert_true (g_spawn_sync (NULL, (char **)(guintptr)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, NULL));
  g_assert_cmpint (status, ==, 0);

  g_autofree char *pattern = g_build_filename (venv, "lib", NULL);
  g_autoptr (GDir) lib = g_dir_open (pattern, 0, NULL);
  const char *version = g_dir_read_name (lib);
  g_autofree char *file = g_strconcat (module, ".py", NULL);
  g_autofree char *path = g_build_filename (pattern, version, "site-packages", file, NULL);
  g_autofree char *manifest = g_build_filename (scratch, "environments", name, "environment.conf", NULL);
  g_autofree char *text =
      g_strdup_printf ("[environment]\npython=%s/bin/python\nmodules=%s;\n", venv, module);
  g_assert_true (g_file_set_contents (path, content, -1, NULL));
  g_assert_true (g_file_set_contents (manifest, text, -1, NULL));
  return g_steal_pointer (&path);
}

json_t *
run_in (AdderEngine *engine, const char *environment, const char *code, const char *outcome, int exit_code)
{
  AdderRequest *request = adder_request_new (code, -1);
  adder_request_set_environment (request, environment);
  return run (engine, request, outcome, exit_code);
}

void
set_mark (const char *name, const char *mark, gboolean present)
{
  g_autofree char *path = g_build_filename (scratch, "environments", name, "venv", mark, NULL);
  if (present)
    g_assert_true (g_file_set_contents (path, "", -1, NULL));
  else
    g_assert_cmpint (g_unlink (path), ==, 0);
}
