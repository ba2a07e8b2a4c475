/* SPDX-License-Identifier: Apache-2.0 */
/* A replay as a reply: all results, or a stream of events. */
#pragma once

#include "interfaces/http/http.h"

extern const struct field replay_fields[];

/* Runs the cells of REPLAY, which is taken, one after the other, and replies as BODY's `stream` says. */
void replay_reply (struct http_request *request, AdderReplay *replay, const json_t *body);
