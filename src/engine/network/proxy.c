/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting connections of all sandboxes, and giving each a thread. */
#include "engine/network/proxy.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/log.h"
#include "engine/network/proxy_private.h"

/* The widest block that a configuration may open: more than that is no network of one's own. */
#define BLOCK_BITS_MIN_IPV4 8
#define BLOCK_BITS_MIN_IPV6 7

/* Descriptors are short for a moment: a listening socket that stays readable must not spin. */
#define SHORTAGE_US 20000

/* ---- making ---- */

static gboolean
add_network (GArray *networks, const char *word, GError **error)
{
  struct address_block block;
  gboolean good = address_block_parse (word, &block);
  guint least = good && block.first.family == AF_INET ? BLOCK_BITS_MIN_IPV4 : BLOCK_BITS_MIN_IPV6;
  if (good && block.bits >= least) {
    g_array_append_val (networks, block);
    return TRUE;
  }
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "[network] private_networks: \"%s\" is no network, as 10.1.0.0/16 or fd00:1::/32; at least /%d, /%d "
      "with IPv6",
      word, BLOCK_BITS_MIN_IPV4, BLOCK_BITS_MIN_IPV6);
  return FALSE;
}

static gboolean
read_networks (GArray *networks, const struct config *config, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (config->private_networks, " \t,;", -1);
  for (char **word = words; *word; word++)
    if (**word && strcmp (*word, "none") != 0 && !add_network (networks, *word, error))
      return FALSE;
  return TRUE;
}

gboolean
proxy_check_config (const struct config *config, GError **error)
{
  g_autoptr (GArray) networks = g_array_new (FALSE, FALSE, sizeof (struct address_block));
  return read_networks (networks, config, error);
}

struct proxy *
proxy_new (const struct host *host, GError **error)
{
  struct proxy *proxy = g_new0 (struct proxy, 1);
  proxy->host = host;
  proxy->epoll_fd = proxy->wake_fd = -1;
  proxy->private_networks = g_array_new (FALSE, FALSE, sizeof (struct address_block));
  g_mutex_init (&proxy->lock);
  proxy->egresses = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, (GDestroyNotify)egress_unref);
  g_cond_init (&proxy->fewer);
  if (read_networks (proxy->private_networks, host->config, error))
    return proxy;
  proxy_free (proxy);
  return NULL;
}

void
proxy_free (struct proxy *proxy)
{
  if (!proxy)
    return;
  GHashTableIter iter;
  gpointer egress;
  g_mutex_lock (&proxy->lock);
  proxy->closing = TRUE;
  g_hash_table_iter_init (&iter, proxy->egresses);
  while (g_hash_table_iter_next (&iter, NULL, &egress))
    egress_close (egress);
  if (proxy->wake_fd >= 0)
    (void)eventfd_write (proxy->wake_fd, 1);
  /* They see each egress closed; what waits for a name server alone is left to itself. */
  while (proxy->connections > 0)
    g_cond_wait (&proxy->fewer, &proxy->lock);
  g_mutex_unlock (&proxy->lock);
  UNSHARED (proxy);
  if (proxy->thread)
    g_thread_join (proxy->thread);
  g_hash_table_unref (proxy->egresses);
  g_array_unref (proxy->private_networks);
  fd_close (&proxy->epoll_fd);
  fd_close (&proxy->wake_fd);
  g_cond_clear (&proxy->fewer);
  g_mutex_clear (&proxy->lock);
  g_free (proxy);
}

/* ---- one connection's thread ---- */

struct served {
  struct proxy *proxy;
  struct egress *egress;
  int fd;
};

static void
proxy_note_end (struct proxy *proxy)
{
  g_mutex_lock (&proxy->lock);
  proxy->connections--;
  g_cond_signal (&proxy->fewer);
  g_mutex_unlock (&proxy->lock);
}

static gpointer
serve_thread (gpointer data)
{
  struct served *served = data;
  struct proxy *proxy = served->proxy;
  proxy_serve (proxy, served->egress, served->fd);
  egress_leave (served->egress);
  egress_unref (served->egress);
  g_free (served);
  proxy_note_end (proxy);
  return NULL;
}

/* With the egress entered and the connection counted. */
static void
start_serving (struct proxy *proxy, struct egress *egress, int fd)
{
  struct served *served = g_new (struct served, 1);
  g_autoptr (GError) error = NULL;
  *served = (struct served){proxy, egress_ref (egress), fd};
  GThread *thread = g_thread_try_new ("adder-link", serve_thread, served, &error);
  if (thread) {
    g_thread_unref (thread);
    return;
  }
  log_warning ("a connection of a sandbox is not served: %s", error->message);
  proxy_turn_away (fd, "there is no thread for it");
  fd_close (&fd);
  egress_leave (egress);
  egress_unref (egress);
  g_free (served);
  proxy_note_end (proxy);
}

static gboolean
count_connection (struct proxy *proxy)
{
  g_mutex_lock (&proxy->lock);
  gboolean room = !proxy->closing && proxy->connections < proxy->host->config->network_connections;
  proxy->connections += room;
  g_mutex_unlock (&proxy->lock);
  return room;
}

static void
proxy_take_in (struct proxy *proxy, struct egress *egress, int fd)
{
  if (!egress_enter (egress)) {
    proxy_turn_away (fd, "as many connections as may be are open at once (network_connections)");
  } else if (!count_connection (proxy)) {
    egress_leave (egress);
    proxy_turn_away (fd, "all runs together have as many connections as may be ([network] max_connections)");
  } else {
    start_serving (proxy, egress, fd_steal (&fd));
  }
  fd_close (&fd);
}

/* ---- accepting ---- */

static void
proxy_accept_one (struct proxy *proxy, struct egress *egress)
{
  int fd = accept4 (egress->listener_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0)
    proxy_take_in (proxy, egress, fd);
  else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
    g_usleep (SHORTAGE_US);
}

static struct egress *
find_egress (struct proxy *proxy, guint64 number)
{
  g_mutex_lock (&proxy->lock);
  struct egress *egress = g_hash_table_lookup (proxy->egresses, &number);
  if (egress)
    egress_ref (egress);
  g_mutex_unlock (&proxy->lock);
  return egress;
}

static gpointer
proxy_accept_thread (gpointer data)
{
  struct proxy *proxy = data;
  struct epoll_event events[16];
  for (;;) {
    int count = epoll_wait (proxy->epoll_fd, events, G_N_ELEMENTS (events), -1);
    for (int i = 0; i < count; i++) {
      if (events[i].data.u64 == 0)
        return NULL;
      struct egress *egress = find_egress (proxy, events[i].data.u64);
      if (egress)
        proxy_accept_one (proxy, egress);
      egress_unref (egress);
    }
  }
}

/* ---- egress ---- */

static gboolean
proxy_watch (struct proxy *proxy, int fd, guint64 number, GError **error)
{
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};
  if (epoll_ctl (proxy->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
    return TRUE;
  return error_from_errno (error, errno, "cannot watch the socket of a proxy");
}

/* When the first sandbox has a network. */
REQUIRES (proxy)
static gboolean
proxy_start (struct proxy *proxy, GError **error)
{
  if (proxy->thread)
    return TRUE;
  if (proxy->wake_fd < 0)
    proxy->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (proxy->epoll_fd < 0)
    proxy->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  if (proxy->wake_fd < 0 || proxy->epoll_fd < 0)
    return error_from_errno (error, errno, "cannot make the descriptors of the proxy");
  if (!proxy_watch (proxy, proxy->wake_fd, 0, error))
    return FALSE;
  proxy->thread = g_thread_try_new ("adder-proxy", proxy_accept_thread, proxy, error);
  return proxy->thread != NULL;
}

struct egress *
proxy_open (struct proxy *proxy, int listener_fd, struct network_rules *rules, const struct limits *limits,
            GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&proxy->lock);
  if (!proxy_start (proxy, error))
    return NULL;
  struct egress *egress = egress_new (++proxy->egresses_made, listener_fd, rules, limits, error);
  if (!egress)
    return NULL;
  egress->proxy = proxy;
  g_hash_table_insert (proxy->egresses, &egress->number, egress_ref (egress));
  if (proxy_watch (proxy, egress->listener_fd, egress->number, error))
    return egress;
  g_hash_table_remove (proxy->egresses, &egress->number);
  egress_unref (egress);
  return NULL;
}

void
proxy_close (struct egress *egress)
{
  struct proxy *proxy = egress->proxy;
  egress_close (egress);
  g_mutex_lock (&proxy->lock);
  if (proxy->epoll_fd >= 0)
    (void)epoll_ctl (proxy->epoll_fd, EPOLL_CTL_DEL, egress->listener_fd, NULL);
  g_hash_table_remove (proxy->egresses, &egress->number);
  g_mutex_unlock (&proxy->lock);
}
