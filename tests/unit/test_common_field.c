/* SPDX-License-Identifier: Apache-2.0 */
/* Fields as members of a struct. What the validator says of objects is in test_tools.c, with the schemas. */
#include "adder.h"
#include "common/field.h"
#include "common/json.h"
#include "suite.h"

struct thing {
  char *name;
  guint small;
  guint64 large;
  gboolean flag;
  GStrv words;
  json_t *any;
  struct {
    int fraction[3];
  } plain;
  char *spared;
};

enum { MARK_ONE = 1 << 0, MARK_OTHER = 1 << 1 };

#define AT(member) FIELD_AT (struct thing, member)

static const struct field fields[] = {
    {.name = "name", .types = FIELD_TEXT, .optional = TRUE, .marks = MARK_ONE, AT (name)},
    {.name = "small",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "7",
     .marks = MARK_OTHER,
     AT (small)},
    {.name = "large", .types = FIELD_INTEGER, .maximum = G_MAXINT64, AT (large)},
    {.name = "flag", .types = FIELD_BOOLEAN, .optional = TRUE, .marks = MARK_ONE | MARK_OTHER, AT (flag)},
    {.name = "words", .types = FIELD_LIST | FIELD_NULL, .items = FIELD_TEXT, .marks = MARK_ONE, AT (words)},
    {.name = "any", .types = FIELD_OBJECT, .optional = TRUE, .marks = MARK_ONE, AT (any)},
    {.name = "plain", .marks = MARK_ONE, AT (plain)},
    {.name = "elsewhere", .types = FIELD_TEXT, .optional = TRUE},
    {0},
};

/* Without the row of plain data, which no JSON has. */
static struct field json_fields[G_N_ELEMENTS (fields) - 1];

static void
set_up_fields (void)
{
  gsize count = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    if (!fields[i].name || fields[i].types != 0)
      json_fields[count++] = fields[i];
  g_assert_cmpuint (count, ==, G_N_ELEMENTS (json_fields));
}

static void
fill (struct thing *thing, const char *text)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) given = json_loads (text, 0, NULL);
  g_autoptr (json_t) checked = field_check (json_fields, "it", given, &problem);
  g_assert_no_error (problem);
  field_fill (json_fields, checked, thing);
}

static const char whole[] =
    "{\"name\":\"n\",\"small\":4294967295,\"large\":9223372036854775807,\"flag\":true,"
    "\"words\":[\"a\",\"\"],\"any\":{\"x\":[1]}}";

static void
test_there_and_back (void)
{
  struct thing thing = {.spared = (char *)"stays"};
  fill (&thing, whole);
  g_assert_cmpstr (thing.name, ==, "n");
  g_assert_cmpuint (thing.small, ==, G_MAXUINT32);
  g_assert_cmpuint (thing.large, ==, G_MAXINT64);
  g_assert_true (thing.flag);
  g_assert_cmpuint (g_strv_length (thing.words), ==, 2);
  g_autoptr (json_t) written = field_write (fields, &thing);
  g_autofree char *text = json_to_text (written);
  g_assert_cmpstr (text, ==, whole);
  /* What is there is replaced, and what is left out has its default. */
  fill (&thing, "{\"large\": 1.0, \"words\": null}");
  g_autoptr (json_t) less = field_write (fields, &thing);
  g_autofree char *less_text = json_to_text (less);
  g_assert_cmpstr (less_text, ==,
                   "{\"name\":null,\"small\":7,\"large\":1,\"flag\":false,\"words\":null,\"any\":null}");
  field_clear (fields, &thing);
  g_assert_cmpstr (thing.spared, ==, "stays");
}

static void
test_copy (void)
{
  struct thing thing = {.plain.fraction = {1, 2, 3}}, copy = {.small = 5};
  fill (&thing, whole);
  field_copy (fields, MARK_ONE, &thing, &copy);
  g_assert_cmpstr (copy.name, ==, "n");
  g_assert_true (copy.name != thing.name && copy.words != thing.words && copy.any != thing.any);
  g_assert_true (json_equal (copy.any, thing.any));
  g_assert_cmpuint (copy.small, ==, 5);
  g_assert_cmpuint (copy.large, ==, 0);
  g_assert_cmpint (copy.plain.fraction[2], ==, 3);
  field_copy (fields, MARK_OTHER, &thing, &copy);
  g_assert_cmpuint (copy.small, ==, G_MAXUINT32);
  g_assert_cmpstr (copy.name, ==, "n");
  field_clear (fields, &thing);
  g_assert_null (thing.name);
  field_copy (fields, 0, &thing, &copy);
  g_assert_true (!copy.name && !copy.words && !copy.any && copy.small == 0 && copy.large == 0 && !copy.flag);
  field_clear (fields, &copy);
}

static void
test_types (void)
{
  g_autoptr (json_t) real = json_real (3.0), fraction = json_real (3.5);
  g_assert_true (field_has_type (real, FIELD_INTEGER));
  g_assert_false (field_has_type (fraction, FIELD_INTEGER));
  g_assert_true (field_has_type (fraction, FIELD_TEXT | FIELD_NUMBER));
  g_assert_false (field_has_type (NULL, FIELD_NULL));
}

/* Integers have one form wherever they stand, and numbers stay what they are. */
static void
test_integers_within (void)
{
  static const struct field rows[] = {
      {.name = "integers", .types = FIELD_LIST, .items = FIELD_INTEGER},
      {.name = "limits", .types = FIELD_OBJECT, .items = FIELD_INTEGER},
      {.name = "numbers", .types = FIELD_LIST, .items = FIELD_NUMBER},
      {.name = "any", .types = FIELD_OBJECT},
      {0},
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) given = json_loads (
      "{\"integers\":[3.0,4],\"limits\":{\"a\":5.0},\"numbers\":[3.0,4],\"any\":{\"b\":3.0}}", 0, NULL);
  g_autoptr (json_t) checked = field_check (rows, "it", given, &problem);
  g_assert_no_error (problem);
  g_autofree char *text = json_to_text (checked);
  g_assert_cmpstr (text, ==,
                   "{\"integers\":[3,4],\"limits\":{\"a\":5},\"numbers\":[3.0,4],\"any\":{\"b\":3.0}}");
}

/* What has its default is left out, at every level, and comes back. */
static void
test_shorten (void)
{
  static const struct field part[] = {
      {.name = "path", .types = FIELD_TEXT},
      {.name = "bytes", .types = FIELD_INTEGER, .optional = TRUE, .standard = "7"},
      {0},
  };
  static const struct field table[] = {
      {.name = "code", .types = FIELD_TEXT},
      {.name = "once", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false"},
      {.name = "note", .types = FIELD_TEXT, .optional = TRUE},
      {.name = "one", .types = FIELD_OBJECT, .optional = TRUE, .members = part},
      {.name = "list", .types = FIELD_LIST, .items = FIELD_OBJECT, .optional = TRUE, .members = part},
      {0},
  };
  static const char *const brief[] = {
      "{\"code\":\"1\"}",
      "{\"code\":\"\",\"once\":true,\"note\":\"\"}",
      "{\"code\":\"1\",\"one\":{\"path\":\"a\"}}",
      "{\"code\":\"1\",\"one\":{\"path\":\"a\",\"bytes\":8}}",
      "{\"code\":\"1\",\"list\":[{\"path\":\"b\"},{\"path\":\"c\",\"bytes\":0}]}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (brief); i++) {
    g_autoptr (json_t) object = json_loads (brief[i], 0, NULL);
    g_autoptr (json_t) checked = field_check (table, NULL, object, NULL);
    g_assert_cmpuint (json_object_size (checked), ==, 5);
    g_autoptr (json_t) shortened = field_shorten (table, checked);
    g_assert_true (json_equal (shortened, object));
    g_autoptr (json_t) again = field_check (table, NULL, shortened, NULL);
    g_assert_true (json_equal (again, checked));
  }
}

UNIT_SUITE (common_field)
{
  g_test_init (&argc, &argv, NULL);
  set_up_fields ();
  g_test_add_func ("/field/there-and-back", test_there_and_back);
  g_test_add_func ("/field/copy", test_copy);
  g_test_add_func ("/field/types", test_types);
  g_test_add_func ("/field/integers-within", test_integers_within);
  g_test_add_func ("/field/shorten", test_shorten);
  return g_test_run ();
}
