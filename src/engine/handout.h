/* SPDX-License-Identifier: Apache-2.0 */
/* Making a parked box ready for one run: its limits, the files, the standard input. What was fixed when it
 * was parked (its shape) is not touched. */
#pragma once

#include <glib.h>

#include "engine/box.h"
#include "engine/host.h"
#include "engine/request.h"

/* Lowers the limits of BOX, from outside, to LIMITS. */
gboolean handout_set_limits (struct box *box, const struct limits *limits, GError **error);

/* Puts the request's files into the box's workspace. Adds each, as it is then, to INPUTS (struct
 * workspace_input). */
gboolean handout_put_files (struct box *box, const struct host *host, const struct run_request *request,
                            GPtrArray *inputs, struct interrupt *interrupt, gint64 deadline_us,
                            GError **error);
