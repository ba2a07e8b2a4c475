/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/chat/python_session.h"

#include <string.h>

#include "common/json.h"

#define MARK         "🐍 ["            /* tools/toolset_assistant.c ends its replies with it, */
#define CELL         "[cell "         /* after this, where a cell was run */
#define NO_VARIABLES "(no variables)" /* and says so in place of a list */
#define PICTURE      "[A picture "    /* agent/prompts.c, after that */
#define CELLS_MAX    1000

void
python_session_init (struct python_session *session)
{
  *session = (struct python_session){.cells = g_ptr_array_new_with_free_func (g_free)};
}

void
python_session_clear (struct python_session *session)
{
  g_free (session->status);
  g_ptr_array_unref (session->cells);
}

static void
python_session_set_status (struct python_session *session, char *taken)
{
  g_free (session->status);
  session->status = taken;
}

gsize
python_session_split (const char *result, gsize pictures, char **ret_line)
{
  gsize end = strlen (result);
  *ret_line = NULL;
  for (gsize dropped = 0;; dropped++) {
    const char *before = g_strrstr_len (result, (gssize)end, "\n");
    const char *line = before ? before + 1 : result;
    if (dropped < pictures && before && g_str_has_prefix (line, PICTURE)) {
      end = (gsize)(before - result);
      continue;
    }
    if (!g_str_has_prefix (line, CELL) && !g_str_has_prefix (line, MARK))
      return end;
    *ret_line = g_strndup (line, (gsize)(result + end - line));
    return before ? (gsize)(before - result) : 0;
  }
}

static void
keep_cell (struct python_session *session, const json_t *arguments, const char *line)
{
  if (!line || !g_str_has_prefix (line, CELL) || session->cells->len >= CELLS_MAX)
    return;
  g_autofree char *number = g_strndup (line, strcspn (line, "]") + 1);
  g_ptr_array_add (session->cells, g_strdup_printf ("%s\n%s", number, json_member_text (arguments, "code")));
}

static void
python_session_forget (struct python_session *session)
{
  python_session_set_status (session, NULL);
  g_ptr_array_set_size (session->cells, 0);
}

void
python_session_see (struct python_session *session, const char *name, const json_t *arguments,
                    const char *result, gboolean is_error)
{
  gboolean cell =
      strcmp (name, "run_python") == 0 && json_is_true (json_object_get (arguments, "use_session"));
  gboolean begins = strcmp (name, "python_new") == 0 || strcmp (name, "python_reset") == 0;
  if ((begins || strcmp (name, "python_end") == 0) && !is_error)
    python_session_forget (session);
  g_autofree char *line = NULL;
  (void)python_session_split (result, G_MAXSIZE, &line);
  const char *mark = line ? strstr (line, MARK) : NULL;
  if (mark && (cell || begins))
    python_session_set_status (session, g_strdup (mark));
  if (cell)
    keep_cell (session, arguments, line);
}

void
python_session_count (struct python_session *session, const char *variables)
{
  guint count = variables && strcmp (variables, NO_VARIABLES) != 0 ? 1 : 0;
  for (const char *at = variables; count > 0 && (at = strchr (at, '\n')); at++)
    count++;
  python_session_set_status (
      session,
      variables ? g_strdup_printf (MARK "session active, %u var%s]", count, count == 1 ? "" : "s") : NULL);
}
