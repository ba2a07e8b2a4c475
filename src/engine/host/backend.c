/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/backend.h"

#include <stddef.h>

const char *const backend_names[] = {"native", "container", "auto", NULL};
