/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `compute`: models write the expression, Python computes it. */
#include <string.h>

#include "common/json.h"
#include "library/library.h"
#include "tools/call.h"
#include "tools/shapes.h"

#define PROFILE "compute"

static const struct field compute_parameters[] = {
    FIELD_CODE (
        "One Python expression, such as 'NcS9euQa'[::-1] or sum(range(1, 101)). No statements, no imports."),
    FIELD_DESCRIPTION,
    {.name = "store_as",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .pattern = "^[A-Za-z][A-Za-z0-9_]{0,63}$",
     .pattern_words = "a name of letters, digits and _ that begins with a letter, at most 64",
     .text = "Keep the value, as text, under this name for later expressions of this conversation."},
    {0},
};

static const struct field compute_reply[] = {
    {.name = "text",
     .types = FIELD_TEXT,
     .text = "The value as text, or \"PythonError: TypeName: message\"."},
    FIELD_RUN_ID,
    {0},
};

static const struct field *const compute_replies[] = {compute_reply, NULL};

/* The value as a person would write it: a text without quotes. */
static const char *
value_text (const struct ran *ran)
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
  const char *store_as = call_text (call, "store_as"), *text = value_text (ran);
  gboolean kept =
      contexts_put (call->tools->contexts, caller->owner, caller->conversation, store_as, text, &problem);
  if (kept || !store_as)
    call_reply (call, json_pack ("{s:s}", "text", text), ran);
  else
    call_fail (call, problem);
}

static void
reply_error (struct call *call, const struct ran *ran, const char *type, const char *message)
{
  g_autofree char *text = g_strdup_printf ("PythonError: %s: %s", type, message);
  call_reply (call, json_pack ("{s:s}", "text", text), ran);
}

/* Half a value is none: nothing here may look exact and not be it. The runner says so in a warning. */
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

/* Gives REQUEST what the conversation remembers; a text is the same in JSON and in Python. */
static gboolean
set_values (const struct call *call, AdderRequest *request, GError **error)
{
  g_autoptr (json_t) values =
      contexts_get (call->tools->contexts, call->caller->owner, call->caller->conversation);
  const char *name;
  json_t *value;
  json_object_foreach (values, name, value)
  {
    g_autofree char *text = json_to_text (value);
    if (!adder_request_set_value (request, name, text, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- names for values ---- */

static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL,
};

static gboolean
has_name (char *const *names, const char *name)
{
  return names && g_strv_contains ((const char *const *)names, name);
}

/* Whether a value called NAME would take the place of something that expressions need. */
static gboolean
is_taken (const struct call *call, const char *name, gboolean *ret_taken, GError **error)
{
  struct profile_entry *entry = NULL;
  const struct profile *profile = profile_cache_get (&call->tools->engine->profiles, PROFILE, &entry, error);
  if (!profile)
    return FALSE;
  *ret_taken = strcmp (name, CONTEXT_LAST) == 0 || g_strv_contains (keywords, name) ||
               has_name (profile->guard.builtins, name) || has_name (profile->guard.modules, name);
  profile_entry_unref (entry);
  return TRUE;
}

static gboolean
may_store (const struct call *call, GError **error)
{
  const char *store_as = call_text (call, "store_as");
  gboolean taken;
  if (!store_as)
    return TRUE;
  if (!call->caller->conversation) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "store_as needs a conversation to keep the value in, and this call came without one");
    return FALSE;
  }
  if (!is_taken (call, store_as, &taken, error))
    return FALSE;
  if (taken)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "store_as cannot be %s: the name has a meaning already; choose another", store_as);
  return !taken;
}

/* ---- the tool ---- */

static void
compute (struct call *call, AdderRequest *request)
{
  struct ran ran;
  if (!call_run (call, request, &ran))
    return;
  g_autofree char *refusal = ran.outcome == ADDER_OUTCOME_REFUSED ? ran_refusal (&ran) : NULL;
  if (ran.outcome == ADDER_OUTCOME_OK && is_cut (&ran)) {
    ran.outcome = ADDER_OUTCOME_ERROR;
    reply_error (call, &ran, "ValueTooLong",
                 "the value is too long to be given as a whole: compute a part of it");
  } else if (ran.outcome == ADDER_OUTCOME_OK)
    reply_value (call, &ran);
  else
    reply_error (call, &ran, ran_error (&ran, "type"), refusal ? refusal : ran_error (&ran, "message"));
  ran_clear (&ran);
}

static void
handle_compute (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  AdderRequest *request = call_request (call, call_text (call, "code"), PROFILE);
  if (may_store (call, &problem) && set_values (call, request, &problem)) {
    compute (call, request);
    return;
  }
  adder_request_free (request);
  call_fail (call, problem);
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
        .parameters = compute_parameters,
        .replies = compute_replies,
        .handle = handle_compute,
    },
};

const struct toolset toolset_compute = {
    .name = "compute",
    .title = "Exact computation inside an agent loop",
    .prompt = "You can have Python compute exactly what you would otherwise guess.",
    .tools = tools,
    .count = G_N_ELEMENTS (tools),
};
