/* SPDX-License-Identifier: Apache-2.0 */
/* The guard between daemon and sandbox: rules going out, violations coming back, which are hostile input. */
#include <glib.h>
#include <string.h>

#include "common/json.h"
#include "engine/request/message.h"
#include "engine/request/request.h"
#include "suite.h"

#define ERROR_PART                                                                                           \
  "\"error\":{\"type\":\"Refused\",\"message\":\"m\",\"traceback\":null,\"line\":1,\"hint\":null}"
#define REPLY(violations)                                                                                    \
  "{\"exit_code\":126,\"value\":null," ERROR_PART ",\"out_of_memory\":false,\"warnings\":[],"                \
  "\"violations\":" violations "}"
#define VIOLATION(rule, line, column, text, hint)                                                            \
  "{\"rule\":" rule ",\"line\":" line ",\"column\":" column ",\"text\":" text ",\"hint\":" hint "}"
#define GOOD VIOLATION ("\"import\"", "1", "0", "\"import os\"", "null")

static gboolean
read_result (const char *text, struct message_result *ret_result)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  return message_read_result (text, strlen (text), 65536, ret_result, warnings);
}

static void
test_violations_are_checked (void)
{
  static const struct {
    const char *text;
    int count; /* -1: refused */
  } cases[] = {
      {REPLY ("[" GOOD "]"), 1},
      {REPLY ("[" GOOD "," GOOD "]"), 2},
      {REPLY ("[" VIOLATION ("\"a\"", "0", "7", "\"\"", "\"h\"") "]"), 1},
      {REPLY ("[]"), -1},
      {REPLY ("null"), -1},
      {REPLY ("{}"), -1},
      {REPLY ("[1]"), -1},
      {REPLY ("[{}]"), -1},
      {REPLY ("[" GOOD ",{}]"), -1},
      {REPLY ("[" VIOLATION ("1", "1", "0", "\"t\"", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "-1", "0", "\"t\"", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "1.5", "0", "\"t\"", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "1", "9223372036854775807", "\"t\"", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "1", "null", "\"t\"", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "1", "0", "[]", "null") "]"), -1},
      {REPLY ("[" VIOLATION ("\"a\"", "1", "0", "\"t\"", "3") "]"), -1},
      {"{\"exit_code\":126,\"value\":null,\"error\":{\"type\":\"Refused\",\"message\":\"m\",\"traceback\":"
       "null,\"line\":3.0,"
       "\"hint\":null},\"out_of_memory\":false,\"warnings\":[],\"violations\":[" GOOD "]}",
       -1},
      /* What was refused has an error that says so. */
      {"{\"exit_code\":126,\"value\":null,\"error\":null,\"out_of_memory\":false,\"warnings\":[],"
       "\"violations\":[" GOOD "]}",
       -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct message_result result = {0};
    g_test_message ("%s", cases[i].text);
    g_assert_cmpint (read_result (cases[i].text, &result), ==, cases[i].count >= 0);
    g_assert_cmpuint (json_array_size (result.violations), ==, (gsize)MAX (cases[i].count, 0));
    message_result_clear (&result);
  }
}

static void
test_violations_are_capped (void)
{
  struct message_result result = {0};
  g_autoptr (GString) list = g_string_new ("[");
  g_autofree char *text = g_strnfill (5000, 'x');
  for (int i = 0; i < 300; i++)
    g_string_append_printf (
        list,
        "%s{\"rule\":\"%s\",\"line\":1,\"column\":0,\"text\":\"\\u001b[2J%s\",\"hint\":\"a\\nb\",\"more\":1}",
        i ? "," : "", text, text);
  g_autofree char *whole = g_strconcat ("{\"exit_code\":126,\"value\":null," ERROR_PART
                                        ",\"out_of_memory\":false,\"warnings\":[],\"violations\":",
                                        list->str, "]}", NULL);
  g_assert_true (read_result (whole, &result));
  g_assert_cmpuint (json_array_size (result.violations), ==, 100);
  const json_t *first = json_array_get (result.violations, 0);
  g_assert_cmpuint (json_object_size (first), ==, 5);
  g_assert_cmpuint (json_string_length (json_object_get (first, "rule")), ==, 40);
  const char *shown = json_string_value (json_object_get (first, "text"));
  g_assert_cmpuint (strlen (shown), <=, 610);
  g_assert_null (strchr (shown, '\033'));
  g_assert_null (strchr (json_string_value (json_object_get (first, "hint")), '\n'));
  message_result_clear (&result);
}

static struct run_request *
request (const char *guard)
{
  struct run_request *request = request_new ();
  request->code = g_strdup ("1 + 1");
  request->code_length = strlen (request->code);
  request->name = g_strdup ("main.py");
  request->environment = g_strdup ("system");
  request->guard = g_strdup (guard);
  return request;
}

static json_t *
written (const struct run_request *request, char *(*write) (const struct run_request *, gsize *))
{
  gsize length;
  g_autofree char *text = write (request, &length);
  g_assert_cmpuint (strlen (text), ==, length);
  json_t *object = json_parse_object (text, length, "a message", NULL);
  g_assert_nonnull (object);
  return object;
}

static void
test_rules_are_sent (void)
{
  struct run_request *guarded = request ("{\"mode\":\"expression\",\"max_lines\":3}"),
                     *plain = request (NULL);
  guarded->check = TRUE;
  guarded->values = json_pack ("{s:s}", "last_result", "5");
  g_autoptr (json_t) sent = written (guarded, message_write_request);
  g_autoptr (json_t) opened = written (guarded, message_write_open);
  g_autoptr (json_t) without = written (plain, message_write_request);
  g_assert_cmpint (json_integer_value (json_object_get (json_object_get (sent, "guard"), "max_lines")), ==,
                   3);
  g_assert_true (json_is_true (json_object_get (sent, "check")));
  g_assert_true (json_is_object (json_object_get (opened, "guard")));
  g_assert_cmpstr (json_string_value (json_object_get (json_object_get (sent, "values"), "last_result")), ==,
                   "5");
  g_assert_cmpstr (json_string_value (json_object_get (sent, "code")), ==, "1 + 1");
  static const char *const optional[] = {"guard", "check", "values"};
  for (gsize i = 0; i < G_N_ELEMENTS (optional); i++)
    g_assert_null (json_object_get (without, optional[i]));

  /* A session's likes have its rules. */
  struct run_request *settled = request_settled (guarded);
  g_assert_cmpstr (settled->guard, ==, guarded->guard);
  request_free (settled);
  request_free (guarded);
  request_free (plain);
}

UNIT_SUITE (engine_guard)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/guard/violations", test_violations_are_checked);
  g_test_add_func ("/engine/guard/violations-capped", test_violations_are_capped);
  g_test_add_func ("/engine/guard/rules", test_rules_are_sent);
  return g_test_run ();
}
