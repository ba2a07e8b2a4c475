/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema 2020-12 of a tool's parameters and reply, made from its row. */
#pragma once

#include <jansson.h>

#include "tools/table.h"

#define SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

/* The reply of any tool that could not do what it was asked for. */
extern const struct field error_reply[];

/* What every reply has beside its own members. */
extern const struct field run_id_reply[];

/* The object of a tool's arguments: no other members than the parameters. The caller's. */
json_t *schema_input (const struct tool *tool);

/* The same in the subset that model APIs can hold a model to: every parameter is there, one that may be left
 * out is null, and defaults and lengths stand in the description. The caller's. */
json_t *schema_input_strict (const struct tool *tool);

/* The object of a tool's reply: one of the tool's shapes, or error_reply. The caller's. */
json_t *schema_output (const struct tool *tool);

/* Both for a list that has to be short: without what stands only in the whole toolset, replies by types
 * alone. The caller's. */
json_t *schema_basic_input (const struct tool *tool);
json_t *schema_basic_output (const struct tool *tool);

/* The object of FIELDS alone, as somebody gives it or (REPLY) gets it. The caller's. */
json_t *schema_fields (const struct field *fields, gboolean reply);
