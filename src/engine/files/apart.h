/* SPDX-License-Identifier: Apache-2.0 */
/* What of the host a work directory must not reach: Adder's own directories, and, where what code changes in
 * it is changed on the host, what is executed in other places than the code's own sandbox. */
#pragma once

#include <glib.h>

#include "common/config.h"

/* Checks the directory FD; CHANGES: what code changes there may become the host's. ADDER_ERROR_REFUSED says
 * what would be within reach. */
gboolean apart_check (const struct config *config, int fd, gboolean changes, GError **error);
