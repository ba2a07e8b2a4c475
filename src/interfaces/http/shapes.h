/* SPDX-License-Identifier: Apache-2.0 */
/* The library's answers, as fields: for the replies of routes. The result of a run is in
 * operations/result_fields.h. */
#pragma once

#include "operations/fields.h"
#include "operations/file_fields.h"
#include "operations/result_fields.h"
#include "operations/session_fields.h"
#include "store/record_fields.h"

extern const struct field no_fields[];
extern const struct field files_fields[];
