/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching a host: waiting, names, addresses that may be reached, connecting. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "engine/network/proxy_private.h"

/* What a name server, and then each address, may take. */
#define LOOKUP_US  (15 * G_USEC_PER_SEC)
#define CONNECT_US (10 * G_USEC_PER_SEC)

/* Of one answer; and lookups at once in all and for one sandbox, since nothing can end one that a name server
 * leaves waiting. */
#define ADDRESSES_MAX  16
#define LOOKUPS_MAX    256
#define LOOKUPS_OF_ONE 32

/* ---- waiting ---- */

gboolean
proxy_wait_some (const struct egress *egress, struct pollfd *pollfds, guint count, gint64 deadline_us)
{
  pollfds[count] = (struct pollfd){.fd = egress->closed_fd, .events = POLLIN};
  for (;;) {
    gint64 left_us = deadline_us - g_get_monotonic_time ();
    if (left_us <= 0)
      return FALSE;
    int n = poll (pollfds, count + 1, (int)MIN (left_us / 1000 + 1, G_MAXINT));
    if (n > 0)
      return pollfds[count].revents == 0;
    if (n < 0 && errno != EINTR)
      return FALSE;
  }
}

gboolean
proxy_wait (const struct egress *egress, int fd, short events, gint64 deadline_us)
{
  struct pollfd pollfds[2] = {{.fd = fd, .events = events}};
  return proxy_wait_some (egress, pollfds, 1, deadline_us);
}

/* ---- names ---- */

/* A lookup outlives whoever lost patience with it. */
struct lookup {
  gatomicrefcount references;
  struct egress *egress;
  char *name;
  int done_fd;
  gint done;   /* atomic: what follows is there */
  int problem; /* of getaddrinfo */
  struct addrinfo *list;
};

static gint lookups; /* atomic */

/* Whether there were not too many before. */
static gboolean
count_lookup (struct egress *egress, int more)
{
  gboolean few = g_atomic_int_add (&lookups, more) < LOOKUPS_MAX;
  return g_atomic_int_add (&egress->lookups, more) < LOOKUPS_OF_ONE && few;
}

static void
lookup_unref (struct lookup *lookup)
{
  if (!g_atomic_ref_count_dec (&lookup->references))
    return;
  if (lookup->list)
    freeaddrinfo (lookup->list);
  fd_close (&lookup->done_fd);
  egress_unref (lookup->egress);
  g_free (lookup->name);
  g_free (lookup);
}

static gpointer
lookup_thread (gpointer data)
{
  struct lookup *lookup = data;
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
  lookup->problem = getaddrinfo (lookup->name, NULL, &hints, &lookup->list);
  g_atomic_int_set (&lookup->done, TRUE);
  (void)eventfd_write (lookup->done_fd, 1);
  count_lookup (lookup->egress, -1);
  lookup_unref (lookup);
  return NULL;
}

static struct lookup *
start_lookup (struct egress *egress, const char *name)
{
  if (!count_lookup (egress, 1)) {
    count_lookup (egress, -1);
    return NULL;
  }
  struct lookup *lookup = g_new0 (struct lookup, 1);
  g_atomic_ref_count_init (&lookup->references);
  lookup->egress = egress_ref (egress);
  lookup->name = g_strdup (name);
  lookup->done_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (lookup->done_fd >= 0) {
    g_atomic_ref_count_inc (&lookup->references);
    GThread *thread = g_thread_try_new ("adder-lookup", lookup_thread, lookup, NULL);
    if (thread) {
      g_thread_unref (thread);
      return lookup;
    }
    lookup_unref (lookup);
  }
  count_lookup (egress, -1);
  lookup_unref (lookup);
  return NULL;
}

static void
add_address (GArray *addresses, const struct sockaddr *from)
{
  struct address address;
  if (addresses->len < ADDRESSES_MAX && address_from_socket (from, &address))
    g_array_append_val (addresses, address);
}

/* Appends the addresses of HOST. Returns NULL, or what went wrong, the caller's. */
static char *
look_up (struct egress *egress, const struct host_name *host, gint64 deadline_us, GArray *addresses)
{
  if (host->is_address) {
    g_array_append_val (addresses, host->address);
    return NULL;
  }
  struct lookup *lookup = start_lookup (egress, host->text);
  if (!lookup)
    return g_strdup ("too many names are being looked up");
  char *problem = NULL;
  deadline_us = MIN (deadline_us, g_get_monotonic_time () + LOOKUP_US);
  if (!proxy_wait (egress, lookup->done_fd, POLLIN, deadline_us) || !g_atomic_int_get (&lookup->done))
    problem = g_strdup_printf ("no name server told the address of %s in time", host->text);
  else if (lookup->problem != 0)
    problem =
        g_strdup_printf ("the name %s cannot be looked up: %s", host->text, gai_strerror (lookup->problem));
  for (const struct addrinfo *at = problem ? NULL : lookup->list; at; at = at->ai_next)
    add_address (addresses, at->ai_addr);
  lookup_unref (lookup);
  return problem;
}

/* ---- addresses ---- */

/* Those that may not be reached go. Returns what is wrong with the last of them, the caller's, or NULL. */
static char *
drop_refused (const struct proxy *proxy, GArray *addresses)
{
  char *refused = NULL;
  for (guint i = addresses->len; i > 0; i--) {
    const struct address *address = &g_array_index (addresses, struct address, i - 1);
    const char *what = address_obstacle (address, proxy->private_networks);
    if (!what)
      continue;
    g_autofree char *text = address_format (address);
    g_free (refused);
    refused = g_strdup_printf ("%s, %s", text, what);
    g_array_remove_index (addresses, i - 1);
  }
  return refused;
}

/* ---- connecting ---- */

/* Returns a descriptor or a negative errno. */
static int
proxy_reach_connect_to (const struct egress *egress, const struct address *address, guint16 port,
                        gint64 deadline_us)
{
  struct sockaddr_storage to;
  socklen_t length = address_to_socket (address, port, &to);
  autoclose int fd = socket (address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -errno;
  if (connect (fd, (const struct sockaddr *)&to, length) == 0)
    return fd_steal (&fd);
  if (errno != EINPROGRESS)
    return -errno;
  int problem = 0;
  socklen_t size = sizeof problem;
  deadline_us = MIN (deadline_us, g_get_monotonic_time () + CONNECT_US);
  if (!proxy_wait (egress, fd, POLLOUT, deadline_us))
    return -ETIMEDOUT;
  if (getsockopt (fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0)
    return -errno;
  return problem ? -problem : fd_steal (&fd);
}

enum reach
proxy_reach (const struct proxy *proxy, struct egress *egress, const struct host_name *host, guint16 port,
             gint64 deadline_us, int *ret_fd, char **ret_problem)
{
  g_autoptr (GArray) addresses = g_array_new (FALSE, FALSE, sizeof (struct address));
  char *problem = look_up (egress, host, deadline_us, addresses);
  if (problem) {
    *ret_problem = problem;
    return REACH_FAILED;
  }
  g_autofree char *refused = drop_refused (proxy, addresses);
  if (addresses->len == 0 && refused) {
    *ret_problem = g_steal_pointer (&refused);
    return REACH_REFUSED;
  }
  int fd = -EADDRNOTAVAIL;
  for (guint i = 0; i < addresses->len && fd < 0; i++)
    fd = proxy_reach_connect_to (egress, &g_array_index (addresses, struct address, i), port, deadline_us);
  if (fd >= 0) {
    *ret_fd = fd;
    return REACH_DONE;
  }
  *ret_problem = g_strdup_printf ("cannot connect to %s:%u: %s", host->text, port, g_strerror (-fd));
  return REACH_FAILED;
}
