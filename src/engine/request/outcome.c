/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verdicts: the first row whose condition holds decides. */
#include "engine/request/outcome.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Outcome names, and the exit codes of outcomes without one of their own. 124, 126, 128 + n and 137 are the
 * conventions of timeout(1), the shell and the kernel's OOM killer; 75 is EX_TEMPFAIL of sysexits.h. */
static const struct {
  const char *name;
  int exit_code;
} outcome_table[] = {
    [ADDER_OUTCOME_OK] = {"ok", 0},
    [ADDER_OUTCOME_ERROR] = {"error", 1},
    [ADDER_OUTCOME_REFUSED] = {"refused", 126},
    [ADDER_OUTCOME_APPROVAL_REQUIRED] = {"approval_required", 126},
    [ADDER_OUTCOME_TIMEOUT] = {"timeout", 124},
    [ADDER_OUTCOME_CPU_LIMIT] = {"cpu_limit", 137},
    [ADDER_OUTCOME_MEMORY_LIMIT] = {"memory_limit", 137},
    [ADDER_OUTCOME_OUTPUT_LIMIT] = {"output_limit", 137},
    [ADDER_OUTCOME_CRASHED] = {"crashed", 128},
    [ADDER_OUTCOME_CANCELLED] = {"cancelled", 130},
    [ADDER_OUTCOME_BUSY] = {"busy", 75},
    [ADDER_OUTCOME_FAILED] = {"failed", 125},
};

const char *
adder_outcome_name (AdderOutcome outcome)
{
  return (gsize)outcome < G_N_ELEMENTS (outcome_table) ? outcome_table[outcome].name : "failed";
}

int
outcome_exit_code (AdderOutcome outcome)
{
  return (gsize)outcome < G_N_ELEMENTS (outcome_table) ? outcome_table[outcome].exit_code : 125;
}

AdderOutcome
outcome_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (outcome_table); i++)
    if (strcmp (outcome_table[i].name, name) == 0)
      return (AdderOutcome)i;
  return ADDER_OUTCOME_FAILED;
}

gboolean
outcome_is_known (const char *name)
{
  return strcmp (adder_outcome_name (outcome_find (name)), name) == 0;
}

char *
outcome_list (void)
{
  g_autoptr (GString) list = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (outcome_table); i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "", outcome_table[i].name);
  return g_string_free (g_steal_pointer (&list), FALSE);
}

/* ---- conditions ---- */

static gboolean
result_without_memory (const struct facts *facts)
{
  return facts->has_result && facts->result_out_of_memory;
}

/* A child was killed for memory and the code could not go on without it. */
static gboolean
result_after_oom (const struct facts *facts)
{
  return facts->has_result && facts->result_has_error && facts->oom_kills > 0;
}

static gboolean
result_refused (const struct facts *facts)
{
  return facts->has_result && facts->result_refused;
}

static gboolean
result_fine (const struct facts *facts)
{
  return facts->has_result && !facts->result_has_error && facts->result_exit_code == 0;
}

static gboolean
result_bad (const struct facts *facts)
{
  return facts->has_result;
}

static gboolean
was_killed (const struct facts *facts)
{
  return facts->has_exit && facts->exit.code != CLD_EXITED;
}

static gboolean
killed_by (const struct facts *facts, int signal)
{
  return was_killed (facts) && facts->exit.status == signal;
}

static gboolean
killed_for_memory (const struct facts *facts)
{
  return facts->oom_kills > 0 && (killed_by (facts, SIGKILL) || !facts->has_exit);
}

/* When a resource limit refuses memory, Python raises an error, and native code that cannot go on aborts. */
static gboolean
aborted_for_memory (const struct facts *facts)
{
  return facts->memory_full && killed_by (facts, SIGABRT);
}

/* RLIMIT_CPU sends SIGXCPU first and SIGKILL a second later. Code can send itself either, so they count only
 * with the time really used. */
static gboolean
killed_for_cpu (const struct facts *facts)
{
  return (killed_by (facts, SIGXCPU) || killed_by (facts, SIGKILL)) && facts->cpu_us >= facts->cpu_limit_us;
}

static gboolean
exited_well (const struct facts *facts)
{
  return facts->has_exit && !was_killed (facts) && facts->exit.status == 0;
}

static gboolean
exited_badly (const struct facts *facts)
{
  return facts->has_exit && !was_killed (facts);
}

static gboolean
zygote_gone (const struct facts *facts)
{
  return facts->zygote_ended;
}

static gboolean
always (G_GNUC_UNUSED const struct facts *facts)
{
  return TRUE;
}

/* The STOP that a row is for; rows with a result come first, since a result decides only if it came before a
 * stop. */
struct row {
  gboolean (*holds) (const struct facts *facts);
  enum stop stop;
  AdderOutcome outcome;
  enum cause cause;
};

static const struct row verdict_table[] = {
    {result_refused, STOP_NONE, ADDER_OUTCOME_REFUSED, CAUSE_GUARD},
    {result_without_memory, STOP_NONE, ADDER_OUTCOME_MEMORY_LIMIT, CAUSE_MEMORY_ERROR},
    {result_after_oom, STOP_NONE, ADDER_OUTCOME_MEMORY_LIMIT, CAUSE_OOM_KILL},
    {result_fine, STOP_NONE, ADDER_OUTCOME_OK, CAUSE_RESULT},
    {result_bad, STOP_NONE, ADDER_OUTCOME_ERROR, CAUSE_RESULT},
    {always, STOP_CANCELLED, ADDER_OUTCOME_CANCELLED, CAUSE_STOP},
    {always, STOP_DEADLINE, ADDER_OUTCOME_TIMEOUT, CAUSE_STOP},
    {always, STOP_CPU, ADDER_OUTCOME_CPU_LIMIT, CAUSE_STOP},
    {always, STOP_MEMORY, ADDER_OUTCOME_MEMORY_LIMIT, CAUSE_STOP},
    {always, STOP_OUTPUT, ADDER_OUTCOME_OUTPUT_LIMIT, CAUSE_STOP},
    {always, STOP_INPUT, ADDER_OUTCOME_FAILED, CAUSE_STOP},
    {always, STOP_DISPLAYS, ADDER_OUTCOME_OUTPUT_LIMIT, CAUSE_STOP},
    {always, STOP_PROTOCOL, ADDER_OUTCOME_CRASHED, CAUSE_STOP},
    {always, STOP_INTERRUPT, ADDER_OUTCOME_CANCELLED, CAUSE_STOP},
    {killed_for_memory, STOP_NONE, ADDER_OUTCOME_MEMORY_LIMIT, CAUSE_OOM_KILL},
    {aborted_for_memory, STOP_NONE, ADDER_OUTCOME_MEMORY_LIMIT, CAUSE_OOM_KILL},
    {killed_for_cpu, STOP_NONE, ADDER_OUTCOME_CPU_LIMIT, CAUSE_CPU},
    {was_killed, STOP_NONE, ADDER_OUTCOME_CRASHED, CAUSE_SIGNAL},
    {exited_well, STOP_NONE, ADDER_OUTCOME_OK, CAUSE_EXITED},
    {exited_badly, STOP_NONE, ADDER_OUTCOME_ERROR, CAUSE_EXITED},
    {zygote_gone, STOP_NONE, ADDER_OUTCOME_FAILED, CAUSE_ZYGOTE},
    {always, STOP_NONE, ADDER_OUTCOME_FAILED, CAUSE_NO_END},
};

static const struct row *
outcome_find_row (const struct facts *facts)
{
  const struct row *row = verdict_table;
  /* The last row holds for everything else. */
  enum stop stop = facts->has_result && !facts->interrupted ? STOP_NONE : facts->stop;
  while (row->stop != stop || !row->holds (facts))
    row++;
  return row;
}

struct verdict
outcome_decide (const struct facts *facts)
{
  const struct row *row = outcome_find_row (facts);
  struct verdict verdict = {
      .outcome = row->outcome,
      .cause = row->cause,
      .exit_code = outcome_exit_code (row->outcome),
  };
  /* A signal is reported if it ended the sandbox; the daemon's own only for a crash that would otherwise have
   * none. */
  if (!facts->has_result && facts->stop == STOP_NONE && was_killed (facts))
    verdict.signal = facts->exit.status;
  if (row->stop == STOP_PROTOCOL)
    verdict.signal = SIGKILL;

  switch (row->cause) {
  case CAUSE_RESULT:
    if (facts->result_exit_code != 0)
      verdict.exit_code = facts->result_exit_code;
    break;
  case CAUSE_EXITED:
    verdict.exit_code = facts->exit.status;
    break;
  case CAUSE_SIGNAL:
  case CAUSE_STOP:
    if (verdict.signal != 0)
      verdict.exit_code = 128 + verdict.signal;
    break;
  default:
    break;
  }
  return verdict;
}
