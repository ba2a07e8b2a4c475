/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox refused: the `denials` of a result, each with a sentence that a model can act on. The kind
 * and the detail may come from the sandbox; the hint never does. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/network/network_rules.h"
#include "engine/request/outcome.h"
#include "engine/request/request.h"
#include "sandbox/limits.h"

/* Whether a sandbox may report denials of this kind. Limits are reported by their names instead. */
gboolean denial_is_kind (const char *kind);

/* What a request in VOICE passes files with: "--file". */
const char *denial_files_word (enum request_voice voice);

/* Adds {kind, detail} to LIST, unless it is there already. Takes DETAIL, a string, over. */
void denial_add (json_t *list, const char *kind, json_t *detail);

/* The denials of a run that ended as VERDICT: those that the sandbox REPORTED (an array of {kind, detail}, or
 * NULL), each with its hint, and one for each limit in LIMITS_MET (1 << enum limit), except the one in the
 * verdict. MAXIMA: how far limits may be raised. NETWORK: the run's network, or NULL. WAY: how its caller
 * asks for packages. WORKDIR: what it could do in /work. VOICE: for which interface hints are worded. The
 * caller's. */
json_t *denial_list (const json_t *reported, guint32 limits_met, const struct verdict *verdict,
                     const struct limits *limits, const struct limits *maxima,
                     const struct network_rules *network, enum packages_way way, enum workdir_mode workdir,
                     enum request_voice voice);
