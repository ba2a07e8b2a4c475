/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that HTTP can answer in more ways than with their value: as a stream of events, or at once while
 * the work goes on in the background. */
#pragma once

#include "interfaces/http/http.h"

struct run_route;

/* NULL: OPERATION is none of them. */
const struct run_route *run_route_find (const char *operation);

/* Adds to ROUTE, which was made from the operation's row, what it takes and gives beside, and its handler. */
void run_route_fill (const struct run_route *own, struct http_route *route);
