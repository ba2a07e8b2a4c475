/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas for /openapi.json: those of tools/schema.h in the form that client generators understand. */
#pragma once

#include <jansson.h>

#include "common/field.h"

/* {"$ref": "#/components/KIND/NAME"}. The caller's. */
json_t *openapi_reference (const char *kind, const char *name);

/* The object of FIELDS, as a client sends it or (REPLY) receives it. Objects whose tables have a title
 * (FIELD_END) go into SCHEMAS by that name, FIELDS itself without one as NAME (NULL: it is inlined), with
 * references in their places. The caller's. */
json_t *openapi_schema (const struct field *fields, gboolean reply, const char *name, json_t *schemas);

/* The schema of FIELD alone, of a path or a query; its description is taken out. The caller's. */
json_t *openapi_parameter_schema (const struct field *field, json_t **ret_description);
