/* SPDX-License-Identifier: Apache-2.0 */
/* The owner that a request is about. */
#pragma once

#include "interfaces/http/http.h"

/* The owner that REQUEST's query names, for the library: by default the caller, NULL for "all". Only an admin
 * may name another: for others FALSE, and the problem is the reply. *RET_OWNER is REQUEST's. */
gboolean owner_asked_for (struct http_request *request, const char **ret_owner);
