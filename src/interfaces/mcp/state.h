/* SPDX-License-Identifier: Apache-2.0 */
/* Request states: what a client carries for the server from one round of a request to the next, and could
 * change or keep as it likes. So each is signed, for one owner, one method with one set of parameters, and
 * until one moment. What is in it can be read by who carries it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define MCP_STATE_KEY_BYTES 32
#define MCP_STATE_MAX       (128 * 1024) /* characters of one state */

struct mcp_state_key {
  guint8 bytes[MCP_STATE_KEY_BYTES];
};

/* A key made by chance, good for the life of this process; with FILE (absolute), the key that the content of
 * FILE makes, the same on each machine that has that content. ADDER_ERROR_INVALID where the file has less
 * than 32 bytes, more than 4096, or can be read by others than its owner's. */
gboolean mcp_state_key_make (const char *file, struct mcp_state_key *ret_key, GError **error);

/* Whose state it is, and of what request. */
struct mcp_state_bond {
  const char *owner;
  const char *method;
  const json_t *params; /* without what rounds add: _meta, inputResponses, requestState; NULL: none */
};

/* PAYLOAD (an object), signed, good for TTL_MS. The caller's. NULL with ADDER_ERROR_INVALID where it would be
 * longer than MCP_STATE_MAX. */
char *mcp_state_seal (const struct mcp_state_key *key, const struct mcp_state_bond *bond,
                      const json_t *payload, guint64 ttl_ms, GError **error);

/* The payload of STATE, the caller's. ADDER_ERROR_INVALID with the same words whatever was changed;
 * ADDER_ERROR_TIMEOUT where it is too old. */
json_t *mcp_state_open (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const char *state,
                        GError **error);
