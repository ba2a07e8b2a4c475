/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema in the few words that every server which holds a model to a schema knows. */
#pragma once

#include <jansson.h>

/* A copy of SCHEMA whose bounds and patterns stand in descriptions, for the model to read; whether they were
 * kept is looked at when the tool is called. The caller's. */
json_t *plain_schema (const json_t *schema);
