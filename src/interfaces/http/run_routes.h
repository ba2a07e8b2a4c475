/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that HTTP can also answer with a stream of events, or at once while the work continues in the
 * background. */
#pragma once

#include "interfaces/http/http.h"

struct run_route;

/* NULL: OPERATION has no such route. */
const struct run_route *run_route_find (const char *operation);

/* Adds to ROUTE, made from the operation's row, its further parameters and replies, and its handler. */
void run_route_fill (const struct run_route *own, struct http_route *route);
