/* SPDX-License-Identifier: Apache-2.0 */
/* What `adder doctor` reports about a host beyond its mechanisms: settings that do not lower the isolation
 * level, but affect what other users or neighbours could learn or reach; and whether the module for the
 * cluster that is configured can be loaded. */
#pragma once

#include <jansson.h>

#include "common/config.h"
#include "sandbox/probe.h"

/* A list of {"name", "state", "good", "text", "remedy": what to do and its cost, or null}; the caller's.
 * Facts that this host does not reveal are left out. CONFIG may be NULL. PROBE knows of containers. */
json_t *doctor_look_around (const struct config *config, const struct probe *probe);
