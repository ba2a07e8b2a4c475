/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: the host's facts, the pools, and the runs that use them. Shared by the program that made it and
 * by each run; it may be used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "engine/engine_parts.h"

/* CONFIG becomes the engine's, also on failure. */
struct engine *engine_new (struct config *config, GError **error);

/* Ends every session, sandbox and zygote and waits for them. Runs under way end as cancelled; what they hold
 * goes with them. */
void engine_close (struct engine *engine);

/* Waits until a sandbox of ENVIRONMENT (NULL: the configured one) is parked. */
gboolean engine_warm (struct engine *engine, const char *environment, GError **error);

json_t *engine_status (struct engine *engine);
