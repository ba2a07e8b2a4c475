/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of the user's own (--tool FILE): a program that is started for each call, without a shell, in the
 * current directory and as the user. FILE is JSON:
 *
 *   {"name": "get_secret", "description": "...", "parameters": {JSON Schema of an object},
 *    "command": ["./get-secret", "--quietly"], "timeout": 60}
 *
 * The arguments of the call are on its standard input, one JSON object; its reply is what it writes on
 * standard output: text, or an object with members that replies of other tools have too ("text", "error",
 * "pictures"). Another exit code than 0 is an error, and standard error says which. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define EXTERNAL_MAX         64        /* tools */
#define EXTERNAL_FILE_BYTES  (1 << 20) /* of a description */
#define EXTERNAL_REPLY_BYTES (8 << 20)
#define EXTERNAL_ERROR_BYTES (64 << 10)
#define EXTERNAL_TIMEOUT     60   /* s */
#define EXTERNAL_TIMEOUT_MAX 3600 /* s */

struct external {
  char *name, *description;
  json_t *parameters;
  char **command;
  guint64 timeout_ms;
};
void external_free (struct external *external);

/* The tool that FILE describes; ADDER_ERROR_INVALID says what is wrong with it. The caller's. */
struct external *external_load (const char *file, GError **error);

/* Calls it. *RET_REPLY is the caller's, an object as above; FALSE with ERROR where there is none: the program
 * could not be started, took too long, said too much, or failed. ADDER_ERROR_CANCELLED when CANCEL_FD could
 * be read: it and all of its process group are dead then. */
gboolean external_call (const struct external *external, const json_t *arguments, int cancel_fd,
                        json_t **ret_reply, GError **error);
