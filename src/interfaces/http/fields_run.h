/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that ask for runs, cells, sessions and replays: the same members with the same words. */
#pragma once

#include "tools/table.h"

extern const struct field run_fields[], cell_request_fields[], session_request_fields[],
    replay_request_fields[];

/* A run that is under way, or in the background, as it is shown (routes_runs.c). */
extern const struct field run_show_fields[];
