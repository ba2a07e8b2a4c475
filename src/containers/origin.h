/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a container is: the values of its labels. All strings are the caller's. */
#pragma once

#include <glib.h>

/* Of this process's parent. */
char *container_origin_daemon (void);
char *container_origin_owner (void);
/* The machine since it was booted, and what numbers of processes mean here. */
char *container_origin_host (void);

/* Whether a container with these labels (NULL: it has none) was left by a daemon of this user's that is no
 * more. What another could still use is no leftover. */
gboolean container_origin_is_gone (const char *daemon, const char *owner, const char *host);
