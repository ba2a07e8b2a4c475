/* SPDX-License-Identifier: Apache-2.0 */
/* One run, from request to result. It is pulled: each call of run_next works, in the caller's thread, until
 * there is an event. The public API hands it out as AdderRun. */
#pragma once

#include "adder_types.h"
#include "engine/engine_parts.h"
#include "engine/request/request.h"

/* REQUEST becomes the run's. Does not wait: run_next does. */
struct adder_run *run_start (struct engine *engine, struct run_request *request);

/* Tells the recorder that RUN is active, if not yet done: otherwise that happens when the code begins. */
void run_note (struct adder_run *run);

/* As adder_run_next, adder_run_cancel and adder_run_free. */
gboolean run_next (struct adder_run *run, AdderEvent *event);
void run_cancel (struct adder_run *run);
/* Cancels RUN because the daemon ends. If it came from the queue of a cluster and may be executed again, it
 * leaves no record, since another node executes it. */
void run_hand_back (struct adder_run *run);
/* TRUE once its observers may have heard of its end, before run_next gives the result. For any thread. */
gboolean run_has_ended (const struct adder_run *run);
/* The run's. Its code and origin do not change. */
const struct run_request *run_request (const struct adder_run *run);
const char *run_id (const struct adder_run *run);
/* The bundle of the display delivered last, the run's; NULL: none. */
json_t *run_shown (const struct adder_run *run);
void run_free (struct adder_run *run);
