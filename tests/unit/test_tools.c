/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools as a whole, the checking of arguments, and finding tools by name. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "suite.h"
#include "tools/schema.h"
#include "tools/table.h"

/* ---- the table ---- */

static void
check_name (const char *name)
{
  gsize length = strlen (name);
  g_assert_cmpuint (length, >=, 1);
  g_assert_cmpuint (length, <=, 64);
  g_assert_cmpuint (strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"), ==,
                    length);
}

static void
check_field (const struct field *field, gboolean parameter)
{
  check_name (field->name);
  g_assert_cmpuint (field->types, !=, 0);
  g_assert_nonnull (field->text);
  g_assert_true (g_str_has_suffix (field->text, ".") || g_str_has_suffix (field->text, "?"));
  g_assert_cmpint (field->minimum, <=, field->maximum);
  g_assert_cmpint (!field->pattern, ==, !field->pattern_words);
  g_assert_true (!field->words || (field->words[0] && !field->pattern));
  g_assert_true (!(field->types & FIELD_LIST) || field->items != 0);
  if (!parameter) {
    g_assert_null (field->standard);
    return;
  }
  /* Everything that a caller controls has a bound. */
  g_assert_true (!(field->types & (FIELD_TEXT | FIELD_INTEGER | FIELD_LIST)) || field->maximum > 0 ||
                 field->pattern || field->words);
  g_assert_false (field->types & FIELD_NULL);
  g_assert_true (!(field->types & FIELD_OBJECT) || field->members);
  g_assert_true (field->optional || !field->standard);
  g_autoptr (json_t) standard = field->standard ? json_loads (field->standard, JSON_DECODE_ANY, NULL) : NULL;
  g_assert_cmpint (!standard, ==, !field->standard);
}

static void
test_table (void)
{
  for (gsize set = 0; toolsets[set]; set++)
    for (gsize at = 0; at < toolsets[set]->count; at++) {
      const struct tool *tool = &toolsets[set]->tools[at];
      check_name (tool->name);
      for (gsize other = 0; other < at; other++)
        g_assert_cmpstr (tool->name, !=, toolsets[set]->tools[other].name);
      g_assert_true (tool->title && tool->description && tool->replies[0]);
      g_assert_null (strchr (tool->description, '\n'));
      g_assert_true (!tool->guidance || !strchr (tool->guidance, '\n'));
      g_assert_false ((tool->hints & TOOL_READ_ONLY) && (tool->hints & (TOOL_DESTRUCTIVE | TOOL_EXECUTES)));
      for (const struct field *field = tool->parameters; field->name; field++) {
        check_field (field, TRUE);
        g_assert_true (field_find (tool->parameters, field->name) == field);
      }
      for (gsize i = 0; tool->replies[i]; i++) {
        g_assert_null (field_find (tool->replies[i], "run_id")); /* which schema.c adds to all of them */
        for (const struct field *field = tool->replies[i]; field->name; field++)
          check_field (field, FALSE);
      }
    }
}

/* What a parameter is by default passes its own check. */
static void
test_defaults (void)
{
  for (gsize set = 0; toolsets[set]; set++)
    for (gsize at = 0; at < toolsets[set]->count; at++) {
      const struct tool *tool = &toolsets[set]->tools[at];
      g_autoptr (json_t) given = json_object ();
      for (const struct field *field = tool->parameters; field->name; field++)
        if (field->standard)
          json_object_set_new (given, field->name, json_loads (field->standard, JSON_DECODE_ANY, NULL));
        else if (!field->optional)
          json_object_set_new (given, field->name, json_string ("0123")); /* also an id, and a name */
      g_autoptr (GError) problem = NULL;
      g_autoptr (json_t) checked = field_check (tool->parameters, tool->name, given, &problem);
      g_assert_no_error (problem);
      for (const struct field *field = tool->parameters; field->name; field++)
        g_assert_nonnull (json_object_get (checked, field->name));
    }
}

/* In the strict form every parameter is required, and one that may be left out may be null. */
static void
test_strict (void)
{
  for (gsize set = 0; toolsets[set]; set++)
    for (gsize at = 0; at < toolsets[set]->count; at++) {
      const struct tool *tool = &toolsets[set]->tools[at];
      g_autoptr (json_t) schema = schema_input_strict (tool);
      const json_t *properties = json_object_get (schema, "properties");
      g_assert_true (json_is_false (json_object_get (schema, "additionalProperties")));
      g_assert_cmpuint (json_array_size (json_object_get (schema, "required")), ==,
                        json_object_size (properties));
      for (const struct field *field = tool->parameters; field->name; field++) {
        g_autofree char *text = json_to_text (json_object_get (properties, field->name));
        g_assert_cmpint (strstr (text, "\"null\"") != NULL, ==, field->optional);
        g_assert_null (strstr (text, "\"default\""));
        g_assert_null (strstr (text, "\"maxLength\""));
      }
    }
}

/* ---- finding ---- */

static void
assert_finds (const char *toolset, const char *name, const char *expected_toolset, const char *expected)
{
  g_autoptr (GError) problem = NULL;
  const struct toolset *found_in = toolset ? toolset_find (toolset, &problem) : NULL;
  const struct tool *found;
  g_assert_no_error (problem);
  gboolean ok = tool_find (found_in, name, &found_in, &found, &problem);
  if (expected) {
    g_assert_no_error (problem);
    g_assert_true (ok);
    g_assert_cmpstr (found->name, ==, expected);
    g_assert_cmpstr (found_in->name, ==, expected_toolset);
  } else {
    g_assert_false (ok);
    g_assert_nonnull (strstr (problem->message, expected_toolset));
  }
}

static void
test_find (void)
{
  assert_finds (NULL, "run_python", "adder", "run_python");
  assert_finds (NULL, "compute_with_python", "compute", "compute_with_python");
  assert_finds (NULL, "code_executor.run_python", "code_executor", "run_python");
  assert_finds ("code_executor", "run_python", "code_executor", "run_python");
  assert_finds ("code_executor", "code_executor.run_python", "code_executor", "run_python");
  assert_finds (NULL, "file_manager.load_file", "code_executor", "load_file");
  assert_finds ("code_executor", "file_manager.list_files", "code_executor", "list_files");
  /* What an interface serves is one toolset, however a name is written. */
  assert_finds ("compute", "code_executor.run_python", "there is no tool", NULL);
  assert_finds ("assistant", "file_manager.load_file", "there is no tool", NULL);
  assert_finds ("compute", "run_python", "there is no tool", NULL);
  assert_finds (NULL, "compute_with_pyton", "did you mean compute_with_python?", NULL);
  assert_finds (NULL, "", "there is no tool", NULL);
  assert_finds (NULL, ".", "there is no tool", NULL);
  assert_finds (NULL, "compute.", "there is no tool", NULL);
  assert_finds (NULL, "compute.compute.compute_with_python", "there is no tool", NULL);
}

/* ---- arguments ---- */

static const struct field parameters[] = {
    {.name = "code", .types = FIELD_TEXT, .maximum = 5, .text = "Code."},
    {.name = "count",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "3",
     .minimum = 1,
     .maximum = 60,
     .unit = "s",
     .text = "Count."},
    {.name = "flag", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false", .text = "Flag."},
    {.name = "words",
     .types = FIELD_LIST,
     .items = FIELD_TEXT,
     .optional = TRUE,
     .maximum = 2,
     .text = "Words."},
    {.name = "name",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .pattern = "^[a-z]+$",
     .pattern_words = "small letters",
     .text = "Name."},
    {.name = "form",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .words = FIELD_WORDS ("csv", "json", "none"),
     .text = "Form."},
    {0},
};
static const struct tool tool = {.name = "t", .parameters = parameters};

static const struct {
  const char *given;
  const char *expected; /* the arguments as they are then, or the message */
  gboolean ok;
} cases[] = {
    {"{\"code\": \"x\"}",
     "{\"code\":\"x\",\"count\":3,\"flag\":false,\"words\":null,\"name\":null,\"form\":null}", TRUE},
    {"{\"code\": \"x\", \"count\": null, \"name\": null}",
     "{\"code\":\"x\",\"count\":3,\"flag\":false,\"words\":null,\"name\":null,\"form\":null}", TRUE},
    {"{\"code\": \"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\", \"count\": 60.0, \"flag\": true, \"words\": [], "
     "\"name\": \"a\", \"form\": \"json\"}",
     "{\"code\":\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\",\"count\":60,\"flag\":true,\"words\":[],"
     "\"name\":\"a\",\"form\":\"json\"}",
     TRUE},
    {"{}", "t: code is missing", FALSE},
    {"{\"code\": null}", "t: code must be text, not null", FALSE},
    {"{\"code\": \"123456\"}", "t: code must be at most 5 characters, not 6", FALSE},
    {"{\"code\": \"x\", \"count\": 0}", "t: count must be at least 1 s, not 0", FALSE},
    {"{\"code\": \"x\", \"count\": 61}", "t: count must be at most 60 s, not 61", FALSE},
    {"{\"code\": \"x\", \"count\": 1.5}", "t: count must be an integer, not a number", FALSE},
    {"{\"code\": \"x\", \"count\": 1e300}", "t: count must be an integer, not a number", FALSE},
    {"{\"code\": \"x\", \"count\": \"5\"}", "t: count must be an integer, not text", FALSE},
    {"{\"code\": \"x\", \"count\": true}", "t: count must be an integer, not true or false", FALSE},
    {"{\"code\": \"x\", \"flag\": 1}", "t: flag must be true or false, not an integer", FALSE},
    {"{\"code\": \"x\", \"words\": [\"a\", 1]}", "t: each item of words must be text, not an integer", FALSE},
    {"{\"code\": \"x\", \"words\": [\"a\", \"b\", \"c\"]}", "t: words must be at most 2 items, not 3", FALSE},
    {"{\"code\": \"x\", \"words\": {}}", "t: words must be a list, not an object", FALSE},
    {"{\"code\": \"x\", \"name\": \"a\\n\"}", "t: name must be small letters, not \"a\\x0a\"", FALSE},
    {"{\"code\": \"x\", \"form\": \"xls\"}", "t: form must be csv, json or none, not \"xls\"", FALSE},
    {"{\"code\": \"x\", \"cuont\": 5}", "t: there is no parameter \"cuont\", did you mean count?", FALSE},
    {"{\"code\": \"x\", \"zzz\": 5}",
     "t: there is no parameter \"zzz\"; the parameters are code, count, flag, words, name, form", FALSE},
    {"{\"count\": 0, \"flag\": 1, \"zz\": 1}",
     "t: there is no parameter \"zz\"; code is missing; count must be at least 1 s, not 0; flag must be true "
     "or false, not "
     "an integer; the parameters are code, count, flag, words, name, form",
     FALSE},
};

static void
test_arguments (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) given = json_loads (cases[i].given, 0, NULL);
    g_autoptr (json_t) checked = field_check (tool.parameters, tool.name, given, &problem);
    g_autofree char *text = checked ? json_to_text (checked) : g_strdup (problem->message);
    g_assert_cmpstr (text, ==, cases[i].expected);
    g_assert_cmpint (checked != NULL, ==, cases[i].ok);
  }
}

/* ---- objects in objects ---- */

static const struct field place_members[] = {
    {.name = "name", .types = FIELD_TEXT, .maximum = 3, .text = "Name."},
    {.name = "deep", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "true", .text = "Deep."},
    {0},
};
static const struct field nested[] = {
    {.name = "place", .types = FIELD_OBJECT, .optional = TRUE, .members = place_members, .text = "Place."},
    {.name = "places",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = place_members,
     .optional = TRUE,
     .standard = "[]",
     .maximum = 2,
     .text = "Places."},
    {.name = "map",
     .types = FIELD_OBJECT,
     .items = FIELD_TEXT,
     .optional = TRUE,
     .standard = "{}",
     .maximum = 2,
     .text = "A map."},
    {.name = "any", .types = FIELD_OBJECT, .optional = TRUE, .text = "Any object."},
    {0},
};

static const struct {
  const char *given, *expected;
} nested_cases[] = {
    {"{}", "{\"place\":null,\"places\":[],\"map\":{},\"any\":null}"},
    {"{\"place\": {\"name\": \"a\"}, \"places\": [{\"name\": \"b\", \"deep\": false}], \"map\": {\"k\": "
     "\"v\"}, "
     "\"any\": {\"x\": [1]}}",
     "{\"place\":{\"name\":\"a\",\"deep\":true},\"places\":[{\"name\":\"b\",\"deep\":false}],"
     "\"map\":{\"k\":\"v\"},\"any\":{\"x\":[1]}}"},
    {"{\"place\": {}}", "b: place.name is missing"},
    {"{\"place\": {\"name\": \"a\", \"nane\": 1}}",
     "b: there is no parameter \"place.nane\", did you mean name?"},
    {"{\"places\": [{\"name\": \"a\"}, {\"name\": \"abcd\"}]}",
     "b: places[1].name must be at most 3 characters, not 4"},
    {"{\"places\": [1]}", "b: each item of places must be an object, not an integer"},
    {"{\"map\": {\"k\": 1}}", "b: each value of map must be text, not an integer"},
    {"{\"map\": {\"a\": \"\", \"b\": \"\", \"c\": \"\"}}", "b: map must be at most 2 names, not 3"},
};

static void
test_nested_arguments (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (nested_cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) given = json_loads (nested_cases[i].given, 0, NULL);
    g_autoptr (json_t) checked = field_check (nested, "b", given, &problem);
    g_autofree char *text = checked ? json_to_text (checked) : g_strdup (problem->message);
    g_assert_cmpstr (text, ==, nested_cases[i].expected);
  }
  g_autoptr (json_t) schema = schema_fields (nested, FALSE);
  const json_t *properties = json_object_get (schema, "properties");
  g_autofree char *map = json_to_text (json_object_get (properties, "map"));
  g_assert_cmpstr (map, ==,
                   "{\"anyOf\":[{\"type\":\"object\",\"maxProperties\":2,\"additionalProperties\":{\"type\":"
                   "\"string\"}},{\"type\":\"null\"}],\"default\":{},\"description\":\"A map.\"}");
}

/* However many names are wrong, the sentence has an end. */
static void
test_many_problems (void)
{
  g_autoptr (json_t) given = json_object ();
  for (int i = 0; i < 5000; i++) {
    g_autofree char *name = g_strdup_printf ("unknown%d", i);
    json_object_set_new (given, name, json_null ());
  }
  g_autoptr (GError) problem = NULL;
  g_assert_null (field_check (tool.parameters, tool.name, given, &problem));
  g_assert_cmpuint (strlen (problem->message), <, 1000);
  g_assert_nonnull (strstr (problem->message, "; and 4985 more; the parameters are code"));
}

UNIT_SUITE (tools)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tools/table", test_table);
  g_test_add_func ("/tools/nested-arguments", test_nested_arguments);
  g_test_add_func ("/tools/defaults", test_defaults);
  g_test_add_func ("/tools/strict", test_strict);
  g_test_add_func ("/tools/find", test_find);
  g_test_add_func ("/tools/arguments", test_arguments);
  g_test_add_func ("/tools/many-problems", test_many_problems);
  return g_test_run ();
}
