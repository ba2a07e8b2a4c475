/* SPDX-License-Identifier: Apache-2.0 */
/* A container engine, asked over the HTTP API that Docker defines and Podman answers too, on its unix socket.
 * A client is for one thread at a time. Errors are ADDER_ERROR_UNSUPPORTED where there is no engine, or no
 * right to use it, and say how to get it; ADDER_ERROR_NOT_FOUND where the engine knows no such thing;
 * ADDER_ERROR_TIMEOUT where it does not answer in time; else ADDER_ERROR_FAILED with the engine's words. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"

struct container_client;

/* Finds the engine that CONFIG names and asks for its version. The caller's. */
struct container_client *container_client_new (const struct config *config, GError **error);
void container_client_free (struct container_client *client);

/* Whether it is Podman, which takes some things otherwise. */
gboolean container_client_is_podman (const struct container_client *client);

/* "docker" or "podman", its version, its socket. */
const char *container_client_name (const struct container_client *client);
const char *container_client_version (const struct container_client *client);
const char *container_client_socket (const struct container_client *client);

/* Of HTTP, of the last answer; 0: none came. */
guint container_client_status (const struct container_client *client);

/* One request: METHOD, PATH with its query ("/containers/json?all=1"), BODY (borrowed) or NULL. *RET_ANSWER,
 * the caller's, is the JSON of the answer, or NULL where there is none; RET_ANSWER may be NULL. No longer
 * than TIMEOUT_MS. */
gboolean container_client_call (struct container_client *client, const char *method, const char *path,
                                json_t *body, guint64 timeout_ms, json_t **ret_answer, GError **error);

/* Told each object of an answer that comes as lines of JSON, as an import or a build does. FALSE with ERROR
 * ends it.
 */
typedef gboolean (*container_progress) (gpointer data, json_t *line, GError **error);

/* The same with what can be read from BODY_FD as TYPE, and an answer that comes in lines. A line with "error"
 * is an error. */
gboolean container_client_send (struct container_client *client, const char *path, const char *type,
                                int body_fd, guint64 timeout_ms, container_progress progress, gpointer data,
                                GError **error);
