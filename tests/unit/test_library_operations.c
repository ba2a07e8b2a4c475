/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations, and the one way in which all of them are called. */
#include "operations/operation.h"
#include "suite.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "run_support.h"
#include "tools/table.h"

#define CALLER_OF(owner, role) const struct operation_caller caller = OPERATION_CALLER (engine, owner, role)

static AdderEngine *engine;

static void
each_row (void (*check) (const struct operation *row))
{
  for (gsize noun = 0; operations[noun]; noun++)
    for (const struct operation *row = operations[noun]; row->name; row++)
      check (row);
}

/* What is in braces in PATH is a text among PARAMS. */
static void
check_route (const char *path, const struct field *params)
{
  for (const char *at = strchr (path, '{'); at; at = strchr (at + 1, '{')) {
    g_autofree char *name = g_strndup (at + 1, strcspn (at + 1, "}"));
    const struct field *field = field_find (params, name);
    g_assert_nonnull (field);
    g_assert_cmpuint (field->types, ==, FIELD_TEXT);
    g_assert_false (field->optional);
  }
}

static void
check_operation (const struct operation *row)
{
  g_assert_true (operation_find (row->name, NULL) == row); /* no other has its name */
  g_assert_nonnull (strchr (row->name, '.'));
  g_assert_true (row->title && row->text && row->params && row->replies && row->replies[0] && row->run);
  for (const struct field *field = row->params; field->name; field++)
    g_assert_nonnull (field->text);
  if (row->http.method) {
    g_assert_cmpuint (row->flags & (OPERATION_FILE | OPERATION_OPENS), ==, 0); /* it has no descriptors */
    g_assert_true (g_str_has_prefix (row->http.path, "/v1/"));
    g_assert_true (row->http.id != NULL);
    g_assert_true (row->http.status == 200 || row->http.status == 201 || row->http.status == 204);
    check_route (row->http.path, row->params);
  }
}

static void
test_rows (void)
{
  each_row (check_operation);
}

/* Rows that stand together are about one noun. */
static void
test_nouns (void)
{
  for (gsize noun = 0; operations[noun]; noun++) {
    g_autofree char *prefix = g_strndup (operations[noun]->name, strcspn (operations[noun]->name, ".") + 1);
    for (const struct operation *row = operations[noun]; row->name; row++)
      g_assert_true (g_str_has_prefix (row->name, prefix));
  }
}

static void
fails (const struct operation_caller *caller, const char *name, json_t *params, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (operation_call (caller, name, params, &error));
  g_assert_error (error, ADDER_ERROR, code);
  if (!strstr (error->message, words))
    g_error ("\"%s\" is not in \"%s\"", words, error->message);
}

static void
test_bad_calls (void)
{
  CALLER_OF ("anna", ROLE_USER);
  fails (&caller, "session.sho", json_object (), ADDER_ERROR_NOT_FOUND, "no operation \"session.sho\"");
  fails (&caller, "session.show", json_object (), ADDER_ERROR_INVALID, "session");
  fails (&caller, "session.show", json_pack ("{s:i}", "session", 1), ADDER_ERROR_INVALID, "session");
  fails (&caller, "session.list", json_pack ("{s:i}", "all", 1), ADDER_ERROR_INVALID, "all");
  fails (&caller, "session.show", json_pack ("{s:s}", "session", "\xff"), ADDER_ERROR_INVALID, "UTF-8");
  fails (&caller, "session.show", json_pack ("{s:s}", "session", "nope"), ADDER_ERROR_NOT_FOUND, "nope");
  fails (&caller, "store.show", json_object (), ADDER_ERROR_REFUSED, "the role admin");
  g_autoptr (GError) error = NULL;
  g_assert_null (adder_call (engine, NULL, "session.list", "[1]", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
}

/* Only an admin asks for what is another's, and each sees their own. */
static void
test_owners (void)
{
  g_autoptr (AdderRequest) request = new_request ("1");
  adder_request_set_owner (request, "anna", NULL);
  g_autoptr (AdderResult) ran = adder_run (engine, request);
  g_assert_cmpint (adder_result_outcome (ran), ==, ADDER_OUTCOME_OK);
  static const struct {
    const char *caller, *owner;
    enum role role;
    gsize seen;
  } rows[] = {
      {"anna", NULL, ROLE_USER, 1},   {"anna", "anna", ROLE_USER, 1}, {"bob", NULL, ROLE_USER, 0},
      {"bob", "anna", ROLE_ADMIN, 1}, {"bob", "all", ROLE_ADMIN, 1},  {"bob", "bob", ROLE_ADMIN, 0},
      {NULL, NULL, ROLE_ADMIN, 1},    {NULL, "carol", ROLE_ADMIN, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    CALLER_OF (rows[i].caller, rows[i].role);
    g_autoptr (json_t) list =
        operation_call (&caller, "record.list", json_pack ("{s:s*}", "owner", rows[i].owner), &error);
    g_assert_no_error (error);
    g_assert_cmpuint (json_array_size (json_object_get (list, "records")), ==, rows[i].seen);
  }
  CALLER_OF ("bob", ROLE_USER);
  fails (&caller, "record.list", json_pack ("{s:s}", "owner", "anna"), ADDER_ERROR_REFUSED, "only an admin");
  fails (&caller, "record.list", json_pack ("{s:s}", "owner", "all"), ADDER_ERROR_REFUSED, "only an admin");
}

/* The row of PARAMS called NAME; NULL: there is none. */
static const struct field *
param_called (const struct field *params, const char *name)
{
  for (; params->name; params++)
    if (strcmp (params->name, name) == 0)
      return params;
  return NULL;
}

/* A model is told of no other parameters than the operation has, and can leave out only what is optional. */
static void
check_params (const struct field *told, const struct field *params)
{
  for (const struct field *param = told; param->name; param++)
    g_assert_nonnull (param_called (params, param->name));
  for (; params->name; params++)
    g_assert_true (params->optional || param_called (told, params->name));
}

/* No tool decides, and none is for a lower role than what it calls. */
static void
test_tools (void)
{
  for (gsize i = 0; toolsets[i]; i++)
    for (gsize j = 0; j < toolsets[i]->count; j++) {
      const struct tool *tool = &toolsets[i]->tools[j];
      g_assert_true (!tool->operation != !tool->handle);
      if (!tool->operation)
        continue;
      const struct operation *called_one = operation_find (tool->operation, NULL);
      g_assert_nonnull (called_one);
      g_assert_cmpuint (called_one->flags & OPERATION_DECIDES, ==, 0);
      g_assert_cmpint (tool->role, >=, called_one->role);
      check_params (tool->parameters, called_one->params);
    }
}

static void
test_callers (void)
{
  static const struct {
    AdderCaller caller;
    const char *operation, *params;
    int code; /* -1: it is done */
  } rows[] = {
      {{"anna", NULL, -1, -1, NULL}, "record.list", NULL, -1},
      {{"anna", NULL, -1, -1, NULL}, "record.list", "{\"owner\": \"all\"}", ADDER_ERROR_REFUSED},
      {{"anna", "admin", -1, -1, NULL}, "record.list", "{\"owner\": \"all\"}", -1},
      {{"anna", "guest", -1, -1, NULL}, "record.list", NULL, ADDER_ERROR_REFUSED},
      {{"anna", "king", -1, -1, NULL}, "record.list", NULL, ADDER_ERROR_INVALID},
      {{NULL, NULL, -1, -1, NULL}, "store.show", NULL, -1},
      {{NULL, NULL, -1, 0, NULL}, "store.show", NULL, ADDER_ERROR_INVALID},
      {{"anna", NULL, -1, -1, NULL}, "file.put", "{\"name\": \"x\"}", ADDER_ERROR_INVALID},
      {{"anna", NULL, -1, -1, NULL}, "file.open", "{\"file\": \"0000\"}", ADDER_ERROR_INVALID},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *answer = adder_call (engine, &rows[i].caller, rows[i].operation, rows[i].params, &error);
    g_assert_true (!answer == (rows[i].code >= 0));
    if (rows[i].code >= 0)
      g_assert_error (error, ADDER_ERROR, rows[i].code);
  }
}

static char *
call (const AdderCaller *caller, const char *operation, const char *params)
{
  g_autoptr (GError) error = NULL;
  char *answer = adder_call (engine, caller, operation, params, &error);
  g_assert_no_error (error);
  return answer;
}

static json_t *
read_answer (char *text)
{
  json_t *value = json_loads (text, 0, NULL);
  g_assert_nonnull (value);
  g_free (text);
  return value;
}

/* A file goes in by a descriptor, and comes out by another. */
static void
test_descriptors (void)
{
  char content[8] = {0};
  autoclose int in = memfd_create ("in", MFD_CLOEXEC), out = -1,
                records = memfd_create ("records", MFD_CLOEXEC);
  g_assert_cmpint (pwrite (in, "content", 7, 0), ==, 7);
  g_autoptr (json_t) kept =
      read_answer (call (&(AdderCaller){"dora", NULL, -1, in, NULL}, "file.put", "{\"name\": \"a/b.txt\"}"));
  g_assert_cmpstr (json_member_text (kept, "name"), ==, "b.txt");
  g_assert_cmpstr (json_member_text (kept, "owner"), ==, "dora");
  g_autofree char *params = g_strdup_printf ("{\"file\": \"%s\"}", json_member_text (kept, "file_id"));
  g_autoptr (json_t) opened =
      read_answer (call (&(AdderCaller){"dora", NULL, -1, -1, &out}, "file.open", params));
  g_assert_true (json_equal (json_object_get (opened, "sha256"), json_object_get (kept, "sha256")));
  g_assert_cmpint (pread (out, content, sizeof content, 0), ==, 7);
  g_assert_cmpstr (content, ==, "content");

  g_autoptr (GError) error = NULL;
  int none = 0;
  const AdderCaller other = {"emil", NULL, -1, -1, &none};
  g_assert_null (adder_call (engine, &other, "file.open", params, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_assert_cmpint (none, ==, -1);

  g_autoptr (AdderRequest) request = new_request ("1");
  adder_request_set_owner (request, "dora", NULL);
  adder_result_free (adder_run (engine, request));
  g_autoptr (json_t) told =
      read_answer (call (&(AdderCaller){"dora", NULL, -1, records, NULL}, "record.export", NULL));
  g_assert_cmpint (json_integer_value (json_object_get (told, "records")), ==, 1);
  g_assert_cmpint (json_integer_value (json_object_get (told, "bytes")), ==, lseek (records, 0, SEEK_END));
}

/* What CALLER's cell of the session "one" prints. The caller's. */
static char *
cell_output (const AdderCaller *caller, const char *params)
{
  g_autoptr (json_t) ran = read_answer (call (caller, "session.cell", params));
  g_assert_cmpstr (json_member_text (ran, "outcome"), ==, "ok");
  return g_strdup (json_member_text (ran, "stdout"));
}

/* A run, a session, its cells and their replay. */
static void
test_runs (void)
{
  const AdderCaller fred = {"fred", NULL, -1, -1, NULL};
  g_autoptr (json_t) ran =
      read_answer (call (&fred, "run.new", "{\"code\": \"print(n * 7)\", \"values\": {\"n\": 6}}"));
  g_assert_cmpstr (json_member_text (ran, "stdout"), ==, "42\n");
  g_autofree char *params = g_strdup_printf ("{\"run\": \"%s\"}", json_member_text (ran, "run_id"));
  g_autoptr (json_t) shown = read_answer (call (&fred, "run.show", params));
  g_assert_cmpstr (json_member_text (shown, "state"), ==, "ended");
  g_autoptr (json_t) list = read_answer (call (&fred, "run.list", NULL));
  g_assert_cmpuint (json_array_size (json_object_get (list, "runs")), ==, 0);

  g_autoptr (json_t) made = read_answer (call (&fred, "session.new", "{\"name\": \"one\"}"));
  g_assert_cmpstr (json_member_text (made, "owner"), ==, "fred");
  g_autofree char *nothing = cell_output (&fred, "{\"session\": \"one\", \"code\": \"n = 20\"}");
  g_autofree char *sum = cell_output (&fred, "{\"session\": \"one\", \"code\": \"print(n + 1)\"}");
  g_assert_cmpstr (nothing, ==, "");
  g_assert_cmpstr (sum, ==, "21\n");
  g_autoptr (json_t) replayed =
      read_answer (call (&fred, "session.replay", "{\"session\": \"one\", \"name\": \"two\"}"));
  const json_t *cells = json_object_get (replayed, "cells");
  g_assert_cmpuint (json_array_size (cells), ==, 2);
  g_assert_cmpstr (json_member_text (json_object_get (json_array_get (cells, 1), "result"), "stdout"), ==,
                   "21\n");
  g_assert_cmpstr (json_member_text (json_object_get (replayed, "session"), "name"), ==, "two");
}

static void
test_runs_refused (void)
{
  CALLER_OF ("gina", ROLE_USER);
  fails (&caller, "run.new", json_object (), ADDER_ERROR_INVALID, "code");
  fails (&caller, "run.new", json_pack ("{s:s, s:s}", "code", "1", "isolation", "none"), ADDER_ERROR_REFUSED,
         "admins");
  fails (&caller, "run.new", json_pack ("{s:s, s:{s:s}}", "code", "1", "workdir", "root", "data"),
         ADDER_ERROR_UNSUPPORTED, "root");
  fails (&caller, "session.cell", json_pack ("{s:s, s:s}", "code", "1", "session", "none"),
         ADDER_ERROR_NOT_FOUND, "none");
  g_autoptr (GError) error = NULL;
  json_decref (operation_call (&caller, "session.new", json_pack ("{s:s}", "name", "gone"), &error));
  json_decref (operation_call (&caller, "session.end", json_pack ("{s:s}", "session", "gone"), &error));
  g_assert_no_error (error);
  fails (&caller, "session.cell", json_pack ("{s:s, s:s}", "code", "1", "session", "gone"), ADDER_ERROR_ENDED,
         "on request");
}

UNIT_SUITE (library_operations)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  engine = new_engine ("[pool]\nparked = 1\n[environment]\ndefault = system\n");
  g_test_add_func ("/operations/rows", test_rows);
  g_test_add_func ("/operations/nouns", test_nouns);
  g_test_add_func ("/operations/bad-calls", test_bad_calls);
  g_test_add_func ("/operations/owners", test_owners);
  g_test_add_func ("/operations/tools", test_tools);
  g_test_add_func ("/operations/callers", test_callers);
  g_test_add_func ("/operations/descriptors", test_descriptors);
  g_test_add_func ("/operations/runs", test_runs);
  g_test_add_func ("/operations/runs-refused", test_runs_refused);
  int r = g_test_run ();
  adder_engine_free (engine);
  support_end ();
  return r;
}
