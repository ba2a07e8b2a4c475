/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about long output. */
#include "frontends/server_store_private.h"

#define PART_BYTES 16384

static char *
answer_peek (const struct store_call *call, GError **error)
{
  gint64 limit = store_call_number (call, "limit");
  return adder_output_peek (call->engine, call->owner, store_call_text (call, "result_id"),
                            store_call_text (call, "stream"), (guint64)store_call_number (call, "offset"),
                            limit > 0 ? (guint64)limit : PART_BYTES, store_call_text (call, "grep"), error);
}

const struct store_op server_store_output[] = {
    {"output_peek",
     {{"result_id", STORE_TEXT, TRUE},
      {"stream", STORE_TEXT, FALSE},
      {"offset", STORE_NUMBER, FALSE},
      {"limit", STORE_NUMBER, FALSE},
      {"grep", STORE_TEXT, FALSE}},
     0,
     answer_peek},
    {0},
};
