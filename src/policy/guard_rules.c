/* SPDX-License-Identifier: Apache-2.0 */
/* [guard]: its keys, and their form for the runner. */
#include "policy/guard_rules.h"

#include <stddef.h>
#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"
#include "policy/profile_groups.h"

/* Classes of Python's module ast that stand for something in code, of all versions from 3.9 on. */
static const char *const node_names[] = {
    "Add",
    "And",
    "AnnAssign",
    "Assert",
    "Assign",
    "AsyncFor",
    "Attribute",
    "AugAssign",
    "AsyncFunctionDef",
    "AsyncWith",
    "Await",
    "BinOp",
    "BitAnd",
    "BitOr",
    "BitXor",
    "BoolOp",
    "Break",
    "Call",
    "ClassDef",
    "Compare",
    "Constant",
    "Continue",
    "Delete",
    "Dict",
    "DictComp",
    "Div",
    "Eq",
    "ExceptHandler",
    "Expr",
    "FloorDiv",
    "For",
    "FormattedValue",
    "FunctionDef",
    "GeneratorExp",
    "Global",
    "Gt",
    "GtE",
    "If",
    "IfExp",
    "Import",
    "ImportFrom",
    "In",
    "Interpolation",
    "Invert",
    "Is",
    "IsNot",
    "JoinedStr",
    "LShift",
    "Lambda",
    "List",
    "ListComp",
    "Lt",
    "LtE",
    "MatMult",
    "Match",
    "MatchAs",
    "MatchClass",
    "MatchMapping",
    "MatchOr",
    "MatchSequence",
    "MatchSingleton",
    "MatchStar",
    "MatchValue",
    "Mod",
    "Mult",
    "Name",
    "NamedExpr",
    "Nonlocal",
    "Not",
    "NotEq",
    "NotIn",
    "Or",
    "Pass",
    "Pow",
    "RShift",
    "Raise",
    "Return",
    "Set",
    "SetComp",
    "Slice",
    "Starred",
    "Sub",
    "Subscript",
    "TemplateStr",
    "Try",
    "TryStar",
    "Tuple",
    "TypeAlias",
    "UAdd",
    "USub",
    "UnaryOp",
    "While",
    "With",
    "Yield",
    "YieldFrom",
};

/* ---- words ---- */

/* Whether WORD, which may be a pattern, is the name of some syntax. */
static gboolean
guard_rules_check_node (const char *word, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (gsize i = 0; i < G_N_ELEMENTS (node_names); i++) {
    if (g_pattern_match_simple (word, node_names[i]))
      return TRUE;
    text_consider (&guess, word, node_names[i]);
  }
  g_autofree char *shown = text_one_line (word, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "there is no syntax called %s%s%s%s (Python's module ast has the names)", shown,
               guess.best ? "; did you mean " : "", guess.best ? guess.best : "", guess.best ? "?" : "");
  return FALSE;
}

/* An identifier, perhaps with dots, or a pattern of such; "!" before what a pattern does not mean.
 * "alias=name" for modules. */
static gboolean
guard_rules_check_word (const char *word, GError **error)
{
  gboolean good = TRUE;
  const char *at = word[0] == '!' ? word + 1 : word;
  good = at[0] != '\0';
  for (; *at; at = g_utf8_next_char (at)) {
    gunichar character = g_utf8_get_char (at);
    good = good && (g_unichar_isalnum (character) || (character < 0x80 && strchr ("_.*=", (int)character)));
  }
  if (good)
    return TRUE;
  g_autofree char *shown = text_one_line (word, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is neither a name nor a pattern of names",
               shown);
  return FALSE;
}

/* ---- the table ---- */

static const char *const modes[] = {"statements", "expression", "javascript", NULL};
static const char *const refusals[] = {"refused", "allowed", NULL};

#define LIST(name, what)                                                                                     \
  {                                                                                                          \
#name, PROFILE_LIST, PROFILE_AT(guard.name), .check = guard_rules_check_word, .text = (what)             \
  }
#define COUNT(name, most, what)                                                                              \
  {                                                                                                          \
#name, PROFILE_COUNT, PROFILE_AT(guard.name), .minimum = 1, .maximum = (most), .text = (what)            \
  }

const struct profile_key profile_guard_keys[] = {
    {"mode", PROFILE_CHOICE, PROFILE_AT (guard.mode), .choices = modes,
     .text =
         "Whether code consists of statements or is one expression, whose value is returned as text. "
         "`javascript` is an expression that QuickJS evaluates; only `builtins` of this group then applies."},
    {"refused_nodes", PROFILE_LIST, PROFILE_AT (guard.refused_nodes), .check = guard_rules_check_node,
     .values = "classes of Python's module ast", .text = "Syntax that is refused."},
    LIST (refused_names, "Names that code may neither read nor assign."),
    LIST (refused_attributes, "Attributes that are refused; with a dot, paths such as `pd.read_*`."),
    LIST (refused_calls, "Functions, methods and, by path (`np.ndarray`), classes that may not be called."),
    LIST (refused_events,
          "Python's audit events that are refused while code runs; exec, compile and import cannot be."),
    LIST (allowed_imports, "Modules that may be imported; by default all, unless the syntax is refused."),
    LIST (builtins, "The available builtins; by default all."),
    LIST (hidden_builtins, "Builtins that are not available."),
    LIST (modules, "Modules that code has, read-only: `NAME` or `ALIAS=NAME`."),
    LIST (module_names,
          "Names in modules, by path: `stats.norm`. A module with an entry here has no other names."),
    LIST (submodules, "Submodules that can be reached from these modules; others cannot."),
    {"tables", PROFILE_BOOLEAN, PROFILE_AT (guard.tables),
     .text = "Whether code has the given tables (docs/tables.md) as df and dfs."},
    LIST (text_methods, "Methods that may be called only without a target to write to."),
    LIST (named_calls, "Methods whose text arguments name other methods, and are checked as these."),
    LIST (queries, "Methods whose text argument is an expression, and is checked as code."),
    {"format_attributes", PROFILE_CHOICE, PROFILE_AT (guard.format_attributes), .choices = refusals,
     .text = "Whether format strings may access attributes."},
    COUNT (max_lines, 100000, "Maximum number of lines of code."),
    COUNT (max_depth, 300,
           "Maximum nesting of code; by default 200. A chain of operators of one level, attributes, items "
           "and calls, up to 600, counts once."),
    COUNT (max_range, G_MAXINT32, "Maximum number of steps of a range."),
    COUNT (max_repeat, G_MAXINT32, "Maximum number of items of a repeated literal text or list."),
    COUNT (max_power_bits, G_MAXINT32, "Maximum number of bits of a power or shift of constants."),
    {NULL},
};

/* ---- for the runner ---- */

/* The names that match the patterns WORDS: the runner has no patterns here. */
static json_t *
expand_nodes (char *const *words)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (node_names); i++)
    for (gsize word = 0; words[word]; word++)
      if (g_pattern_match_simple (words[word], node_names[i])) {
        g_ptr_array_add (names, (gpointer)(guintptr)node_names[i]);
        break;
      }
  g_ptr_array_add (names, NULL);
  g_autofree char *text = g_strjoinv (" ", (GStrv)names->pdata);
  return json_string (text);
}

/* Words as one text: an expression needs few of them, and splitting is cheaper than parsing a list. */
static json_t *
joined (const json_t *list)
{
  g_autofree char *text = json_join (list, " ");
  return json_string (text);
}

static gboolean
was_said (const struct profile_key *key, const json_t *value)
{
  switch (key->type) {
  case PROFILE_LIST:
    return json_is_array (value);
  case PROFILE_COUNT:
    return json_integer_value (value) >= (json_int_t)key->minimum;
  case PROFILE_BOOLEAN:
    return json_is_true (value);
  case PROFILE_CHOICE:
    return g_strcmp0 (json_string_value (value), key->choices[0]) != 0;
  default:
    return FALSE;
  }
}

json_t *
profile_guard_show (const struct profile *profile)
{
  const struct profile_group plain = {.name = "guard", .keys = profile_guard_keys};
  json_t *keys = profile_group_show (&plain, profile);
  for (const struct profile_key *key = profile_guard_keys; key->name; key++)
    if (!was_said (key, json_object_get (keys, key->name)))
      json_object_set_new (keys, key->name, json_null ());
  return keys;
}

void
guard_rules_settle (struct profile *profile)
{
  g_autoptr (json_t) keys = profile_guard_show (profile), rules = json_object ();
  const char *name;
  json_t *value;
  json_object_foreach (keys, name, value)
  {
    if (json_is_array (value))
      json_object_set_new (rules, name, joined (value));
    else if (!json_is_null (value))
      json_object_set (rules, name, value);
  }
  if (profile->guard.refused_nodes)
    json_object_set_new (rules, "refused_nodes", expand_nodes (profile->guard.refused_nodes));
  g_clear_pointer (&profile->guard.text, g_free);
  if (json_object_size (rules) > 0)
    profile->guard.text = json_to_text (rules);
}
