/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup of toolsets, tools and fields by name. */
#include "tools/table.h"

#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/text.h"

#define SHOWN_BYTES 64

const struct toolset *const toolsets[] = {
    &toolset_adder,
    &toolset_workbench,
    &toolset_compute,
    &toolset_code_executor,
    &toolset_assistant,
    &toolset_analyst,
    NULL,
};

const struct toolset *
toolset_find (const char *name, GError **error)
{
  if (!name)
    return toolsets[0];
  g_autoptr (GString) known = g_string_new (NULL);
  for (gsize i = 0; toolsets[i]; i++) {
    if (strcmp (toolsets[i]->name, name) == 0)
      return toolsets[i];
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", toolsets[i]->name);
  }
  g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no toolset \"%s\"; there are: %s", shown,
               known->str);
  return NULL;
}

gboolean
toolset_shows (const struct toolset *toolset, const struct tool *tool, gboolean is_whole)
{
  return is_whole || !toolset->basic || g_strv_contains (toolset->basic, tool->name);
}

const struct toolset *
toolset_find_view (const char *name, gboolean *ret_is_whole, GError **error)
{
  *ret_is_whole = g_strcmp0 (name, TOOLSET_FULL) == 0;
  return *ret_is_whole ? toolsets[0] : toolset_find (name, error);
}

/* ---- tools ---- */

static const struct tool *
find_in (const struct toolset *toolset, const char *name)
{
  for (gsize i = 0; i < toolset->count; i++)
    if (strcmp (toolset->tools[i].name, name) == 0)
      return &toolset->tools[i];
  return NULL;
}

static gboolean
table_not_there (const struct toolset *toolset, const char *name, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (gsize t = 0; toolsets[t]; t++)
    for (gsize i = 0; (!toolset || toolset == toolsets[t]) && i < toolsets[t]->count; i++)
      text_consider (&guess, name, toolsets[t]->tools[i].name);
  g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
  g_autofree char *where = toolset ? g_strdup_printf (" in the toolset %s", toolset->name) : g_strdup ("");
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no tool \"%s\"%s%s%s%s", shown, where,
               guess.best ? "; did you mean " : "", guess.best ? guess.best : "", guess.best ? "?" : "");
  if (!guess.best)
    error_add_advice (error, "; adder tool list lists them");
  return FALSE;
}

/* The toolset named before the first dot of NAME, or NULL; *RET_REST is what follows. */
static const struct toolset *
table_split (const char *name, const char **ret_rest)
{
  const char *dot = strchr (name, '.');
  g_autofree char *first = dot ? g_strndup (name, (gsize)(dot - name)) : NULL;
  const struct toolset *found = NULL;
  for (gsize i = 0; first && toolsets[i] && !found; i++)
    if (strcmp (toolsets[i]->name, first) == 0 || g_strcmp0 (toolsets[i]->alias, first) == 0)
      found = toolsets[i];
  *ret_rest = found ? dot + 1 : name;
  return found;
}

/* The only toolset with NAME, or the first of all, if it has NAME. */
static const struct toolset *
table_search (const char *name, GError **error)
{
  if (find_in (toolsets[0], name))
    return toolsets[0];
  const struct toolset *found = NULL;
  for (gsize i = 0; toolsets[i]; i++) {
    if (!find_in (toolsets[i], name))
      continue;
    if (found) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "both toolsets %s and %s have a tool %s: name one with --toolset, or as %s.%s",
                   found->name, toolsets[i]->name, name, found->name, name);
      return NULL;
    }
    found = toolsets[i];
  }
  if (!found)
    table_not_there (NULL, name, error);
  return found;
}

gboolean
tool_find (const struct toolset *toolset, const char *name, const struct toolset **ret_toolset,
           const struct tool **ret_tool, GError **error)
{
  const char *rest;
  const struct toolset *named = table_split (name, &rest);
  if (toolset && named && named != toolset)
    return table_not_there (toolset, name, error);
  const struct toolset *chosen = named ? named : toolset ? toolset : table_search (rest, error);
  if (!chosen)
    return FALSE;
  const struct tool *tool = find_in (chosen, rest);
  if (!tool)
    return table_not_there (chosen, rest, error);
  *ret_toolset = chosen;
  *ret_tool = tool;
  return TRUE;
}
