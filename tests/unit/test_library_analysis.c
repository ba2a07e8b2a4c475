/* SPDX-License-Identifier: Apache-2.0 */
/* What an analysis may say. */
#include "library/analysis_form.h"
#include "suite.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"

#define TABLES "\"tables\": [{\"name\": \"a\", \"file\": \"a.csv\"}]"

/* TEXT as an analysis; the caller's, or NULL with ERROR. */
static json_t *
read_form (const char *text, GError **error)
{
  g_autoptr (json_t) form = json_parse_object (text, strlen (text), "the analysis", error);
  return form && analysis_form_check (form, error) ? g_steal_pointer (&form) : NULL;
}

static void
check_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) analysis = read_form (text, &error);
  g_assert_no_error (error);
  g_assert_true (json_is_object (analysis));
}

/* WORDS are in what is said of TEXT. */
static void
check_bad (const char *text, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (read_form (text, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  if (!strstr (error->message, words))
    g_error ("\"%s\" is not in \"%s\"", words, error->message);
}

static void
test_good (void)
{
  check_good ("{\"mode\": \"scan\", " TABLES "}");
  check_good ("{\"mode\": \"run\", \"expect\": null, \"sample_rows\": 0, \"preview_rows\": 100, " TABLES "}");
  check_good ("{\"mode\": \"run\", \"tables\": [{\"name\": \"ä b\", \"file\": \"f/a.csv\", \"options\": "
              "{\"delimiter\": \"\\t\", \"quote\": \"\", \"encoding\": \"cp1252\", \"header\": false, "
              "\"decimal\": \",\", \"thousands\": \"\u00a0\", \"day_first\": true}}, "
              "{\"name\": \"b\", \"file\": \"b.csv\", \"options\": null}]}");
  check_good ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"value\", \"equals\": null}, "
              "{\"check\": \"columns\", \"names\": [\"x\"], \"table\": \"a\"}, {\"check\": \"not_empty\"}]}");
}

static void
test_bad (void)
{
  check_bad ("{", "is not JSON");
  check_bad ("[]", "must be a JSON object");
  check_bad ("{\"mode\": \"run\", \"mode\": \"run\", " TABLES "}", "duplicate");
  check_bad ("{}", "the analysis lacks mode; the analysis lacks tables");
  check_bad ("{\"mode\": 1, " TABLES "}", "mode must be one of: scan, run");
  check_bad ("{\"mode\": \"run\", \"tables\": []}", "tables must be a list of 1 to 32 tables");
  check_bad ("{\"mode\": \"run\", \"tables\": {}}", "tables must be a list");
  check_bad ("{\"mode\": \"run\", \"tables\": [3, null]}", "tables[0] must be an object");
  check_bad ("{\"mode\": \"run\", \"tables\": [{\"name\": \"\", \"file\": \"/etc/passwd\"}]}",
             "tables[0].name must be a text");
  check_bad ("{\"mode\": \"run\", \"tables\": [{\"name\": \"a\", \"file\": \"a/../../b\"}]}",
             "tables[0].file must be");
  check_bad ("{\"mode\": \"run\", \"tables\": [{\"name\": \"a\", \"file\": \"a\", \"options\": []}]}",
             "tables[0].options must be an object");
  check_bad ("{\"mode\": \"run\", " TABLES ", \"expect\": {}}", "expect must be a list");
  check_bad ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"columns\", \"names\": []}]}",
             "expect[0].names must be a list of texts");
  check_bad ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"value\"}]}",
             "expect[0] lacks equals");
  check_bad ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"kind\", \"is\": [\"cube\"]}]}",
             "expect[0].is must be one of: table, series,");
  check_bad ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"range\"}]}",
             "needs one of: least, most");
  check_bad ("{\"mode\": \"run\", \"x\\u001b[2J\": 1, " TABLES "}", "is unknown");
}

/* Of what is said nothing moves a terminal's cursor. */
static void
test_faults_are_printable (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (read_form ("{\"mode\": \"run\", \"x\\u001b[2J\\n\": 1, " TABLES "}", &error));
  for (const char *at = error->message; *at; at++)
    g_assert_false (g_ascii_iscntrl (*at));
}

static void
test_bounds (void)
{
  GString *deep =
      g_string_new ("{\"mode\": \"run\", " TABLES ", \"expect\": [{\"check\": \"value\", \"equals\": ");
  for (int i = 0; i < 40; i++)
    g_string_append_c (deep, '[');
  for (int i = 0; i < 40; i++)
    g_string_append_c (deep, ']');
  g_string_append (deep, "}]}");
  check_bad (deep->str, "nested deeper than 16 levels");

  g_string_assign (deep, "{\"mode\": \"run\", " TABLES ", \"expect\": [");
  for (int i = 0; i < 101; i++)
    g_string_append_printf (deep, "%s{\"check\": \"not_empty\"}", i > 0 ? "," : "");
  g_string_append (deep, "]}");
  check_bad (deep->str, "at most 100 checks");

  g_string_assign (deep, "{\"mode\": \"run\", \"tables\": [");
  for (int i = 0; i < 33; i++)
    g_string_append_printf (deep, "%s{\"name\": \"t%d\", \"file\": \"t\"}", i > 0 ? "," : "", i);
  g_string_append (deep, "]}");
  check_bad (deep->str, "a list of 1 to 32 tables");

  g_string_assign (deep, "{\"mode\": \"run\", \"x\": \"");
  for (int i = 0; i < 300000; i++)
    g_string_append_c (deep, 'x');
  g_string_append (deep, "\"}");
  check_bad (deep->str, "more than 262144 bytes");
  g_string_free (deep, TRUE);
}

static void
test_expect_alone (void)
{
  g_autoptr (json_t) tables = json_pack ("[s]", "a");
  g_autoptr (json_t) good = json_pack ("[{s:s, s:s, s:s}]", "check", "known", "column", "x", "table", "a");
  g_autoptr (GError) error = NULL;
  g_assert_true (analysis_form_check_expect (good, tables, &error));
  g_assert_no_error (error);
  g_assert_false (analysis_form_check_expect (good, NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpstr (
      error->message, ==,
      "what is expected is not as it must be: expect[0].table names a table that is not given: a");
}

/* Each line is "name {members}: text", and each name a check that is known. */
static void
test_checks_are_described (void)
{
  g_autofree char *text = analysis_form_describe_checks ();
  g_auto (GStrv) lines = g_strsplit (g_strstrip (text), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 21);
  for (gsize i = 0; lines[i]; i++) {
    g_auto (GStrv) parts = g_strsplit (lines[i], " ", 2);
    g_autoptr (json_t) expect = json_pack ("[{s:s}]", "check", parts[0]);
    g_autoptr (GError) error = NULL;
    g_assert_true (strstr (lines[i], "}: ") != NULL);
    if (!analysis_form_check_expect (expect, NULL, &error))
      g_assert_null (strstr (error->message, "whose check is one of"));
  }
}

UNIT_SUITE (library_analysis)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/good", test_good);
  g_test_add_func ("/analysis/bad", test_bad);
  g_test_add_func ("/analysis/printable", test_faults_are_printable);
  g_test_add_func ("/analysis/bounds", test_bounds);
  g_test_add_func ("/analysis/expect-alone", test_expect_alone);
  g_test_add_func ("/analysis/described", test_checks_are_described);
  return g_test_run ();
}
