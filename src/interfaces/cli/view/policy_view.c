/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/policy_view.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/cli/view/cli_terminal.h"

#define VERDICT_WIDTH 14
#define TEXT_WIDTH    100

struct policy {
  const struct seccomp_host *host;
  unsigned facts; /* enum seccomp_when */
  gsize instructions;
  GPtrArray *unknown; /* names in the table that do not exist on this machine */
};

/* ---- gathering ---- */

static gboolean
count_instructions (const struct seccomp_host *host, gsize *ret_count, GError **error)
{
  struct fault fault = {0};
  struct stat info;
  autoclose int fd = -1;
  if (seccomp_build (host, &fd, &fault) < 0)
    return error_from_fault (&fault, error);
  if (fstat (fd, &info) < 0)
    return error_from_errno (error, errno, "cannot measure the seccomp program");
  *ret_count = (gsize)info.st_size / sizeof (struct sock_filter);
  return TRUE;
}

static GPtrArray *
policy_view_find_unknown (void)
{
  GPtrArray *unknown = g_ptr_array_new_with_free_func (g_free);
  for (size_t i = 0; i < seccomp_rules_count; i++) {
    g_auto (GStrv) calls = g_strsplit (seccomp_rules[i].calls, " ", -1);
    for (char **call = calls; *call; call++)
      if (!seccomp_is_known (*call) && !g_ptr_array_find_with_equal_func (unknown, *call, g_str_equal, NULL))
        g_ptr_array_add (unknown, g_strdup (*call));
  }
  return unknown;
}

/* The conditions of a rule, as "where ... and where ..."; "always" without conditions. */
static char *
when_text (unsigned when)
{
  GString *text = g_string_new (NULL);
  for (unsigned bit = 1; bit <= when; bit <<= 1)
    if (when & bit)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " and " : "",
                              seccomp_when_text ((enum seccomp_when)bit));
  if (when == WHEN_ALWAYS)
    g_string_assign (text, seccomp_when_text (WHEN_ALWAYS));
  return g_string_free (text, FALSE);
}

static const char *
verdict_name (int verdict)
{
  if (verdict == SECCOMP_POLICY_ALLOW)
    return "allow";
  return verdict == SECCOMP_POLICY_PRETEND ? "pretend" : strerrorname_np (verdict);
}

/* How the values of a condition are compared, between the argument's name and theirs. */
static const char *
compare_name (enum seccomp_compare compare)
{
  switch (compare) {
  case COMPARE_MASKED:
    return "is";
  case COMPARE_HAS:
    return "has";
  case COMPARE_NOT:
    return "is not";
  case COMPARE_NONE:
    break;
  }
  return "any";
}

/* The processor's other ways to call the kernel. */
static const char *
foreign_calls (const char *machine)
{
  return strcmp (machine, "x86_64") == 0 ? "i386 and x32" : "other architectures";
}

/* ---- as an object ---- */

static json_t *
policy_view_words_json (const char *words)
{
  json_t *list = json_array ();
  g_auto (GStrv) each = g_strsplit (words, " ", -1);
  for (char **word = each; *word; word++)
    json_array_append_new (list, json_string (*word));
  return list;
}

static json_t *
values_json (const struct seccomp_value *values)
{
  json_t *list = json_array ();
  for (; values && values->name; values++)
    json_array_append_new (list, json_string (values->name));
  return list;
}

/* Further conditions, which must hold as well. */
static json_t *
conditions_json (const struct seccomp_condition *conditions)
{
  json_t *list = json_array ();
  for (const struct seccomp_condition *at = conditions; at && at->argument_name; at++)
    json_array_append_new (list, json_pack ("{s:i, s:s, s:o}", "number", (int)at->argument, "name",
                                            at->argument_name, "values", values_json (at->values)));
  return list;
}

static json_t *
rule_json (const struct seccomp_rule *rule, unsigned facts)
{
  g_autofree char *when = when_text (rule->when);
  json_t *argument = rule->argument_name ? json_pack ("{s:i, s:s}", "number", (int)rule->argument, "name",
                                                      rule->argument_name)
                                         : json_null ();
  return json_pack ("{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:s, s:b}", "verdict", verdict_name (rule->verdict),
                    "reason", rule->reason, "calls", policy_view_words_json (rule->calls), "argument",
                    argument, "compare", compare_name (rule->compare), "values", values_json (rule->values),
                    "also", conditions_json (rule->conditions), "when", when, "applies",
                    seccomp_applies (rule, facts));
}

static void
policy_view_print_json (const struct policy *policy, const char *machine, FILE *stream)
{
  json_t *rules = json_array (), *unknown = json_array ();
  for (size_t i = 0; i < seccomp_rules_count; i++)
    json_array_append_new (rules, rule_json (&seccomp_rules[i], policy->facts));
  for (guint i = 0; i < policy->unknown->len; i++)
    json_array_append_new (unknown, json_string (policy->unknown->pdata[i]));
  g_autoptr (json_t) all = json_pack (
      "{s:s, s:I, s:s, s:s, s:s, s:i, s:b, s:o, s:o}", "architecture", machine, "instructions",
      (json_int_t)policy->instructions, "default", verdict_name (SECCOMP_DEFAULT_VERDICT), "foreign", "kill",
      "foreign_calls", foreign_calls (machine), "landlock", policy->host->landlock_abi, "memory_counted",
      policy->host->memory_counted, "rules", rules, "unknown", unknown);
  g_autofree char *text = json_to_text (all);
  fprintf (stream, "%s\n", text);
}

/* ---- as text ---- */

/* Prints WORDS behind the column of verdicts, broken between words. */
static void
policy_view_print_words (const char *words, FILE *stream)
{
  gsize column = TEXT_WIDTH;
  g_auto (GStrv) each = g_strsplit (words, " ", -1);
  for (char **word = each; *word; word++) {
    gsize width = strlen (*word);
    if (column + 1 + width <= TEXT_WIDTH) {
      fprintf (stream, " %s", *word);
      column += 1 + width;
      continue;
    }
    if (word != each)
      fprintf (stream, "\n%-*s", VERDICT_WIDTH, "");
    fputs (*word, stream);
    column = VERDICT_WIDTH + width;
  }
  fputc ('\n', stream);
}

static void
append_values (GString *text, const struct seccomp_value *values)
{
  for (const struct seccomp_value *value = values; value && value->name; value++)
    g_string_append_printf (text, "%s %s", value == values ? "" : " or", value->name);
}

/* "ioctl where request is TCGETS or TCSETS" */
static char *
calls_text (const struct seccomp_rule *rule)
{
  GString *text = g_string_new (rule->calls);
  if (rule->argument_name)
    g_string_append_printf (text, " where %s %s", rule->argument_name, compare_name (rule->compare));
  append_values (text, rule->values);
  for (const struct seccomp_condition *at = rule->conditions; at && at->argument_name; at++) {
    g_string_append_printf (text, " and %s %s", at->argument_name, compare_name (COMPARE_MASKED));
    append_values (text, at->values);
  }
  return g_string_free (text, FALSE);
}

static void
print_rule (const struct seccomp_rule *rule, unsigned facts, FILE *stream)
{
  gboolean applies = seccomp_applies (rule, facts);
  enum cli_colour colour = !applies ? CLI_DIM : rule->verdict == SECCOMP_POLICY_ALLOW ? CLI_GREEN : CLI_RED;
  g_autofree char *calls = calls_text (rule);
  g_autofree char *when = when_text (rule->when);
  fprintf (stream, "%s%-*s%s", cli_colour (stream, colour), VERDICT_WIDTH, verdict_name (rule->verdict),
           cli_colour (stream, CLI_PLAIN));
  policy_view_print_words (rule->reason, stream);
  fprintf (stream, "%-*s", VERDICT_WIDTH, "");
  policy_view_print_words (calls, stream);
  if (rule->when != WHEN_ALWAYS) {
    g_autofree char *line = g_strdup_printf ("%s: %s", applies ? "in force here" : "not here", when);
    fprintf (stream, "%-*s", VERDICT_WIDTH, "");
    policy_view_print_words (line, stream);
  }
}

static void
policy_view_print_text (const struct policy *policy, const char *machine, FILE *stream)
{
  const char *otherwise = verdict_name (SECCOMP_DEFAULT_VERDICT);
  fprintf (stream,
           "The system calls of a sandbox, as a program of %" G_GSIZE_FORMAT " instructions for %s.\n"
           "What no rule here allows, and what kernels gain tomorrow, fails with %s.\n"
           "Calls of %s kill the process. `pretend`: the call does nothing and says that it worked.\n\n",
           policy->instructions, machine, otherwise, foreign_calls (machine));
  for (size_t i = 0; i < seccomp_rules_count; i++)
    print_rule (&seccomp_rules[i], policy->facts, stream);
  if (policy->unknown->len > 0) {
    g_ptr_array_add (policy->unknown, NULL);
    g_autofree char *names = g_strjoinv (" ", (GStrv)policy->unknown->pdata);
    fprintf (stream, "\nNot known to this machine's libseccomp, so they fail with %s:\n%-*s", otherwise,
             VERDICT_WIDTH, "");
    policy_view_print_words (names, stream);
  }
}

gboolean
policy_print (const struct seccomp_host *host, gboolean json, FILE *stream, GError **error)
{
  struct utsname machine;
  struct policy policy = {.host = host, .facts = seccomp_facts (host)};
  if (!count_instructions (host, &policy.instructions, error))
    return FALSE;
  policy.unknown = policy_view_find_unknown ();
  uname (&machine);
  (json ? policy_view_print_json : policy_view_print_text) (&policy, machine.machine, stream);
  g_ptr_array_unref (policy.unknown);
  return TRUE;
}
