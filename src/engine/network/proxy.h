/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: the only way out of a sandbox that may reach chosen hosts.
 *
 * Each such sandbox has a network namespace of its own, in which there is nothing but loopback and one
 * listening socket (sandbox/network.h). That socket was handed to the daemon, and so the sandbox is told by
 * the socket on which it comes: there is no password, and nobody else can get there. One thread accepts on
 * all of them; each connection has a thread of its own for as long as it lasts (proxy_link.c), of which there
 * is a bounded number. It reads one request, CONNECT or plain HTTP, looks whether the list allows its host,
 * looks the name up itself (proxy_reach.c), refuses every address that is not public, connects to one that it
 * has looked at and to no other, and then carries bytes and counts them.
 *
 * What comes from the sandbox is hostile, and so is what comes from hosts: neither is read further than it
 * must be (proxy_request.c), nothing waits without a deadline, and nothing is kept beyond a buffer. */
#pragma once

#include "engine/host/host.h"
#include "engine/network/egress.h"

struct proxy;

/* Whether a proxy could be made with CONFIG: what it says of private networks. */
gboolean proxy_check_config (const struct config *config, GError **error);

/* HOST must outlive it. ADDER_ERROR_INVALID: the configuration's private_networks are wrong. */
struct proxy *proxy_new (const struct host *host, GError **error);

/* Ends all connections and waits for their threads. NULL is allowed. */
void proxy_free (struct proxy *proxy);

/* From now on answers on LISTENER_FD by RULES. The caller's, to be closed by proxy_close. */
struct egress *proxy_open (struct proxy *proxy, int listener_fd, struct network_rules *rules,
                           const struct limits *limits, GError **error);

/* The sandbox is no more, or is about to end. The caller keeps its reference: what was counted stays. */
void proxy_close (struct egress *egress);
