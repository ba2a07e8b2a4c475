/* SPDX-License-Identifier: Apache-2.0 */
/* What `adder doctor` says of runs in containers: the engine, its runtime, the image, and one run. */
#pragma once

#include <jansson.h>

#include "common/config.h"

/* {"ready", "wanted", "engine", "engine_version", "socket", "rootless", "runtime", "runtimes", "image",
 * "checks", "trial"}. "checks" is a list of {"name", "good", "text"}, ending with the first failure; the text
 * of a failed check says how to fix it. */
json_t *doctor_look_at_containers (const struct config *config);

void doctor_print_containers (const json_t *containers);
