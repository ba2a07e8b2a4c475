/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the daemon and a sandbox as JSON (src/runner/README.md): the request that is sent, and
 * what comes back, which is hostile input: parsed strictly, every field checked, nothing taken over that is
 * not known. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A result message that was well formed. */
struct message_result {
  int exit_code;          /* 0 to 255 */
  json_t *value;          /* a MIME bundle, or NULL */
  json_t *error;          /* with exactly the fields of a result's error, or NULL */
  gboolean out_of_memory; /* the error is a MemoryError, or a system call's ENOMEM */
  json_t *denials;        /* an array of {kind, detail}, each kind known, each detail one line */
  guint32 limits_met;     /* 1 << enum limit */
};
void message_result_clear (struct message_result *result);

/* Reads LENGTH bytes of TEXT. The runner keeps representations and tracebacks within VALUE_BYTES; what is
 * longer, because somebody else wrote it, is cut or left out. The warnings in it are added to WARNINGS. FALSE
 * when anything is not as it must be. */
gboolean message_read_result (const char *text, gsize length, guint64 value_bytes,
                              struct message_result *ret_result, GPtrArray *warnings);

/* How many values TEXT has at most, whether it is JSON or not. One costs some 50 bytes once it is parsed,
 * however few it has in the text. */
gsize message_count_values (const char *text, gsize length);

/* A MIME bundle: an object of strings, or of any values under names that end in "json". The caller's; NULL
 * when it is none. */
json_t *message_read_display (const char *text, gsize length);

struct run_request;

/* The text of WIRE_REQUEST. The caller's. */
char *message_write_request (const struct run_request *request, gsize *ret_length);
