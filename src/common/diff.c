/* SPDX-License-Identifier: Apache-2.0 */
/* E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy variant: for each number
 * of changes D the farthest point that can be reached on each diagonal; tracing back gives the changes. Lines
 * are numbers here, equal lines the same number. */
#include "common/diff.h"

#include <string.h>

#define CONTEXT 3

/* The search stops at more changes than this: its memory grows with their square. */
#define CHANGES_MAX 500

struct line {
  const char *text;
  gsize length; /* with its end, which the last may lack */
};

struct side {
  GArray *lines;   /* struct line */
  guint *numbers;  /* of each line */
  guint8 *changed; /* of each line: it is not in the other text */
};

static guint
hash_line (gconstpointer key)
{
  const struct line *line = key;
  guint hash = 5381;
  for (gsize i = 0; i < line->length; i++)
    hash = hash * 33 + (guchar)line->text[i];
  return hash;
}

static gboolean
equal_lines (gconstpointer left, gconstpointer right)
{
  const struct line *a = left, *b = right;
  return a->length == b->length && memcmp (a->text, b->text, a->length) == 0;
}

static void
diff_split (struct side *side, const char *text, gsize length)
{
  side->lines = g_array_new (FALSE, FALSE, sizeof (struct line));
  for (const char *at = text, *end = text + length; at < end;) {
    const char *newline = memchr (at, '\n', (gsize)(end - at));
    struct line line = {at, (gsize)((newline ? newline + 1 : end) - at)};
    g_array_append_val (side->lines, line);
    at += line.length;
  }
  /* One more, so that an empty text has arrays as well. */
  side->numbers = g_new0 (guint, side->lines->len + 1);
  side->changed = g_new0 (guint8, side->lines->len + 1);
}

static void
number_lines (struct side *side, GHashTable *known)
{
  for (guint i = 0; i < side->lines->len; i++) {
    struct line *line = &g_array_index (side->lines, struct line, i);
    guint number = GPOINTER_TO_UINT (g_hash_table_lookup (known, line));
    if (number == 0) {
      number = g_hash_table_size (known) + 1;
      g_hash_table_insert (known, line, GUINT_TO_POINTER (number));
    }
    side->numbers[i] = number;
  }
}

static void
clear_side (struct side *side)
{
  g_array_unref (side->lines);
  g_free (side->numbers);
  g_free (side->changed);
}

/* ---- what changed ---- */

/* The part of both texts without equal beginnings and ends. */
struct span {
  struct side *old, *new;
  guint old_from, new_from;
  int old_count, new_count;
};

static gboolean
same (const struct span *span, int x, int y)
{
  return span->old->numbers[span->old_from + (guint)x] == span->new->numbers[span->new_from + (guint)y];
}

static void
mark_all (const struct span *span)
{
  memset (span->old->changed + span->old_from, 1, (gsize)span->old_count);
  memset (span->new->changed + span->new_from, 1, (gsize)span->new_count);
}

/* Whether the farthest point on DIAGONAL after D changes is reached downwards, by a line of the new text, or
 * else by leaving out one of the old: *RET_X is where it is come from. BEFORE has the farthest x of the
 * diagonals
 * -(D-1)..D-1 after one change less. */
static gboolean
comes_from_above (int d, int diagonal, const int *before, int *ret_x)
{
  int middle = d - 1;
  int left = diagonal - 1 >= -middle ? before[middle + diagonal - 1] : -1;
  int above = diagonal + 1 <= middle ? before[middle + diagonal + 1] : -1;
  *ret_x = MAX (left, above);
  return left < above;
}

static void
mark_back (const struct span *span, GPtrArray *noted)
{
  int diagonal = span->old_count - span->new_count;
  for (int d = (int)noted->len; d > 0; d--) {
    int x;
    gboolean down = comes_from_above (d, diagonal, noted->pdata[d - 1], &x);
    diagonal += down ? 1 : -1;
    if (down)
      span->new->changed[span->new_from + (guint)(x - diagonal)] = 1;
    else
      span->old->changed[span->old_from + (guint)x] = 1;
  }
}

/* One more change: the farthest points on the diagonals -D..D. Returns whether the end was reached. */
static gboolean
diff_go_on (const struct span *span, int d, const int *before, int *now)
{
  for (int diagonal = -d; diagonal <= d; diagonal += 2) {
    int x = 0;
    if (d > 0 && !comes_from_above (d, diagonal, before, &x))
      x++;
    int y = x - diagonal;
    while (x < span->old_count && y < span->new_count && same (span, x, y)) {
      x++;
      y++;
    }
    now[d + diagonal] = x;
    if (x >= span->old_count && y >= span->new_count)
      return TRUE;
  }
  return FALSE;
}

static void
find_changes (const struct span *span)
{
  g_autoptr (GPtrArray) noted = g_ptr_array_new_with_free_func (g_free);
  int most = MIN (span->old_count + span->new_count, CHANGES_MAX);
  for (int d = 0; d <= most; d++) {
    int *now = g_new (int, 2 * (gsize)d + 1);
    gboolean done = diff_go_on (span, d, d > 0 ? noted->pdata[d - 1] : NULL, now);
    if (done) {
      g_free (now);
      mark_back (span, noted);
      return;
    }
    g_ptr_array_add (noted, now);
  }
  mark_all (span);
}

static void
diff_compare (struct side *old, struct side *new)
{
  guint before = 0, after = 0, least = MIN (old->lines->len, new->lines->len);
  while (before < least && old->numbers[before] == new->numbers[before])
    before++;
  while (after < least - before &&
         old->numbers[old->lines->len - 1 - after] == new->numbers[new->lines->len - 1 - after])
    after++;
  const struct span span = {
      .old = old,
      .new = new,
      .old_from = before,
      .new_from = before,
      .old_count = (int)(old->lines->len - before - after),
      .new_count = (int)(new->lines->len - before - after),
  };
  if (span.old_count > 0 && span.new_count > 0)
    find_changes (&span);
  else
    mark_all (&span);
}

/* ---- the text ---- */

static void
diff_add_line (GString *text, char sign, const struct side *side, guint index)
{
  const struct line *line = &g_array_index (side->lines, struct line, index);
  g_string_append_c (text, sign);
  g_string_append_len (text, line->text, (gssize)line->length);
  if (line->text[line->length - 1] != '\n')
    g_string_append (text, "\n\\ No newline at end of file\n");
}

static gboolean
is_changed (const struct side *side, guint index)
{
  return index < side->lines->len && side->changed[index];
}

/* Where the changes that begin at or after (*OLD, *NEW), in step, end: past equal lines that are too few to
 * keep hunks apart. */
static void
find_end (const struct side *old, const struct side *new, guint *at_old, guint *at_new)
{
  guint equal = 0, o = *at_old, n = *at_new;
  while (equal <= 2 * CONTEXT && (o < old->lines->len || n < new->lines->len)) {
    if (is_changed (old, o) || is_changed (new, n)) {
      o += is_changed (old, o);
      while (is_changed (old, o))
        o++;
      while (is_changed (new, n))
        n++;
      *at_old = o;
      *at_new = n;
      equal = 0;
    } else {
      equal++;
      o++;
      n++;
    }
  }
}

static void
add_range (GString *text, char sign, guint from, guint count)
{
  g_string_append_printf (text, "%c%u", sign, count > 0 ? from + 1 : from);
  if (count != 1)
    g_string_append_printf (text, ",%u", count);
}

static void
add_hunk (GString *text, const struct side *old, const struct side *new, guint old_from, guint old_end,
          guint new_from, guint new_end)
{
  g_string_append (text, "@@ ");
  add_range (text, '-', old_from, old_end - old_from);
  g_string_append_c (text, ' ');
  add_range (text, '+', new_from, new_end - new_from);
  g_string_append (text, " @@\n");
  for (guint o = old_from, n = new_from; o < old_end || n < new_end;) {
    if (o < old_end && is_changed (old, o))
      diff_add_line (text, '-', old, o++);
    else if (n < new_end && is_changed (new, n))
      diff_add_line (text, '+', new, n++);
    else {
      diff_add_line (text, ' ', old, o++);
      n++;
    }
  }
}

static char *
write_hunks (const struct side *old, const struct side *new, gsize most, gboolean *ret_cut)
{
  GString *text = g_string_new (NULL);
  *ret_cut = FALSE;
  for (guint o = 0, n = 0; (o < old->lines->len || n < new->lines->len) && !*ret_cut;) {
    if (!is_changed (old, o) && !is_changed (new, n)) {
      o++;
      n++;
      continue;
    }
    guint old_end = o, new_end = n, lead = MIN (CONTEXT, o);
    find_end (old, new, &old_end, &new_end);
    guint tail = MIN (CONTEXT, old->lines->len - old_end);
    add_hunk (text, old, new, o - lead, old_end + tail, n - lead, new_end + tail);
    o = old_end;
    n = new_end;
    if (text->len > most) {
      const char *end = g_strrstr_len (text->str, (gssize)most, "\n");
      g_string_truncate (text, end ? (gsize)(end + 1 - text->str) : 0);
      *ret_cut = TRUE;
    }
  }
  return g_string_free (text, FALSE);
}

char *
diff_unified (const char *old, gsize old_length, const char *new, gsize new_length, gsize most,
              gboolean *ret_cut)
{
  struct side left, right;
  g_autoptr (GHashTable) known = g_hash_table_new (hash_line, equal_lines);
  diff_split (&left, old, old_length);
  diff_split (&right, new, new_length);
  number_lines (&left, known);
  number_lines (&right, known);
  diff_compare (&left, &right);
  char *text = write_hunks (&left, &right, most, ret_cut);
  clear_side (&left);
  clear_side (&right);
  return text;
}
