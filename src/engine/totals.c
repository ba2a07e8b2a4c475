/* SPDX-License-Identifier: Apache-2.0 */
/* What all runs of an engine add up to. */
#include "engine/totals.h"

#include <string.h>

#include "common/json.h"

/* A kind may come from the sandbox: what is none of these is the last. */
static const char *const denial_kinds[TOTALS_DENIALS] = {
    "network", "file",      "write",      "call",   "install", "processes",
    "space",   "file_size", "open_files", "memory", "other",
};

static void
add (guint64 *total, guint64 value)
{
  __atomic_add_fetch (total, value, __ATOMIC_RELAXED);
}

static json_t *
totals_number_of (const guint64 *total)
{
  return json_integer ((json_int_t)__atomic_load_n (total, __ATOMIC_RELAXED));
}

static gsize
totals_kind_of (const json_t *denial)
{
  const char *kind = json_member_text (denial, "kind");
  gsize i = 0;
  while (i < TOTALS_DENIALS - 1 && strcmp (denial_kinds[i], kind) != 0)
    i++;
  return i;
}

void
totals_add (struct totals *totals, const struct totals_run *run)
{
  gsize index;
  json_t *denial;
  add (&totals->runs[run->outcome], 1);
  if (run->had_sandbox) {
    histogram_add (&totals->queue, run->queue_us);
    histogram_add (&totals->wall, run->wall_us);
    histogram_add (&totals->cpu, run->cpu_us);
    add (&totals->output_bytes, run->output_bytes);
  }
  json_array_foreach (run->denials, index, denial) add (&totals->denials[totals_kind_of (denial)], 1);
  add (&totals->violations, json_array_size (run->violations));
}

json_t *
totals_outcomes (const struct totals *totals)
{
  json_t *runs = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (totals->runs); i++)
    json_object_set_new (runs, adder_outcome_name ((AdderOutcome)i), totals_number_of (&totals->runs[i]));
  return runs;
}

json_t *
totals_to_json (const struct totals *totals)
{
  json_t *denials = json_object ();
  for (gsize i = 0; i < TOTALS_DENIALS; i++)
    json_object_set_new (denials, denial_kinds[i], totals_number_of (&totals->denials[i]));
  return json_pack ("{s:o, s:o, s:o, s:o, s:o, s:o}", "queue", histogram_to_json (&totals->queue), "wall",
                    histogram_to_json (&totals->wall), "cpu", histogram_to_json (&totals->cpu), "denials",
                    denials, "violations", totals_number_of (&totals->violations), "output_bytes",
                    totals_number_of (&totals->output_bytes));
}
