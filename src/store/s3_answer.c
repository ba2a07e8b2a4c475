/* SPDX-License-Identifier: Apache-2.0 */
/* An S3 server's answers, which may be anything: parsed by GMarkup, which knows neither custom entities nor
 * document types, with bounds on depth and number. */
#include <string.h>

#include "adder_types.h"
#include "store/s3.h"

#define DEPTH_MAX 8
#define ITEMS_MAX 10000
#define FIELD_MAX 8192 /* bytes of one text */

struct parse {
  struct s3_answer *answer;
  const char *item;
  guint depth;
  GHashTable *open; /* the item that is being read */
  GString *text;
};

static GHashTable *
make_fields (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
s3_answer_free (struct s3_answer *answer)
{
  g_free (answer->root);
  g_hash_table_unref (answer->fields);
  g_ptr_array_unref (answer->items);
  g_free (answer);
}

static void
begin_element (G_GNUC_UNUSED GMarkupParseContext *context, const char *name,
               G_GNUC_UNUSED const char **attributes, G_GNUC_UNUSED const char **values, gpointer data,
               GError **error)
{
  struct parse *parse = data;
  g_string_truncate (parse->text, 0);
  if (++parse->depth > DEPTH_MAX || parse->answer->items->len > ITEMS_MAX) {
    g_set_error_literal (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "there is too much in it");
    return;
  }
  if (parse->depth == 1) {
    g_free (parse->answer->root);
    parse->answer->root = g_strdup (name);
  } else if (parse->depth == 2 && parse->item && strcmp (name, parse->item) == 0) {
    parse->open = make_fields ();
    g_ptr_array_add (parse->answer->items, parse->open);
  }
}

static void
end_element (G_GNUC_UNUSED GMarkupParseContext *context, const char *name, gpointer data,
             G_GNUC_UNUSED GError **error)
{
  struct parse *parse = data;
  guint depth = parse->depth--;
  if (depth == 2 && parse->open)
    parse->open = NULL;
  else if (depth == 2)
    g_hash_table_insert (parse->answer->fields, g_strdup (name), g_strdup (parse->text->str));
  else if (depth == 3 && parse->open)
    g_hash_table_insert (parse->open, g_strdup (name), g_strdup (parse->text->str));
  g_string_truncate (parse->text, 0);
}

static void
s3_answer_add_text (G_GNUC_UNUSED GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                    GError **error)
{
  struct parse *parse = data;
  if (parse->text->len + length > FIELD_MAX)
    g_set_error_literal (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "a text is too long");
  else
    g_string_append_len (parse->text, text, (gssize)length);
}

struct s3_answer *
s3_answer_parse (const char *text, gsize length, const char *item, GError **error)
{
  static const GMarkupParser parser = {
      .start_element = begin_element, .end_element = end_element, .text = s3_answer_add_text};
  g_autoptr (s3_answer_t) answer = g_new0 (struct s3_answer, 1);
  answer->fields = make_fields ();
  answer->items = g_ptr_array_new_with_free_func ((GDestroyNotify)g_hash_table_unref);
  struct parse parse = {.answer = answer, .item = item, .text = g_string_new (NULL)};
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, &parse, NULL);
  g_autoptr (GError) problem = NULL;
  gboolean ok = g_markup_parse_context_parse (context, text, (gssize)length, &problem) &&
                g_markup_parse_context_end_parse (context, &problem);
  g_markup_parse_context_free (context);
  g_string_free (parse.text, TRUE);
  if (ok && answer->root)
    return g_steal_pointer (&answer);
  /* To GMarkup, a comment alone is a document. */
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE, "the answer is not that of an S3 server: %s",
               ok ? "there is nothing in it" : problem->message);
  return NULL;
}
