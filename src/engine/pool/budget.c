/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pool/budget.h"

/* The share of parked sandboxes, one part in so many. */
#define PARKED_PART 4

gboolean
budget_fits_alone (const struct budget *budget, guint64 bytes)
{
  return bytes <= budget->max_bytes;
}

static gboolean
budget_fits (const struct budget *budget, guint64 more)
{
  guint64 used = budget->running_bytes + budget->parked_bytes;
  return used <= budget->max_bytes && more <= budget->max_bytes - used;
}

gboolean
budget_may_park (const struct budget *budget, guint64 bytes, guint64 promised)
{
  return budget->parked_bytes + bytes <= budget->max_bytes / PARKED_PART &&
         budget_fits (budget, promised + bytes);
}

void
budget_park (struct budget *budget, guint64 bytes)
{
  budget->parked_bytes += bytes;
}

void
budget_run (struct budget *budget, guint64 parked, guint64 bytes)
{
  budget->parked_bytes -= parked;
  budget->running_bytes += bytes;
  budget->running++;
}

void
budget_reactivate (struct budget *budget, guint64 bytes)
{
  budget->running_bytes += bytes;
  budget->running++;
}

void
budget_release (struct budget *budget, guint64 runs, guint64 running_bytes, guint64 parked_bytes)
{
  budget->running -= runs;
  budget->running_bytes -= running_bytes;
  budget->parked_bytes -= parked_bytes;
}

/* ---- going through the queue ---- */

gboolean
budget_is_due (const struct budget *budget, const struct budget_claim *claim)
{
  return claim->overtaken >= budget->max_running;
}

enum budget_answer
budget_ask (struct budget_round *round, struct budget_claim *claim, guint64 spare)
{
  const struct budget *budget = round->budget;
  if (budget->running + round->reserved >= budget->max_running)
    return BUDGET_END;
  guint64 wanted = round->reserved_bytes + claim->bytes;
  if (budget_fits (budget, wanted - MIN (spare, wanted)))
    return BUDGET_FITS;
  if (!round->first_short)
    round->first_short = claim;
  return budget_is_due (budget, claim) ? BUDGET_END : BUDGET_SHORT;
}

void
budget_reserve (struct budget_round *round, const struct budget_claim *claim)
{
  round->reserved++;
  round->reserved_bytes += claim->bytes;
}

void
budget_note_served (struct budget_round *round)
{
  if (round->first_short)
    round->first_short->overtaken++;
}
