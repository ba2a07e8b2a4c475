/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's rules, as the group [guard] of a profile states them: what code may not contain, checked
 * against its syntax tree before any of it runs (runner/python/guard.py). docs/guard.md describes each
 * key. */
#pragma once

#include <glib.h>

/* NULL lists and 0 counts were not set. */
struct profile_guard {
  guint mode;              /* GUARD_STATEMENTS, GUARD_EXPRESSION */
  guint format_attributes; /* 0: format strings reach none; 1: they may */
  gboolean tables;
  GStrv refused_nodes, refused_names, refused_attributes, refused_calls, refused_events;
  GStrv allowed_imports, builtins, hidden_builtins, modules, module_names, submodules;
  GStrv text_methods, named_calls, queries;
  guint64 max_lines, max_depth, max_range, max_repeat, max_power_bits;
  char *text; /* all of it, as sent to the runner; NULL: no rules */
};
enum { GUARD_STATEMENTS, GUARD_EXPRESSION };

struct profile;

/* Makes PROFILE's guard.text, once all its keys were read. */
void guard_rules_settle (struct profile *profile);
