/* SPDX-License-Identifier: Apache-2.0 */
/* What processes are at: slots, and what is left of those that died. */
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/journal.h"
#include "suite.h"

struct found {
  GPtrArray *texts;
  guint done;
  gboolean refuses;
};

static void
found_take (gpointer data, const char *text)
{
  g_ptr_array_add (((struct found *)data)->texts, g_strdup (text));
}

static gboolean
found_done (gpointer data, GError **error)
{
  struct found *found = data;
  found->done++;
  if (found->refuses)
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "not now");
  return !found->refuses;
}

/* What is left in FOLDER, with "|" between, in their order; the caller's. */
static char *
recover (const char *folder, gboolean refuses, guint files)
{
  g_autoptr (GError) error = NULL;
  struct found found = {.texts = g_ptr_array_new_with_free_func (g_free), .refuses = refuses};
  const struct journal_reader reader = {found_take, found_done, &found};
  g_assert_cmpint (journal_recover (folder, "key", &reader, &error), ==, !refuses || files == 0);
  g_assert_cmpuint (found.done, ==, files);
  g_ptr_array_add (found.texts, NULL);
  char *joined = g_strjoinv ("|", (GStrv)found.texts->pdata);
  g_ptr_array_unref (found.texts);
  return joined;
}

/* A process that writes TEXTS, clears the first of them, and is killed. */
static void
die_at (const char *folder, const char *const *texts)
{
  pid_t child = fork ();
  if (child == 0) {
    struct journal *journal = journal_open (folder, "key", NULL);
    int first = -1;
    for (gsize i = 0; journal && texts[i]; i++) {
      int slot = journal_write (journal, -1, texts[i]);
      if (i == 0)
        first = slot;
    }
    journal_clear (journal, first);
    raise (SIGKILL);
  }
  int status = 0;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
}

static void
test_left (void)
{
  g_autofree char *path = g_dir_make_tmp ("adder-journal-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (path, "running", NULL);
  g_autofree char *long_text = g_strnfill (JOURNAL_TEXT_BYTES, 'x'), *none = recover (folder, FALSE, 0);
  g_assert_cmpstr (none, ==, "");
  die_at (folder, (const char *const[]){"over", "one", long_text, "two", NULL});
  g_autofree char *expected = g_strconcat ("one|", long_text, "|two", NULL);
  /* What could not be done is there the next time, and then no more. */
  for (guint i = 0; i < 3; i++) {
    g_autofree char *left = recover (folder, i == 0, i < 2);
    g_assert_cmpstr (left, ==, i < 2 ? expected : "");
  }
  suite_remove (path);
}

static void
test_living (void)
{
  g_autofree char *path = g_dir_make_tmp ("adder-journal-XXXXXX", NULL);
  g_autofree char *too_long = g_strnfill (JOURNAL_TEXT_BYTES + 1, 'x');
  struct journal *journal = journal_open (path, "key", NULL), *other = journal_open (path, "other", NULL);
  g_assert_nonnull (journal);
  int slot = journal_write (journal, -1, "a long one that is replaced");
  g_assert_cmpint (journal_write (journal, slot, "short"), ==, slot);
  g_assert_cmpint (journal_write (journal, -1, too_long), ==, -1);
  g_assert_cmpint (journal_write (journal, -1, "two\nlines"), ==, -1);
  /* Slots are used again. */
  int second = journal_write (journal, -1, "second");
  journal_clear (journal, second);
  g_assert_cmpint (journal_write (journal, -1, "third"), ==, second);
  journal_clear (journal, second);
  g_assert_cmpint (journal_write (other, -1, "of another kind"), >=, 0);
  g_autofree char *nothing = recover (path, FALSE, 0);
  g_assert_cmpstr (nothing, ==, "");
  /* What is closed with a text in it is left. */
  journal_close (journal);
  journal_close (other);
  g_autofree char *left = recover (path, FALSE, 1);
  g_assert_cmpstr (left, ==, "short");
  suite_remove (path);
}

/* As after a power cut: what has no end is none. */
static void
test_damaged (void)
{
  g_autofree char *path = g_dir_make_tmp ("adder-journal-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (path, "key-x", NULL);
  g_autofree char *bytes = g_malloc0 (3 * 8192);
  g_strlcpy (bytes, "no end", 8192);
  g_strlcpy (bytes + 8192, "whole\nrest of an older one", 8192);
  memset (bytes + (gsize)2 * 8192, 'x', 8192);
  g_assert_true (g_file_set_contents (file, bytes, 3 * 8192, NULL));
  g_autofree char *left = recover (path, FALSE, 1);
  g_assert_cmpstr (left, ==, "whole");
  suite_remove (path);
}

UNIT_SUITE (store_journal)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/journal/left", test_left);
  g_test_add_func ("/store/journal/living", test_living);
  g_test_add_func ("/store/journal/damaged", test_damaged);
  return g_test_run ();
}
