/* SPDX-License-Identifier: Apache-2.0 */
/* What `adder doctor` tells of a host beside its mechanisms: settings that do not lower the isolation level,
 * but bear on what other users or neighbours could learn or reach. */
#pragma once

#include <jansson.h>

#include "common/config.h"

/* A list of {"name", "state", "good", "text", "remedy": what to do and what that costs, or null}; the
 * caller's. What this host does not tell is left out. CONFIG may be NULL. */
json_t *doctor_look_around (const struct config *config);
