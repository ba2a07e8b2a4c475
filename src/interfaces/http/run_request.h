/* SPDX-License-Identifier: Apache-2.0 */
/* From the body of a request to the library's: what runs, cells, new sessions and replays have in common. */
#pragma once

#include "interfaces/http/http.h"

/* The request that CHECKED, a body with members of POST /v1/runs (operations/run_body.h), means, of who asks,
 * cancelled when they go. The caller's. ADDER_ERROR_INVALID, ADDER_ERROR_REFUSED, ADDER_ERROR_NOT_FOUND;
 * ADDER_ERROR_ENDED of a session. */
AdderRequest *run_request_new (struct http_request *request, const json_t *checked, GError **error);

/* Opens {root, path} of a body, as MODE ("read", "rw"...) for who asks: a descriptor, the caller's, or -1
 * with ERROR. *RET_PATH is the caller's. */
int run_request_open_root (struct http_request *request, const json_t *place, const char *mode,
                           char **ret_path, GError **error);
