/* SPDX-License-Identifier: Apache-2.0 */
/* What a model does in one step, whichever way it says so: as an ordinary call of a tool, or (typed steps) by
 * the one tool next_step, {"current_state", "function": {"name", "arguments"}}, whose function is exactly one
 * of the tools. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define STEPS_TOOL "next_step"

struct step {
  const json_t *call;      /* the call part that it is; borrowed */
  const char *state;       /* what the model thinks; NULL: it did not say. The call's */
  const char *name;        /* of the function; NULL where it cannot be known. The call's */
  const json_t *arguments; /* an object; NULL where it cannot be known. The call's */
};

/* [next_step] for TOOLS, [{"name", "description", "parameters"}]. The caller's. */
json_t *steps_tools (const json_t *tools);

/* Reads CALL, the call part of a message. FALSE with ADDER_ERROR_INVALID, a sentence for the model, where it
 * is no step; *RET_STEP has what could be read in any case. */
gboolean steps_read (const json_t *call, gboolean typed, struct step *ret_step, GError **error);
