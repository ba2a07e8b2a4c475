/* SPDX-License-Identifier: Apache-2.0 */
/* A replay as a reply: all results, or a stream of events. */
#pragma once

#include "frontends/http/http.h"

extern const struct field replay_fields[];

/* Runs the cells of REPLAY, which is taken, one after the other, as BODY's `keep_going` and `stream` say. */
void replay_reply (struct http_request *request, AdderReplay *replay, const json_t *body);
