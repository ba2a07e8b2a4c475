/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets that a service manager opened for this process (sd_listen_fds(3)): those of a systemd
 * unit adder.socket. They are found by their addresses, so that who wants to listen somewhere uses what is
 * there. */
#pragma once

#include <glib.h>
#include <sys/socket.h>

/* Takes them over, once, before the first thread: children get neither the descriptors nor the variables.
 * The one at LOCAL_PATH is the daemon's local socket; those named "http" (FileDescriptorName=), and those of
 * TCP, are for HTTP; any other is an error. */
gboolean inherited_sockets_take (const char *local_path, GError **error);

/* A descriptor for the socket bound to ADDRESS, the caller's; -1: there is none. */
int inherited_sockets_find (const struct sockaddr *address, socklen_t size);
int inherited_sockets_find_unix (const char *path);

/* Addresses of those for HTTP, as [http] listen writes them; may be empty. */
const GPtrArray *inherited_sockets_http (void);
