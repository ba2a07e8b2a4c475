/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a run at the command line, wherever it runs (event_source.h). */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

struct run_event {
  AdderEventKind kind;
  const char *data; /* of a result: the JSON text; the source's, good until the next call */
  gsize length;
  json_t *result; /* of a result: the same, the source's */
  AdderOutcome outcome;
  int exit_code;
  guint64 done, of; /* of progress */
};
