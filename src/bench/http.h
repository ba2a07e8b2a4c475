/* SPDX-License-Identifier: Apache-2.0 */
/* A server of HTTP in this process, and one connection to it that is kept. */
#pragma once

#include <glib.h>

#include "adder.h"

struct bench_http;

/* On a port of loopback that is free, for ENGINE, which must outlive it. */
struct bench_http *bench_http_new (AdderEngine *engine, GError **error);
/* NULL is allowed. */
void bench_http_free (struct bench_http *http);

/* Runs CODE by POST /v1/runs. *RET_MS is from before the request is sent to when its answer is there whole;
 * *RET_RESULT is that answer's body, the caller's. */
gboolean bench_http_ask (struct bench_http *http, const char *environment, const char *code, double *ret_ms,
                         char **ret_result, GError **error);
