/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `compute`: models write the expression, Python or JavaScript computes it. */
#include <string.h>

#include "common/json.h"
#include "library/library.h"
#include "tools/call.h"
#include "tools/shapes.h"

/* clang-format off */
#define FIELD_STORE_AS \
  {.name = "store_as", .types = FIELD_TEXT, .optional = TRUE, .pattern = "^[A-Za-z][A-Za-z0-9_]{0,63}$", \
   .pattern_words = "a name of letters, digits and _ that begins with a letter, at most 64", \
   .text = "Keep the value, as text, under this name for later expressions of this conversation."}
#define FIELD_VALUE(error) \
  {.name = "text", .types = FIELD_TEXT, .text = "The value as text, or \"" error ": TypeName: message\"."}
/* clang-format on */

#define PYTHON_ERROR     "PythonError"
#define JAVASCRIPT_ERROR "JavaScriptError"

static const struct field python_parameters[] = {
    FIELD_CODE (
        "One Python expression, such as 'NcS9euQa'[::-1] or sum(range(1, 101)). No statements, no imports."),
    FIELD_DESCRIPTION,
    FIELD_STORE_AS,
    {0},
};
static const struct field javascript_parameters[] = {
    FIELD_CODE ("One JavaScript expression, such as [...'NcS9euQa'].reverse().join('') or 2n ** 200n. No "
                "statements, no declarations."),
    FIELD_DESCRIPTION,
    FIELD_STORE_AS,
    {0},
};

static const struct field python_reply[] = {FIELD_VALUE (PYTHON_ERROR), {0}};
static const struct field javascript_reply[] = {FIELD_VALUE (JAVASCRIPT_ERROR), {0}};
static const struct field *const python_replies[] = {python_reply, NULL};
static const struct field *const javascript_replies[] = {javascript_reply, NULL};

struct language {
  const char *profile;
  const char *error;           /* begins a reply that is not a value */
  const char *const *keywords; /* not allowed as names of values; ends with NULL */
};

static const char *const python_keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL,
};
static const char *const javascript_keywords[] = {
    "arguments", "await",  "break",    "case",   "catch",  "class",      "const",  "continue", "debugger",
    "default",   "delete", "do",       "else",   "enum",   "eval",       "export", "extends",  "false",
    "finally",   "for",    "function", "if",     "import", "in",         "let",    "new",      "null",
    "return",    "static", "super",    "switch", "this",   "throw",      "true",   "try",      "typeof",
    "var",       "void",   "while",    "with",   "yield",  "instanceof", NULL,
};

static const struct language python = {"compute", PYTHON_ERROR, python_keywords};
static const struct language javascript = {"javascript", JAVASCRIPT_ERROR, javascript_keywords};

/* The value as a person would write it: a text without quotes. */
static const char *
toolset_compute_value_text (const struct ran *ran)
{
  const char *text =
      json_string_value (json_object_get (json_object_get (ran->result, "value"), "text/plain"));
  return text ? text : "None";
}

static void
reply_value (struct call *call, const struct ran *ran)
{
  g_autoptr (GError) problem = NULL;
  const struct tool_caller *caller = call->caller;
  const char *store_as = call_text (call, "store_as"), *text = toolset_compute_value_text (ran);
  gboolean kept = conversation_states_put (call->tools->conversation_states, caller->owner,
                                           caller->conversation, store_as, text, &problem);
  /* A last value that could not be replaced would be mistaken for this one. */
  if (kept || (!store_as && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE)))
    call_reply (call, json_pack ("{s:s}", "text", text), ran);
  else
    call_fail (call, problem);
}

static void
toolset_compute_reply_error (struct call *call, const struct language *language, const struct ran *ran,
                             const char *type, const char *message)
{
  g_autofree char *text = g_strdup_printf ("%s: %s: %s", language->error, type, message);
  call_reply (call, json_pack ("{s:s}", "text", text), ran);
}

/* A truncated value is none: nothing here may look exact and not be it. The runner warns of it. */
static gboolean
is_cut (const struct ran *ran)
{
  gsize index;
  json_t *warning;
  json_array_foreach (json_object_get (ran->result, "warnings"), index, warning)
  {
    if (g_str_has_prefix (json_string_value (warning), "the value is cut"))
      return TRUE;
  }
  return FALSE;
}

/* ---- names for values ---- */

static gboolean
has_name (char *const *names, const char *name)
{
  return names && g_strv_contains ((const char *const *)names, name);
}

/* Whether a value called NAME would shadow something that expressions need. */
static gboolean
has_meaning (const struct language *language, const struct profile *profile, const char *name)
{
  return g_strv_contains (language->keywords, name) || has_name (profile->guard.builtins, name) ||
         has_name (profile->guard.modules, name);
}

/* Gives REQUEST the conversation's values; a text is the same in JSON and in each language. A name allowed in
 * the other language may have a meaning in this one. */
static gboolean
set_values (const struct call *call, const struct language *language, const struct profile *profile,
            AdderRequest *request, GError **error)
{
  g_autoptr (json_t) values = conversation_states_get (call->tools->conversation_states, call->caller->owner,
                                                       call->caller->conversation, error);
  if (!values)
    return FALSE;
  const char *name;
  json_t *value;
  json_object_foreach (values, name, value)
  {
    if (!has_meaning (language, profile, name) && !library_set_value (request, name, value, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
may_store (const struct call *call, const struct language *language, const struct profile *profile,
           GError **error)
{
  const char *store_as = call_text (call, "store_as");
  if (!store_as)
    return TRUE;
  if (!call->caller->conversation) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "store_as needs a conversation to keep the value in, and this call came without one");
    return FALSE;
  }
  if (strcmp (store_as, CONVERSATION_STATE_LAST) != 0 && !has_meaning (language, profile, store_as))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "store_as cannot be %s: the name has a meaning already; choose another", store_as);
  return FALSE;
}

/* ---- the tools ---- */

static void
compute (struct call *call, const struct language *language, AdderRequest *request)
{
  struct ran ran;
  if (!call_run (call, request, &ran))
    return;
  g_autofree char *refusal = ran.outcome == ADDER_OUTCOME_REFUSED ? ran_refusal (&ran) : NULL;
  if (ran.outcome == ADDER_OUTCOME_OK && is_cut (&ran)) {
    ran.outcome = ADDER_OUTCOME_ERROR;
    toolset_compute_reply_error (
        call, language, &ran, "ValueTooLong",
        "the value is too long to be given as a whole: compute its length, or a slice of its text");
  } else if (ran.outcome == ADDER_OUTCOME_OK)
    reply_value (call, &ran);
  else
    toolset_compute_reply_error (call, language, &ran, ran_error (&ran, "type"),
                                 refusal ? refusal : ran_error (&ran, "message"));
  ran_clear (&ran);
}

static void
handle (struct call *call, const struct language *language)
{
  g_autoptr (GError) problem = NULL;
  struct profile_entry *entry = NULL;
  const struct profile *profile =
      profile_cache_get (&call->tools->engine->profiles, language->profile, &entry, &problem);
  AdderRequest *request = call_request (call, call_text (call, "code"), language->profile);
  if (profile && may_store (call, language, profile, &problem) &&
      set_values (call, language, profile, request, &problem))
    compute (call, language, request);
  else {
    adder_request_free (request);
    call_fail (call, problem);
  }
  g_clear_pointer (&entry, profile_entry_unref);
}

static void
handle_python (struct call *call)
{
  handle (call, &python);
}

static void
handle_javascript (struct call *call)
{
  handle (call, &javascript);
}

static const struct tool tools[] = {
    {
        .name = "compute_with_python",
        .title = "Compute exactly",
        .description = "Evaluates one Python expression and returns its value as text. Use it whenever the "
                       "answer has to be exact: "
                       "reversing or slicing text, counting characters, sorting, arithmetic with long "
                       "numbers, dates, parsing. There "
                       "are len, str, int, float, list, dict, tuple, set, reversed, sorted, enumerate, sum, "
                       "max, min, abs, round, "
                       "range, zip, map, filter, bool, any, all, divmod, pow, chr, ord, repr, format, bin, "
                       "hex, oct, frozenset, "
                       "bytes, complex, isinstance, the modules math, statistics, re, json, datetime, "
                       "decimal and fractions without "
                       "an import, comprehensions, lambdas, and all methods of text and containers. "
                       "last_result is the last value, "
                       "as text. An error comes back as \"PythonError: TypeName: message\".",
        .guidance = "Do not work out by hand what can be computed: you miscount when you reverse, count, "
                    "sort or multiply. Write "
                    "the expression and pass it on. Examples: 'NcS9euQa'[::-1] gives aQue9ScN; "
                    "'apple,banana,cherry'.split(',')[1] gives banana; 'strawberry'.count('r') gives 3; "
                    "123456789 * 987654321 "
                    "gives 121932631112635269; (datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1)).days "
                    "gives 29; then "
                    "int(last_result) * 2 gives 58. It is one expression: no import, no assignment, no "
                    "print. To keep a value "
                    "for later expressions, give it a name with store_as. Plain questions about facts or "
                    "wording need no "
                    "computation.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES,
        .parameters = python_parameters,
        .replies = python_replies,
        .handle = handle_python,
    },
    {
        .name = "compute_with_javascript",
        .title = "Compute exactly, in JavaScript",
        .description =
            "Evaluates one JavaScript expression and returns its value as text. Use it whenever the "
            "answer has to be exact and is easier to write in JavaScript, or has to be what "
            "JavaScript gives. JavaScript's own objects are there: Math, JSON, Date, RegExp, "
            "BigInt, Map, Set and their kin, arrow functions, templates and all methods of text, "
            "numbers and arrays. There are no modules, no console and no network. last_result is "
            "the last value, as text. An error comes back as \"JavaScriptError: TypeName: "
            "message\".",
        .guidance = "It is one expression: no declarations and no other statements. Integers beyond 2 ** 53 "
                    "are exact as BigInt alone. Examples: [...'NcS9euQa'].reverse().join('') gives aQue9ScN; "
                    "123456789n * 987654321n gives 121932631112635269; [3, 1, 2].sort() gives [1, 2, 3].",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_STARTS_OFF,
        .parameters = javascript_parameters,
        .replies = javascript_replies,
        .handle = handle_javascript,
    },
};

const struct toolset toolset_compute = {
    .name = "compute",
    .title = "Exact computation inside an agent loop",
    .prompt = "You can have Python compute exactly what you would otherwise guess.",
    .tools = tools,
    .count = G_N_ELEMENTS (tools),
};
