/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process is in a container, of which engine, and which of that engine's options lifts a
 * refusal. ROOT as in probe_reason.h. */
#pragma once

#include "sandbox/probe.h"

/* "Docker"; NULL for none. */
extern const char *const probe_engine_names[PROBE_ENGINES];

enum probe_engine probe_find_engine (const char *root);

/* The option of ENGINE that makes FACT good which was found to be STATE; NULL: none would. */
const char *probe_engine_option (enum probe_engine engine, enum probe_fact fact, const char *state);
