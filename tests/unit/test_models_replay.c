/* SPDX-License-Identifier: Apache-2.0 */
/* Replays: what is the same question, what is another one and how that is said, and files that are wrong. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "models/model.h"
#include "models/replay_match.h"
#include "suite.h"

/* A model that plays LINES. */
static struct model *
open_lines (const char *lines, GError **error)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("replay-XXXXXX.jsonl", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (path, lines, -1, NULL));
  g_autofree char *name = g_strconcat ("replay:", path, NULL);
  struct model *model = model_open (name, error);
  g_unlink (path);
  return model;
}

static struct model_question
question_of (json_t *messages, json_t *tools)
{
  return (struct model_question){.messages = messages, .tools = tools, .cancel_fd = -1};
}

/* Asks MODEL TEXT and returns the answer's text, or NULL with ERROR. */
static char *
ask (struct model *model, const char *text, GError **error)
{
  g_autoptr (json_t) messages = json_pack ("[o]", message_user (text));
  struct model_question question = question_of (messages, NULL);
  struct model_answer answer = {0};
  if (!model_ask (model, &question, &answer, error))
    return NULL;
  char *said = message_all_text (answer.message);
  model_answer_clear (&answer);
  return said;
}

static void
assert_says (const GError *error, const char *part)
{
  g_assert_nonnull (error);
  if (!strstr (error->message, part))
    g_error ("\"%s\" has no \"%s\"", error->message, part);
}

static void
test_plays_in_order (void)
{
  g_autoptr (GError) error = NULL;
  struct model *model =
      open_lines ("# two answers\n"
                  "{\"answer\": {\"text\": \"one\"}}\n"
                  "\n"
                  "{\"ask\": {\"contains\": [\"next\"]}, \"answer\": {\"text\": \"two\"}}\n",
                  &error);
  g_assert_no_error (error);
  g_assert_true (model_facts (model)->is_replay);
  g_assert_true (g_str_has_prefix (model_facts (model)->provider, "a replay of "));
  g_autofree char *first = ask (model, "anything", &error), *second = ask (model, "the next one", &error);
  g_assert_cmpstr (first, ==, "one");
  g_assert_cmpstr (second, ==, "two");
  g_assert_null (ask (model, "more", &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_MISMATCH);
  assert_says (error, "has no answer left: all 2 were given");
  model_free (model);
}

static void
test_mismatch_names_line_and_difference (void)
{
  static const char *const line =
      "{\"ask\": {\"new\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"reverse "
      "abc\"}]}], \"tools\": [], \"tool\": null}, \"answer\": {\"text\": \"cba\"}}";
  g_autoptr (GError) error = NULL;
  struct model *model = open_lines (line, &error);
  g_assert_no_error (error);
  g_assert_null (ask (model, "reverse abd", &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_MISMATCH);
  assert_says (error, "line 1 of the replay ");
  assert_says (error, "the text of new message 1 (user) is \"reverse abd\", and was \"reverse abc\"");
  g_clear_error (&error);
  /* It is not used up by a question that it does not answer. */
  g_autofree char *said = ask (model, "reverse abc", &error);
  g_assert_cmpstr (said, ==, "cba");
  model_free (model);
}

/* A question after one answer, whose call had RESULT. */
static json_t *
messages_with_result (const char *result)
{
  g_autoptr (json_t) call =
      json_pack ("{s:s, s:s, s:s, s:{}}", "type", "call", "id", "c1", "name", "run_python", "arguments");
  json_t *messages =
      json_pack ("[o, {s:s, s:[O]}]", message_user ("go"), "role", "assistant", "content", call);
  json_t *content = json_pack ("[o]", message_text (result));
  json_array_append_new (messages, message_result (call, content, FALSE));
  return messages;
}

/* What is different between the questions after the results THEN and NOW; the caller's. */
static char *
result_difference (const char *then, const char *now)
{
  g_autoptr (json_t) before = messages_with_result (then), messages = messages_with_result (now);
  struct model_question recorded = question_of (before, NULL), question = question_of (messages, NULL);
  g_autoptr (json_t) asked = replay_ask (&recorded);
  return replay_difference (asked, &question);
}

static void
test_what_changes_by_itself (void)
{
  static const char *const same[][2] = {
      {"{\"stdout\": \"6\\n\", \"run_id\": \"a\", \"usage\": {\"wall_ms\": 1}}",
       "{\"usage\": {\"wall_ms\": 7}, \"run_id\": \"b\", \"stdout\": \"6\\n\"}"},
      {"run 0198c0de-0000-7000-8000-000000000001 took 12 ms",
       "run 0198c0de-0000-7000-8000-0000000000ff took 3.4 ms"},
      {"at 2026-11-22T05:09:51.123Z", "at 2027-01-02T15:00:01Z"},
      {"http://127.0.0.1:8080/v1/files/a/b?expires=1&signature=x", "/v1/files/c"},
      {"<object at 0x7f00deadbeef>", "<object at 0x7f0012345678>"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autofree char *difference = result_difference (same[i][0], same[i][1]);
    g_assert_cmpstr (difference, ==, NULL);
  }
  static const char *const different[][3] = {
      {"{\"stdout\": \"6\\n\"}", "{\"stdout\": \"7\\n\"}", "the result of run_python is"},
      {"42", "43", "the result of run_python is \"43\", and was \"42\""},
      {"{\"stdout\": \"\"}", "{\"stdout\": \"\", \"stderr\": \"oh\"}", "the result of run_python is"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (different); i++) {
    g_autofree char *difference = result_difference (different[i][0], different[i][1]);
    g_assert_nonnull (difference);
    g_assert_nonnull (strstr (difference, different[i][2]));
  }
  /* A person means the durations that they write. */
  g_autofree char *said = replay_settle ("wait 5 s", FALSE);
  g_assert_cmpstr (said, ==, "wait 5 s");
}

static void
test_tools_are_compared (void)
{
  g_autoptr (json_t) messages = json_pack ("[o]", message_user ("go"));
  g_autoptr (json_t) tools = json_pack ("[{s:s}, {s:s}]", "name", "b", "name", "a");
  struct model_question question = question_of (messages, tools);
  g_autoptr (json_t) same = json_pack ("{s:[s, s]}", "tools", "a", "b");
  g_autoptr (json_t) fewer = json_pack ("{s:[s], s:n}", "tools", "a", "tool");
  g_assert_null (replay_difference (same, &question));
  g_autofree char *difference = replay_difference (fewer, &question);
  g_assert_cmpstr (difference, ==, "the list of tools is \"a, b\", and was \"a\"");
  question.tool = "a";
  json_object_set_new (fewer, "tools", json_pack ("[s, s]", "b", "a"));
  g_autofree char *forced = replay_difference (fewer, &question);
  g_assert_cmpstr (forced, ==, "the tool that must be called is \"a\", and was \"as it likes\"");
}

static void
test_pictures_are_counted_and_not_kept (void)
{
  g_autoptr (json_t) messages =
      json_pack ("[{s:s, s:[o]}]", "role", "user", "content", message_image ("image/png", "iVBORw0KGgo="));
  struct model_question question = question_of (messages, NULL);
  g_autoptr (json_t) asked = replay_ask (&question);
  g_autofree char *text = json_dumps (asked, 0);
  g_assert_null (strstr (text, "iVBOR"));
  g_assert_null (replay_difference (asked, &question));
  g_autoptr (json_t) without = json_pack ("[{s:s, s:[]}]", "role", "user", "content");
  question.messages = without;
  g_autofree char *difference = replay_difference (asked, &question);
  g_assert_cmpstr (difference, ==, "a picture in new message 1 is missing");
}

static void
test_failures_are_played (void)
{
  g_autoptr (GError) error = NULL;
  struct model *model =
      open_lines ("{\"error\": {\"kind\": \"rate\", \"message\": \"the server is busy\"}}", &error);
  g_assert_no_error (error);
  g_assert_null (ask (model, "hello", &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_RATE);
  g_assert_cmpstr (error->message, ==, "the server is busy");
  model_free (model);
}

static void
test_waits_end_when_cancelled (void)
{
  int ends[2];
  g_assert_cmpint (pipe (ends), ==, 0);
  g_assert_cmpint (write (ends[1], "x", 1), ==, 1);
  g_autoptr (GError) error = NULL;
  struct model *model = open_lines ("{\"wait_ms\": 600000, \"answer\": {\"text\": \"late\"}}", &error);
  g_autoptr (json_t) messages = json_pack ("[o]", message_user ("go"));
  struct model_question question = question_of (messages, NULL);
  question.cancel_fd = ends[0];
  struct model_answer answer = {0};
  g_assert_false (model_ask (model, &question, &answer, &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_CANCELLED);
  close (ends[0]);
  close (ends[1]);
  model_free (model);
}

static void
test_wrong_files (void)
{
  static const struct {
    const char *lines, *says;
  } cases[] = {
      {"", "has no answers"},
      {"# nothing\n", "has no answers"},
      {"{\"answer\": {\"text\": \"a\"}}\n{]\n", "line 2 of the replay "},
      {"[]", "must be a JSON object"},
      {"{}", "it must have an \"answer\" or an \"error\""},
      {"{\"answer\": {}}", "neither text nor calls"},
      {"{\"answer\": {\"calls\": [{}]}}", "neither a text, nor a call"},
      {"{\"answer\": {\"calls\": [{\"name\": \"a\", \"arguments\": \"b\"}]}}", "neither a text, nor a call"},
      {"{\"answer\": {\"text\": \"a\", \"stop\": \"done\"}}", "must be end, calls, length or refusal"},
      {"{\"answer\": {\"text\": \"a\", \"usage\": {\"input_tokens\": \"b\"}}}", "must be numbers"},
      {"{\"answer\": {\"message\": {\"role\": \"user\", \"content\": []}}}", "must be an assistant's"},
      {"{\"error\": {\"kind\": \"bad\"}}", "must be one of: invalid, key"},
      {"{\"answer\": {\"text\": \"a\"}, \"aks\": {}}", "\"aks\" is not known"},
      {"{\"answer\": {\"text\": \"a\"}, \"ask\": []}", "its \"ask\" is no object"},
      {"{\"answer\": {\"text\": \"a\"}, \"ask\": {\"contains\": \"b\"}}", "must be a list of texts"},
      {"{\"answer\": {\"text\": \"a\"}, \"ask\": {\"has\": []}}", "is not known: it may have new"},
      {"{\"answer\": {\"text\": \"a\"}, \"wait_ms\": 700000}", "must be a number up to 600000"},
      {"{\"replay\": {\"version\": 2}}", "a version that this Adder does not know"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (open_lines (cases[i].lines, &error));
    g_assert_error (error, MODEL_ERROR, MODEL_ERROR_INVALID);
    assert_says (error, cases[i].says);
  }
  g_autoptr (GError) error = NULL;
  g_assert_null (model_open ("replay:/nowhere/at/all", &error));
  assert_says (error, "cannot read the replay /nowhere/at/all: No such file");
}

UNIT_SUITE (models_replay)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/replay/order", test_plays_in_order);
  g_test_add_func ("/models/replay/mismatch", test_mismatch_names_line_and_difference);
  g_test_add_func ("/models/replay/volatile", test_what_changes_by_itself);
  g_test_add_func ("/models/replay/tools", test_tools_are_compared);
  g_test_add_func ("/models/replay/pictures", test_pictures_are_counted_and_not_kept);
  g_test_add_func ("/models/replay/failures", test_failures_are_played);
  g_test_add_func ("/models/replay/cancel", test_waits_end_when_cancelled);
  g_test_add_func ("/models/replay/wrong", test_wrong_files);
  return g_test_run ();
}
