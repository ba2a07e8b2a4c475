/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a record, from the one list of what a record holds. */
#include "store/records_private.h"

#define CODE_START "substr(code, 1, 120)"

#define TEXT(member, number)                                                                                 \
  [RECORD_##number] = {#member, .is_member = TRUE, .offset = offsetof (struct record, member)},
#define INTEGER(member, number)                                                                              \
  [RECORD_##number] = {#member, TRUE, .is_member = TRUE, .offset = offsetof (struct record, member)},

const struct record_column_row record_table[RECORD_COLUMNS] = {
    RECORD_MEMBERS (TEXT, INTEGER) /* and what the store adds: */
        [RECORD_NODE] = {"node"},
    [RECORD_SEQ] = {"seq", TRUE},
    [RECORD_MORE] = {"more"},
    [RECORD_BYTES] = {"bytes", TRUE},
    [RECORD_DIGEST] = {"digest"},
};

static const char *
column_text (enum record_column column, gboolean brief)
{
  if (brief && column == RECORD_CODE)
    return CODE_START;
  return brief && column == RECORD_MORE ? "NULL" : record_table[column].name;
}

const char *
record_columns (gboolean brief)
{
  static gsize made = 0;
  static char *columns[2];
  if (g_once_init_enter (&made)) {
    for (gboolean i = FALSE; i <= TRUE; i++) {
      GString *text = g_string_new (NULL);
      for (guint column = 0; column < RECORD_COLUMNS; column++)
        g_string_append_printf (text, "%s%s", column > 0 ? ", " : "", column_text (column, i));
      columns[i] = g_string_free (text, FALSE);
    }
    g_once_init_leave (&made, 1);
  }
  return columns[brief];
}
