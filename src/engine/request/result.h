/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run: one JSON object in which every field is always present, and the files. The public API
 * hands it out as AdderResult. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "containers/order.h"
#include "engine/files/artifact.h"
#include "engine/host/scratch.h"
#include "engine/pool/usage.h"
#include "engine/request/capture.h"
#include "engine/request/outcome.h"
#include "engine/request/request.h"
#include "engine/request/spill.h"

struct adder_result {
  AdderOutcome outcome;
  int exit_code;
  json_t *value;               /* nobody changes it */
  char *text;                  /* the same; made on first use */
  int workspace_fd;            /* keeps the files alive; -1: there are none */
  struct scratch_place *place; /* the same, if they are in a directory of the host */
  GPtrArray *artifacts;        /* struct artifact */
};

/* All that a result is made of. Missing parts are NULL. */
struct result_parts {
  const char *run_id;
  enum request_voice voice;
  struct verdict verdict;
  const struct capture *output, *errors; /* stdout and stderr */
  const struct spill *output_spill, *errors_spill;
  json_t *value, *error, *displays, *charts, *denials, *network, *session, *changes, *violations;
  const GPtrArray *warnings;  /* strings */
  const GPtrArray *artifacts; /* struct artifact */
  const char *approval_id;    /* what the run would need */
  gint64 queue_us, wall_us;
  struct usage usage;
  const struct limits *limits;
  gboolean has_isolation; /* there was a sandbox */
  guint isolation_level;
  const GPtrArray *missing;                /* strings */
  const struct container_facts *container; /* it was in; or NULL */
};

/* The result object. The caller's. */
json_t *result_make (const struct result_parts *parts);

/* RESULT's value as text, which is the result's. From any thread. */
const char *result_text (const struct adder_result *result);

/* NULL is allowed. */
void result_free (struct adder_result *result);
