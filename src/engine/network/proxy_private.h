/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the proxy share. */
#pragma once

#include "base/fd.h"
#include "common/guarded.h"
#include "engine/network/proxy.h"

LOCK_CLASS (proxy);

struct proxy {
  const struct host *host;
  GArray *private_networks; /* struct address_block: those that may be reached */
  int epoll_fd;             /* listening sockets, by the numbers of their egresses; 0 is wake_fd */
  int wake_fd;

  MUTEX (proxy) lock;
  GCond fewer; /* a connection has ended */
  GUARDED_BY (proxy) GThread *thread;
  GUARDED_BY (proxy) gboolean closing;
  GUARDED_BY (proxy) guint64 egresses_made;
  GUARDED_BY (proxy) GHashTable *egresses; /* number -> struct egress, referenced */
  GUARDED_BY (proxy) guint64 connections;
};

/* ---- waiting (proxy_reach.c) ---- */

/* Waits until FD is ready for EVENTS: FALSE when DEADLINE_US (g_get_monotonic_time) is over, or the egress
 * closed. */
gboolean proxy_wait (const struct egress *egress, int fd, short events, gint64 deadline_us);

/* The same for COUNT descriptors, of which one more is used: POLLFDS has room for it. */
struct pollfd;
gboolean proxy_wait_some (const struct egress *egress, struct pollfd *pollfds, guint count,
                          gint64 deadline_us);

/* ---- reaching a host (proxy_reach.c) ---- */

enum reach { REACH_DONE, REACH_REFUSED, REACH_FAILED };

/* Connects to PORT of HOST, by an address that may be reached, not past DEADLINE_US. *RET_FD is the caller's;
 * else *RET_PROBLEM says what was refused (REACH_REFUSED) or did not work, for people, and is the caller's.
 */
enum reach proxy_reach (const struct proxy *proxy, struct egress *egress, const struct host_name *host,
                        guint16 port, gint64 deadline_us, int *ret_fd, char **ret_problem);

/* ---- TLS (proxy_tls.c) ---- */

struct tls {
  pid_t pid; /* of adder-tls; 0: there is none */
};

/* Has adder-tls speak TLS on *HOST_FD to the host of SECRET; from then on *HOST_FD is the plain side. FALSE
 * with *RET_PROBLEM, the caller's. In any case proxy_end_tls follows, when *HOST_FD is closed. */
gboolean proxy_speak_tls (const struct proxy *proxy, const struct egress *egress,
                          const struct network_secret *secret, struct tls *ret_tls, int *host_fd,
                          char **ret_problem);

/* Waits for its end. */
void proxy_end_tls (struct tls *tls);

/* ---- one connection (proxy_link.c) ---- */

/* Serves FD, a connection from the sandbox of EGRESS, to its end. Takes it over. */
void proxy_serve (struct proxy *proxy, struct egress *egress, int fd);

/* Says why FD, a connection that came, is not served, without waiting. */
void proxy_turn_away (int fd, const char *why);

/* Carries bytes between CLIENT_FD and HOST_FD until both are done (proxy_carry.c). FIRST goes to the host
 * before anything else. BODY says how much of the client's bytes is the request's, and ANSWER where the
 * host's end; NULL: a tunnel, in which all pass. What a client sends behind a plain request, at once or
 * later, is left unread: its connection is over with the answer, and it asks again on another. Returns
 * whether it came to its end by itself; else the client's side is reset when it is closed, so that nobody
 * takes a part for the whole. */
struct proxy_body;
struct proxy_answer;
struct carried {
  int client_fd, host_fd;
  guint destination;
  gint64 deadline_us;
  GString *first;
  struct proxy_body *body;
  struct proxy_answer *answer;
};
gboolean proxy_carry (struct egress *egress, const struct carried *carried);
