/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation with a model, as JSON that is no model API's own: dialects translate it to the wire and back
 * (dialect.h), transcripts and replays hold it as it is.
 *
 * A conversation is a list of messages, each {"role": "user" | "assistant" | "tool", "content": [PART ...]}:
 *
 *   {"type": "text", "text"}                       of anybody
 *   {"type": "image", "mime", "data"}              of a user or in a result; data is base64
 *   {"type": "call", "id", "name", "arguments"}    of an assistant: arguments is an object, or, where the
 *                                                  model wrote none, null, and "raw" is what it wrote
 *   {"type": "result", "id", "name", "content": [text and image parts], "is_error": bool}   of a tool
 *   {"type": "opaque", "dialect", "data"}          of an assistant: what its API wants back unchanged, such
 * as signed reasoning; other dialects leave it out
 *
 * The instructions that come before all messages (the system prompt) are no message. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Each is a new reference of the caller's. */
json_t *message_user (const char *text);
json_t *message_text (const char *text);
json_t *message_image (const char *mime, const char *base64);
/* A message of a tool with one result of the call part CALL. Takes CONTENT, a list of parts. */
json_t *message_result (const json_t *call, json_t *content, gboolean is_error);

/* The text parts of MESSAGE, one after the other. The caller's. */
char *message_all_text (const json_t *message);

/* The call parts of MESSAGE, borrowed, in a list of the caller's. */
json_t *message_calls (const json_t *message);
