/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's network, and the namespace of one that reaches selected hosts: loopback, with a socket on which
 * the daemon's proxy answers (engine/network/proxy.h). There is no other way out. */
#pragma once

#include "base/fault.h"

enum network {
  NETWORK_NONE,  /* an empty namespace, shared with others, and no sockets but local ones */
  NETWORK_ALLOW, /* a namespace of its own, with the proxy in it */
  NETWORK_FULL,  /* the host's */
  NETWORKS,
};

/* "none", "allow", "full"; then NULL. */
extern const char *const network_names[];

/* The one called NAME, or -1. */
int network_find (const char *name);

/* The proxy's address in every such namespace. */
#define NETWORK_PROXY_PORT 3128
#define NETWORK_PROXY_URL  "http://127.0.0.1:3128"

/* Reached without it: servers in the sandbox itself. */
#define NETWORK_PROXY_BESIDE "localhost,127.0.0.1,::1"

/* Leaves the network namespace for a new one with nothing but loopback, which is up. Needs CAP_SYS_ADMIN.
 * *RET_FD listens at NETWORK_PROXY_PORT there, and is the caller's. Returns 0 or a negative errno with FAULT.
 */
int network_enter (int *ret_fd, struct fault *fault);
