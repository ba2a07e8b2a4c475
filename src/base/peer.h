/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct peer {
  uid_t uid;
  bool trusted; /* its user is the caller's, or root */
  /* It lives in the caller's user and pid namespaces: it is no code in a sandbox or container, whose user may
   * have the caller's id, and which found the socket in a directory that was bind-mounted into it. FALSE as
   * well for one that has ended, or that /proc does not tell of. */
  bool near;
};

/* The process that connected SOCKET, as the kernel knows it. Returns 0, or a negative errno. */
int peer_look (int socket, struct peer *ret_peer);

/* A descriptor of that process, the caller's; -1 when the kernel or a pid namespace hides it. Before
 * Linux 6.5 it is found by its number, which may be another's by now. */
int peer_open (int socket);
