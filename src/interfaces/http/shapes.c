/* SPDX-License-Identifier: Apache-2.0 */
/* The library's answers, as fields. */
#include "interfaces/http/shapes.h"

const struct field no_fields[] = {{0}};

/* ---- files ---- */

const struct field files_fields[] = {
    LIST ("files", file_fields, "In the order in which they came."),
    FIELD_END ("FileList"),
};
