/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a TCP connection within this machine. */
#pragma once

#include <sys/types.h>

/* The account whose program connected SOCKET, as the kernel lists it. Returns 0; -EHOSTUNREACH: the other end
 * is another machine; -ENOENT: it is not listed, as when it has ended; or another negative errno. */
int peer_tcp_look (int socket, uid_t *ret_uid);
