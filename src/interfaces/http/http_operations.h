/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to the call of an operation. */
#pragma once

#include "interfaces/http/http.h"
#include "operations/operation.h"

/* A request on a route of an operation, in the operation's terms. */
struct http_call {
  json_t *params; /* of the path, the query and the body; owned */
  int directory_fd;
  struct operation_caller caller; /* the request's, and DIRECTORY_FD as its descriptor */
};

/* Fills *RET_CALL, which must be cleared even on failure: FALSE with ERROR. A directory that the parameter
 * `workdir` names by a root is opened, and becomes {path, mode}. */
gboolean http_call_init (struct http_request *request, struct http_call *ret_call, GError **error);
/* The caller alone, without a descriptor. */
void http_call_caller (struct http_request *request, struct operation_caller *ret_caller);
void http_call_clear (struct http_call *call);

/* Calls the route's operation, and replies. */
void http_call_operation (struct http_request *request);

/* Opens {root, path} of a body, as MODE ("read", "rw"...) for the caller: a descriptor, the caller's, or -1
 * with ERROR. *RET_PATH is the caller's. */
int http_open_root (struct http_request *request, const json_t *place, const char *mode, char **ret_path,
                    GError **error);
