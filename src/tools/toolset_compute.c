/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `compute`: models write the expression, Python computes it. */
#include "common/json.h"
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
reply_error (struct call *call, const struct ran *ran)
{
  g_autofree char *text =
      g_strdup_printf ("PythonError: %s: %s", ran_error (ran, "type"), ran_error (ran, "message"));
  call_reply (call, json_pack ("{s:s}", "text", text), ran);
}

static gboolean
may_store (const struct call *call, GError **error)
{
  const char *store_as = call_text (call, "store_as");
  if (!store_as || call->caller->conversation)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "store_as needs a conversation to keep the value in, and this call came without one");
  return FALSE;
}

static void
handle_compute (struct call *call)
{
  struct ran ran;
  g_autoptr (GError) problem = NULL;
  if (!may_store (call, &problem)) {
    call_fail (call, problem);
    return;
  }
  AdderRequest *request = call_request (call, call_text (call, "code"), PROFILE);
  if (!call_run (call, request, &ran))
    return;
  if (ran.outcome == ADDER_OUTCOME_OK)
    reply_value (call, &ran);
  else
    reply_error (call, &ran);
  ran_clear (&ran);
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
