/* SPDX-License-Identifier: Apache-2.0 */
/* What all runs of an engine add up to: for monitoring. Added to from any thread, without a lock. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder_types.h"
#include "common/histogram.h"

#define TOTALS_DENIALS 11 /* kinds, and one for all others */

struct totals {
  guint64 runs[ADDER_OUTCOME_FAILED + 1]; /* by outcome */
  struct histogram queue, wall, cpu;      /* of runs that had a sandbox */
  guint64 denials[TOTALS_DENIALS];        /* by kind */
  guint64 output_bytes, violations;
};

/* A run has ended. HAD_SANDBOX: the times are some. DENIALS (of a result) may be NULL. */
struct totals_run {
  AdderOutcome outcome;
  gboolean had_sandbox;
  gint64 queue_us, wall_us, cpu_us;
  guint64 output_bytes;
  const json_t *denials, *violations;
};
void totals_add (struct totals *totals, const struct totals_run *run);

/* {"ok": n, ...}: runs by outcome. The caller's. */
json_t *totals_outcomes (const struct totals *totals);
/* {"queue", "wall", "cpu": histograms, "denials": {"network": n, ...}, "violations", "output_bytes"}. The
 * caller's. */
json_t *totals_to_json (const struct totals *totals);
