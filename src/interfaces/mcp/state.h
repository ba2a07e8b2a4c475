/* SPDX-License-Identifier: Apache-2.0 */
/* Request states: data that a client carries for the server from one round of a request to the next, and
 * could change or replay. So each is signed, for one owner, one method with one set of parameters, and until
 * one moment. The client can read it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define MCP_STATE_KEY_BYTES 32
#define MCP_STATE_MAX       (128 * 1024) /* characters of one state */

struct mcp_state_key {
  guint8 bytes[MCP_STATE_KEY_BYTES];
};

/* A random key, valid for the life of this process; with FILE (absolute), the key derived from its content,
 * the same on each machine with that content. ADDER_ERROR_INVALID when the file has less than 32 bytes, more
 * than 4096, or others than its owner can read it. */
gboolean mcp_state_key_make (const char *file, struct mcp_state_key *ret_key, GError **error);

/* The owner of a state, and its request. */
struct mcp_state_bond {
  const char *owner;
  const char *method;
  const json_t *params; /* without what rounds add: _meta, inputResponses, requestState; NULL: none */
};

/* PAYLOAD (an object), signed, valid for TTL_MS. The caller's. NULL with ADDER_ERROR_INVALID when it would
 * exceed MCP_STATE_MAX. */
char *mcp_state_seal (const struct mcp_state_key *key, const struct mcp_state_bond *bond,
                      const json_t *payload, guint64 ttl_ms, GError **error);

/* The payload of STATE, the caller's. ADDER_ERROR_INVALID with the same message whatever was changed;
 * ADDER_ERROR_TIMEOUT when it is too old. */
json_t *mcp_state_open (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const char *state,
                        GError **error);
