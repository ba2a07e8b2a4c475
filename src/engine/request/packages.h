/* SPDX-License-Identifier: Apache-2.0 */
/* Packages that a run requests in addition to those of its environment: `packages` of a body, `--with` of the
 * command line. */
#pragma once

#include "engine/engine_parts.h"
#include "engine/host/environment_with.h"
#include "engine/host/interrupt.h"
#include "engine/request/request.h"

/* Advice to a caller about a missing package: one sentence. */
const char *packages_advice (enum packages_way way);

/* Installs the missing packages of REQUEST, which is complete and has some. Returns the descriptor for
 * environment_with_read, the caller's; -1 without ERROR if they are there, and with ERROR if they cannot be
 * installed. */
int packages_begin (const struct engine *engine, const struct run_request *request, GError **error);

/* Reads the next message about that from FD, and does what it asks for. As environment_with_read, but handles
 * ENVIRONMENT_WITH_ROOM; *RET_TEXT may be NULL. */
enum environment_with_said packages_read (const struct engine *engine, int fd, char **ret_text,
                                          GError **error);

/* The same, and waits until they are there. */
gboolean packages_await (const struct engine *engine, const struct run_request *request,
                         struct interrupt *interrupt, GError **error);

/* The name of the environment that REQUEST runs in, the caller's; NULL with ERROR. */
char *packages_environment (const struct engine *engine, const struct run_request *request, GError **error);
