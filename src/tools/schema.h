/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema 2020-12 of a tool's parameters and reply, made from its row. */
#pragma once

#include <jansson.h>

#include "tools/table.h"

#define SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

/* The reply of any tool that failed. */
extern const struct field error_reply[];

/* The common members of every reply. */
extern const struct field run_id_reply[];

/* The object of a tool's arguments: only the parameters. The caller's. */
json_t *schema_input (const struct tool *tool);

/* The same in the subset that model APIs can enforce: every parameter is required, an optional one may be
 * null, and defaults and lengths are in the description. The caller's. */
json_t *schema_input_strict (const struct tool *tool);

/* The object of a tool's reply: one of the tool's shapes, or error_reply. The caller's. */
json_t *schema_output (const struct tool *tool);

/* Both for a short list: without fields for the whole toolset only, replies by types alone. The caller's. */
json_t *schema_basic_input (const struct tool *tool);
json_t *schema_basic_output (const struct tool *tool);

/* The object of FIELDS alone, as sent or (REPLY) received. The caller's. */
json_t *schema_fields (const struct field *fields, gboolean reply);
