/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a kept file, for operations and for the other routes of HTTP. */
#pragma once

#include "common/field_rows.h"

extern const struct field file_fields[];
