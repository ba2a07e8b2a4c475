/* SPDX-License-Identifier: Apache-2.0 */
/* A replay as a stream of events. */
#pragma once

#include "interfaces/http/http.h"

/* Runs the cells of REPLAY, which is taken, one after the other, and sends their events. */
void replay_reply (struct http_request *request, AdderReplay *replay);
