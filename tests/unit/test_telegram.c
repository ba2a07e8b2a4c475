/* SPDX-License-Identifier: Apache-2.0 */
/* What of the bot for Telegram needs no server: replies that are cut into messages, and what is kept of
 * updates. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "apps/chat/python_session.h"
#include "apps/telegram/inbox.h"
#include "apps/telegram/pages.h"
#include "common/json.h"
#include "store_world.h"
#include "suite.h"

/* ---- pages ---- */

static struct page *
page_at (const GPtrArray *all, guint i)
{
  g_assert_cmpuint (i, <, all->len);
  return all->pdata[i];
}

static void
test_markup_is_escaped (void)
{
  struct pages *pages = pages_new ();
  pages_add_markdown (pages, "a < b & `x > 1` and\n```python\nprint('<b>')\n```\nend");
  const GPtrArray *all = pages_end (pages);
  g_assert_cmpuint (all->len, ==, 1);
  g_assert_cmpstr (page_at (all, 0)->html, ==,
                   "a &lt; b &amp; <code>x &gt; 1</code> and\n<pre>print('&lt;b&gt;')</pre>\nend");
  g_assert_cmpstr (page_at (all, 0)->plain, ==, "a < b & x > 1 and\nprint('<b>')\nend");
  pages_free (pages);
}

/* Lines stay whole, and each message closes what it opens. */
static void
test_split_at_line_ends (void)
{
  g_autoptr (GString) code = g_string_new (NULL);
  for (guint i = 0; i < 500; i++)
    g_string_append_printf (code, "line %u %s\n", i, i % 2 ? "&&&&" : "𝒳𝒳𝒳𝒳");
  struct pages *pages = pages_new ();
  pages_add_code (pages, code->str);
  const GPtrArray *all = pages_end (pages);
  g_autoptr (GString) whole = g_string_new (NULL);
  g_assert_cmpuint (all->len, >, 1);
  for (guint i = 0; i < all->len; i++) {
    const struct page *page = page_at (all, i);
    g_assert_cmpuint (pages_units (page->plain), <=, PAGE_UNITS);
    g_assert_true (g_str_has_prefix (page->html, "<pre>line "));
    g_assert_nonnull (strstr (page->html, "</pre>"));
    g_string_append (whole, page->plain);
  }
  g_assert_cmpstr (whole->str, ==, code->str);
  pages_free (pages);
}

/* A line that is too long is cut, but never within a character of two units. */
static void
test_long_line (void)
{
  g_autoptr (GString) text = g_string_new ("x");
  for (guint i = 0; i < PAGE_UNITS; i++)
    g_string_append (text, "😀");
  struct pages *pages = pages_new ();
  pages_add_text (pages, text->str);
  const GPtrArray *all = pages_end (pages);
  g_assert_cmpuint (all->len, ==, 3);
  g_assert_cmpuint (pages_units (page_at (all, 0)->plain), ==, PAGE_UNITS - 1);
  g_assert_cmpuint (pages_units (page_at (all, 1)->plain), ==, PAGE_UNITS);
  g_assert_cmpuint (pages_units (page_at (all, 2)->plain), ==, 2);
  pages_free (pages);
}

static void
test_blank (void)
{
  static const char *const blanks[] = {"", " \n\t", "\u200b\u00a0\u202e\n", "\u2060"};
  for (gsize i = 0; i < G_N_ELEMENTS (blanks); i++) {
    struct pages *pages = pages_new ();
    pages_add_code (pages, blanks[i]);
    g_assert_cmpuint (pages_end (pages)->len, ==, 0);
    pages_free (pages);
  }
}

/* ---- what a cell's reply is made of ---- */

static void
test_reply_is_split (void)
{
  static const struct {
    const char *reply, *output, *line; /* NULL: none */
    gsize pictures;
  } rows[] = {
      {"1\n[cell 3] 🐍 [session active, 1 var]", "1", "[cell 3] 🐍 [session active, 1 var]", 0},
      {"[cell 1] 🐍 [session active, 0 vars]", "", "[cell 1] 🐍 [session active, 0 vars]", 0},
      {"a\n[A picture of me]\nb\n[cell 2] x\n[A picture was made.]", "a\n[A picture of me]\nb", "[cell 2] x",
       1},
      {"[A picture of me]", "[A picture of me]", NULL, 0},
      {"a\n[A picture of me]", "a\n[A picture of me]", NULL, 0},
      {"no cell\n", "no cell\n", NULL, 0},
      {"", "", NULL, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *line = NULL;
    gsize length = python_session_split (rows[i].reply, rows[i].pictures, &line);
    g_autofree char *output = g_strndup (rows[i].reply, length);
    g_assert_cmpstr (output, ==, rows[i].output);
    g_assert_cmpstr (line, ==, rows[i].line);
  }
}

/* ---- the inbox ---- */

/* "3 4 5": updates of these numbers. The caller's. */
static json_t *
updates_of (const char *numbers)
{
  g_auto (GStrv) words = g_strsplit (numbers, " ", -1);
  json_t *updates = json_array ();
  for (char **word = words; *word && **word; word++)
    json_array_append_new (updates,
                           json_pack ("{s:I}", "update_id", (json_int_t)g_ascii_strtoll (*word, NULL, 10)));
  return updates;
}

static gboolean
is_wanted (gpointer data, const json_t *update)
{
  return inbox_id (update) != *(const gint64 *)data;
}

/* Takes updates of NUMBERS, of which the one UNWANTED is not wanted, and EXPECTED are new. */
static void
take (struct inbox *inbox, const char *numbers, gint64 unwanted, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) updates = updates_of (numbers), wanted = updates_of (expected);
  g_autoptr (json_t) fresh = inbox_take (inbox, updates, is_wanted, &unwanted, &error);
  g_assert_no_error (error);
  g_assert_true (json_equal (fresh, wanted));
}

static struct inbox *
open_inbox (const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, "inbox.json", NULL);
  struct inbox *inbox = inbox_open (path, &error);
  g_assert_no_error (error);
  return inbox;
}

static void
test_inbox_takes_once (void)
{
  g_autofree char *folder = g_dir_make_tmp ("adder-telegram-XXXXXX", NULL);
  struct inbox *inbox = open_inbox (folder);
  g_assert_cmpint (inbox_offset (inbox), ==, 0);
  take (inbox, "10 11 12", 11, "10 12");
  g_assert_cmpint (inbox_offset (inbox), ==, 13);
  take (inbox, "10 11 12 13", 0, "11 13");
  inbox_end (inbox, 10);
  take (inbox, "10 13", 0, "");
  take (inbox, "0 -4", 0, "");
  g_assert_cmpint (inbox_offset (inbox), ==, 14);
  /* Numbers that begin anew are new. */
  take (inbox, "3 4", 0, "3 4");
  g_assert_cmpint (inbox_offset (inbox), ==, 5);
  inbox_skip (inbox, 5);
  g_assert_cmpint (inbox_offset (inbox), ==, 6);
  g_assert_cmpuint (inbox_count (inbox), ==, 5);
  inbox_close (inbox);
  suite_remove (folder);
}

static void
test_inbox_survives (void)
{
  g_autofree char *folder = g_dir_make_tmp ("adder-telegram-XXXXXX", NULL);
  struct inbox *inbox = open_inbox (folder);
  take (inbox, "1 2 3", 0, "1 2 3");
  inbox_begin (inbox, 1);
  inbox_end (inbox, 1);
  inbox_begin (inbox, 2);
  /* Nobody else has it meanwhile. */
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, "inbox.json", NULL);
  g_assert_null (inbox_open (path, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  for (guint again = 0; again < 2; again++) {
    inbox_close (inbox);
    inbox = open_inbox (folder);
    g_assert_cmpint (inbox_offset (inbox), ==, 4);
    g_autoptr (json_t) left = inbox_left (inbox);
    g_assert_cmpuint (json_array_size (left), ==, 2);
    g_assert_true (json_is_true (json_object_get (json_array_get (left, 0), "begun")));
    g_assert_null (json_object_get (json_array_get (left, 1), "begun"));
    take (inbox, "1 2 3", 0, "");
  }
  GStatBuf st;
  g_assert_cmpint (g_stat (path, &st), ==, 0);
  g_assert_cmpuint (st.st_mode & 0777, ==, 0600);
  inbox_close (inbox);
  suite_remove (folder);
}

/* What cannot be written down is not taken. */
static void
test_inbox_without_disk (void)
{
  g_autofree char *folder = g_dir_make_tmp ("adder-telegram-XXXXXX", NULL);
  struct inbox *inbox = open_inbox (folder);
  take (inbox, "1", 0, "1");
  suite_remove (folder);
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) updates = updates_of ("2 3");
  gint64 unwanted = 0;
  g_assert_null (inbox_take (inbox, updates, is_wanted, &unwanted, &error));
  g_assert_nonnull (error);
  g_assert_cmpint (inbox_offset (inbox), ==, 2);
  g_assert_cmpuint (inbox_count (inbox), ==, 1);
  inbox_close (inbox);
}

UNIT_SUITE (telegram)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/telegram/pages/markup", test_markup_is_escaped);
  g_test_add_func ("/telegram/pages/line-ends", test_split_at_line_ends);
  g_test_add_func ("/telegram/pages/long-line", test_long_line);
  g_test_add_func ("/telegram/pages/blank", test_blank);
  g_test_add_func ("/telegram/reply", test_reply_is_split);
  g_test_add_func ("/telegram/inbox/once", test_inbox_takes_once);
  g_test_add_func ("/telegram/inbox/survives", test_inbox_survives);
  g_test_add_func ("/telegram/inbox/without-disk", test_inbox_without_disk);
  return g_test_run ();
}
