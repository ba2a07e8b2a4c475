/* SPDX-License-Identifier: Apache-2.0 */
/* The operation model.ask, whose row is in model.c. */
#pragma once

#include "operations/operation.h"

/* Bounds of one question. */
#define MODEL_ASK_BYTES    (4 << 20)
#define MODEL_ASK_MESSAGES 1000
#define MODEL_ASK_PARTS    256 /* of a message, or of a result in it */
#define MODEL_ASK_TOOLS    128

extern const struct field model_ask_params[];
extern const struct field *const model_ask_replies[];

json_t *model_ask_run (const struct operation_call *call, GError **error);
