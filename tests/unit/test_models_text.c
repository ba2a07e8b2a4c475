/* SPDX-License-Identifier: Apache-2.0 */
/* Events out of bytes, and JSON as models write it. */
#include <string.h>

#include "common/json.h"
#include "models/json_repair.h"
#include "models/sse.h"
#include "suite.h"

/* ---- events ---- */

/* Events as "name|data;", and "!" where one of them is to be refused. */
static gboolean
note (gpointer data, const char *name, const char *text, gsize length)
{
  GString *events = data;
  g_string_append_printf (events, "%s|%.*s;", name, (int)length, text);
  return length != 1 || text[0] != '!';
}

static const struct {
  const char *sent, *events;
} streams[] = {
    {"data: a\n\n", "|a;"},
    {"data:a\ndata: b\ndata\ndata:  c\n\n", "|a\nb\n\n c;"},
    {"event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;"},
    {"event: x\n\ndata: b\n\n", "|b;"},
    {"\xef\xbb\xbf"
     "data: a\n\n",
     "|a;"},
    {": c\n\n\n\nid: 1\nretry: 5\nfoo: 1\ndata: a\n\n", "|a;"},
    {"data: a\r\ndata: b\r\rdata: c\n\r\n", "|a\nb;|c;"},
    {"data: a", "|a;"},
    {"data: a\n{\"error\":1}\n\n", "|{\"error\":1};|a;"},
    {"data:\n\n", "|;"},
    {"data: \xc3\xa9\n\n", "|\xc3\xa9;"},
    {"data: !\n\ndata: a\n\n", "|!;"},
    {"", ""},
    {"\n\n\n", ""},
};

static void
test_events (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    for (gsize step = 1; step < 8; step++) {
      GString *events = g_string_new (NULL);
      struct sse *sse = sse_new (note, events);
      gsize length = strlen (streams[i].sent);
      gboolean on = TRUE;
      for (gsize at = 0; at < length; at += step)
        on = sse_take (sse, streams[i].sent + at, MIN (step, length - at));
      g_assert_cmpint (sse_end (sse), ==, strchr (streams[i].sent, '!') == NULL);
      g_assert_true (on || strchr (streams[i].sent, '!'));
      g_assert_cmpstr (events->str, ==, streams[i].events);
      sse_free (sse);
      g_string_free (events, TRUE);
    }
}

/* ---- JSON ---- */

static const struct {
  const char *written, *arguments; /* NULL: none */
} arguments[] = {
    {"", "{}"},
    {" \n", "{}"},
    {"null", "{}"},
    {"{}", "{}"},
    {"{\"a\": 1}", "{\"a\":1}"},
    {"\"{\\\"a\\\": 1}\"", "{\"a\":1}"},
    {"```json\n{\"a\": 1}\n```", "{\"a\":1}"},
    {"```\n{\"a\": 1}```", "{\"a\":1}"},
    {"{\"code\": \"a = 1\nprint(a)\t\"}", "{\"code\":\"a = 1\\nprint(a)\\t\"}"},
    {"{\"code\": \"print(\\'a\\')\"}", "{\"code\":\"print('a')\"}"},
    {"{\"code\": \"\"\"\nprint(\"a\\n\")\n\"\"\"}", "{\"code\":\"\\nprint(\\\"a\\\\n\\\")\\n\"}"},
    {"{\"a\": \"\"\"\"\"\", \"b\": \"\"}", "{\"a\":\"\",\"b\":\"\"}"},
    {"{\"a\": \"\\ud83d\\udc0d\"}", "{\"a\":\"🐍\"}"},
    {"{\"a\": \"\\ud83d\", \"b\": \"\\udc0d\\u0000\\ud83dx\"}",
     "{\"a\":\"\xef\xbf\xbd\",\"b\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"}"},
    {"{\"a\": \"\xff\"}", "{\"a\":\"\xef\xbf\xbd\"}"},
    /* What could mean something else stays as it is. */
    {"{\"a\": 1", NULL},
    {"{\"a\": 1,}", NULL},
    {"{'a': 1}", NULL},
    {"{\"a\": \"\"\"b\"}", NULL},
    {"{\"a\": \"\"\"b\"\"}", NULL},
    {"{\"a\": 1}}", NULL},
    {"{\"a\": \"\\d+\"}", NULL},
    {"{\"a\": \"\\u12\"}", NULL},
    {"{\"a\": \"\\", NULL},
    {"[1]", NULL},
    {"5", NULL},
    {"true", NULL},
    {"\"\\\"{}\\\"\"", NULL},
    {"```", NULL},
    {"``````", NULL},
    {"I will call it.", NULL},
    {"{\"a\": 123456789012345678901234567890}", NULL},
};

static void
test_arguments (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (arguments); i++) {
    g_autoptr (json_t) value = json_repair_arguments (arguments[i].written, strlen (arguments[i].written));
    g_autofree char *text = value ? json_to_text (value) : NULL;
    g_autofree char *shown = g_strescape (arguments[i].written, NULL);
    g_test_message ("%s", shown);
    g_assert_cmpstr (text, ==, arguments[i].arguments);
  }
}

static void
test_values (void)
{
  static const char with_nul[] = "{\"a\": \"x\0y\"}";
  g_autoptr (json_t) value = json_repair (with_nul, sizeof with_nul - 1), list = json_repair ("[1]", 3);
  g_assert_cmpstr (json_member_text (value, "a"), ==, "x\xef\xbf\xbdy");
  g_assert_true (json_is_array (list));
  g_assert_null (json_repair ("", 0));
}

/* [[...]] of DEPTH levels in an object: as what a model writes, whether it is taken. */
static gboolean
is_taken (gsize depth)
{
  GString *text = g_string_new ("{\"a\":");
  for (gsize i = 0; i < depth - 1; i++)
    g_string_append_c (text, '[');
  for (gsize i = 0; i < depth - 1; i++)
    g_string_append_c (text, ']');
  g_string_append_c (text, '}');
  g_autoptr (json_t) value = json_repair_arguments (text->str, text->len);
  g_string_free (text, TRUE);
  return value != NULL;
}

static void
test_depth (void)
{
  g_assert_true (is_taken (2));
  g_assert_true (is_taken (64));
  g_assert_false (is_taken (65));
  g_assert_false (is_taken (2044));
}

UNIT_SUITE (models_text)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/text/events", test_events);
  g_test_add_func ("/models/text/arguments", test_arguments);
  g_test_add_func ("/models/text/values", test_values);
  g_test_add_func ("/models/text/depth", test_depth);
  return g_test_run ();
}
