/* SPDX-License-Identifier: Apache-2.0 */
/* An operation as a stream of events: what it tells of on its way (operation_caller.told) and, as the last,
 * `answer` with its value or `problem` with a problem document. */
#pragma once

#include "interfaces/http/http.h"

/* Calls the route's operation, which takes no descriptors, and replies with the stream. When the client goes,
 * the operation's watch ends it. */
void operation_reply (struct http_request *request);
