/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers: one thread moves bytes between the sockets of requests and the bus. */
#include "cluster/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "cluster/tunnel_frames.h"
#include "common/error.h"
#include "common/json.h"

#define EVENTS   64
#define CHECK_MS 1000 /* how often it is looked whether those who ask are still there */

/* A request under way; freed by the host's thread alone. */
struct served {
  struct tunnel_host *host;
  struct bus_subscription *up;
  char *down;      /* the subject of frames to who asked */
  char *asks;      /* their instance */
  gboolean is_any; /* it took an offer */
  int fd;          /* of the socket */

  MUTEX (served) lock;
  GUARDED_BY (served) GByteArray *pending; /* for the socket */
  GUARDED_BY (served) guint64 sent, seen;  /* bytes of the reply */
  GUARDED_BY (served) guint64 taken, told; /* bytes of the request: written, and of these told */
  GUARDED_BY (served) gboolean over;
};

/* One request for any node that this one would take. */
struct offer {
  struct tunnel_host *host;
  struct bus_subscription *subscription;
  gint used; /* atomic */
};

struct tunnel_host {
  struct cluster *cluster;
  struct tunnel_host_options options;
  struct bus_subscription *own; /* requests for this node */
  int epoll_fd, wake_fd;
  GThread *thread;
  GPtrArray *offers; /* the thread's, of struct offer */

  MUTEX (tunnel_host) lock;
  GUARDED_BY (tunnel_host) GHashTable *served; /* of struct served, as a set */
  GUARDED_BY (tunnel_host) guint taken;        /* by requests for any node */
  GUARDED_BY (tunnel_host) gboolean ending;
};

static void
host_wake (struct tunnel_host *host)
{
  (void)eventfd_write (host->wake_fd, 1);
}

/* ---- frames ---- */

static void
served_publish (const struct served *served, char kind, const char *bytes, gsize length)
{
  const struct cluster *cluster = served->host->cluster;
  g_autofree char *frame = g_malloc (length + 1);
  frame[0] = kind;
  memcpy (frame + 1, bytes, length);
  (void)cluster->binding->publish (cluster->bus, served->down, NULL, frame, length + 1, NULL);
}

/* What to wait for: bytes of the reply while those who ask have room, room in the socket while bytes wait. */
REQUIRES (served)
static void
served_arm (struct served *served)
{
  struct epoll_event event = {.data.ptr = served};
  if (served->sent - served->seen < TUNNEL_WINDOW)
    event.events |= EPOLLIN;
  if (served->pending->len > 0)
    event.events |= EPOLLOUT;
  (void)epoll_ctl (served->host->epoll_fd, EPOLL_CTL_MOD, served->fd, &event);
}

static void
served_hear (gpointer data, const struct bus_message *message)
{
  struct served *served = data;
  if (message->length == 0)
    return;
  const char *bytes = message->data + 1;
  gsize length = message->length - 1;
  g_mutex_lock (&served->lock);
  if (message->data[0] == FRAME_DATA && served->pending->len + length <= 2 * TUNNEL_WINDOW)
    g_byte_array_append (served->pending, (const guint8 *)bytes, (guint)length);
  else if (message->data[0] == FRAME_SEEN) {
    g_autofree char *digits = g_strndup (bytes, length);
    served->seen = MIN (served->sent, g_ascii_strtoull (digits, NULL, 10));
  } else /* they left, or do not keep to the protocol */
    shutdown (served->fd, SHUT_RDWR);
  served_arm (served);
  g_mutex_unlock (&served->lock);
}

REQUIRES (served)
static void
served_write (struct served *served)
{
  ssize_t n = send (served->fd, served->pending->data, served->pending->len, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n <= 0)
    return;
  g_byte_array_remove_range (served->pending, 0, (guint)n);
  served->taken += (guint64)n;
  if (served->taken - served->told > TUNNEL_WINDOW / 4) {
    char digits[24];
    g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, served->taken);
    served_publish (served, FRAME_SEEN, digits, strlen (digits));
    served->told = served->taken;
  }
}

REQUIRES (served)
static void
served_read (struct served *served)
{
  g_autofree char *buffer = g_malloc (TUNNEL_FRAME_BYTES);
  ssize_t n = recv (served->fd, buffer, TUNNEL_FRAME_BYTES, MSG_DONTWAIT);
  if (n > 0) {
    served->sent += (guint64)n;
    served_publish (served, FRAME_DATA, buffer, (gsize)n);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    served_publish (served, FRAME_END, "", 0);
    served->over = TRUE;
  }
}

/* ---- a request ---- */

static void
served_free (gpointer data)
{
  struct served *served = data;
  if (served->up)
    served->host->cluster->binding->unsubscribe (served->up);
  UNSHARED (served);
  g_byte_array_unref (served->pending);
  g_mutex_clear (&served->lock);
  fd_close (&served->fd);
  g_free (served->down);
  g_free (served->asks);
  g_free (served);
}

/* What does not exist yet is refused by its subject. */
static void
host_refuse (struct tunnel_host *host, const char *down, const GError *problem)
{
  g_autofree char *frame = g_strdup_printf ("%c%d %s", FRAME_FAILED, problem->code, problem->message);
  (void)host->cluster->binding->publish (host->cluster->bus, down, NULL, frame, strlen (frame), NULL);
}

/* The head of MESSAGE, whose body is as it was signed. The caller's. */
static json_t *
host_parse (struct tunnel_host *host, const struct bus_message *message, const char **ret_body,
            gsize *ret_length, GError **error)
{
  const char *end = memchr (message->data, '\n', message->length);
  gsize line = end ? (gsize)(end - message->data) : message->length;
  g_autoptr (json_t) head = cluster_verify (host->cluster, message->data, line, error);
  if (!head)
    return NULL;
  *ret_body = end ? end + 1 : "";
  *ret_length = end ? message->length - line - 1 : 0;
  g_autofree char *digest =
      g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)*ret_body, *ret_length);
  if (strcmp (digest, json_member_text (head, "sha256")) == 0)
    return g_steal_pointer (&head);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "a request of a node was changed on its way");
  return NULL;
}

static struct served *
served_new (struct tunnel_host *host, const json_t *head, const char *down, int fd, const char *text,
            const char *body, gsize length)
{
  struct served *served = g_new0 (struct served, 1);
  served->host = host;
  served->down = g_strdup (down);
  served->asks = g_strdup (json_member_text (head, "asks"));
  served->fd = fd;
  g_mutex_init (&served->lock);
  served->pending = g_byte_array_new ();
  g_byte_array_append (served->pending, (const guint8 *)text, (guint)strlen (text));
  g_byte_array_append (served->pending, (const guint8 *)body, (guint)length);
  g_autofree char *subject = g_strconcat (TUNNEL_UP, down + strlen (TUNNEL_DOWN), NULL);
  served->up =
      host->cluster->binding->subscribe (host->cluster->bus, subject, NULL, FALSE, served_hear, served, NULL);
  return served;
}

/* Takes the request in MESSAGE, or refuses it. */
static gboolean
host_take (struct tunnel_host *host, const struct bus_message *message, gboolean is_any, GError **error)
{
  const char *body;
  gsize length;
  g_autofree char *text = NULL;
  g_autoptr (json_t) head = host_parse (host, message, &body, &length, error);
  int fd = head ? host->options.connect (host->options.data, head, &text, error) : -1;
  if (fd < 0)
    return FALSE;
  struct served *served = served_new (host, head, message->reply, fd, text, body, length);
  served->is_any = is_any;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = served};
  char tag[8];
  cluster_tag_text (host->cluster, tag);
  served_publish (served, FRAME_TAKEN, tag, strlen (tag));
  g_mutex_lock (&host->lock);
  g_hash_table_add (host->served, served);
  host->taken += is_any;
  (void)epoll_ctl (host->epoll_fd, EPOLL_CTL_ADD, fd, &event);
  g_mutex_unlock (&host->lock);
  return TRUE;
}

static void
host_hear (struct tunnel_host *host, const struct bus_message *message, gboolean is_any)
{
  g_autoptr (GError) problem = NULL;
  if (!message->reply || !g_str_has_prefix (message->reply, TUNNEL_DOWN))
    return;
  if (!host_take (host, message, is_any, &problem))
    host_refuse (host, message->reply, problem);
}

static void
host_hear_own (gpointer data, const struct bus_message *message)
{
  host_hear (data, message, FALSE);
}

static void
offer_hear (gpointer data, const struct bus_message *message)
{
  struct offer *offer = data;
  host_hear (offer->host, message, TRUE);
  g_atomic_int_set (&offer->used, TRUE);
  host_wake (offer->host);
}

/* ---- offers ---- */

static void
offer_free (gpointer data)
{
  struct offer *offer = data;
  if (offer->subscription)
    offer->host->cluster->binding->unsubscribe (offer->subscription);
  g_free (offer);
}

/* Whether there is a further one. */
static gboolean
host_offer (struct tunnel_host *host)
{
  const struct cluster *cluster = host->cluster;
  struct offer *offer = g_new0 (struct offer, 1);
  offer->host = host;
  g_ptr_array_add (host->offers, offer);
  offer->subscription =
      cluster->binding->subscribe (cluster->bus, TUNNEL_ANY, "adder", TRUE, offer_hear, offer, NULL);
  if (!offer->subscription)
    g_ptr_array_remove (host->offers, offer);
  return offer->subscription != NULL;
}

/* As many as there is room for; those who wait for one hear of the first. */
static void
host_renew_offers (struct tunnel_host *host)
{
  const struct cluster *cluster = host->cluster;
  for (guint i = host->offers->len; i-- > 0;) {
    struct offer *offer = host->offers->pdata[i];
    if (g_atomic_int_get (&offer->used))
      g_ptr_array_remove_index_fast (host->offers, i);
  }
  g_mutex_lock (&host->lock);
  guint room = host->ending ? 0 : host->options.room - MIN (host->taken, host->options.room);
  g_mutex_unlock (&host->lock);
  gboolean had_none = host->offers->len == 0;
  while (host->offers->len < room && host_offer (host))
    ;
  if (had_none && host->offers->len > 0)
    (void)cluster->binding->publish (cluster->bus, TUNNEL_FREE, NULL, "", 0, NULL);
}

/* ---- the thread ---- */

static gboolean
host_is_ending (struct tunnel_host *host)
{
  g_mutex_lock (&host->lock);
  gboolean ending = host->ending;
  g_mutex_unlock (&host->lock);
  return ending;
}

/* Removes those that are over, and of those who ask and are gone. */
static void
host_bury (struct tunnel_host *host, gboolean look)
{
  g_autoptr (GPtrArray) over = g_ptr_array_new_with_free_func (served_free);
  GHashTableIter iter;
  gpointer at;
  g_mutex_lock (&host->lock);
  g_hash_table_iter_init (&iter, host->served);
  while (g_hash_table_iter_next (&iter, &at, NULL)) {
    struct served *served = at;
    g_mutex_lock (&served->lock);
    if (look && !cluster_knows (host->cluster, served->asks, NULL))
      shutdown (served->fd, SHUT_RDWR);
    gboolean is_over = served->over;
    g_mutex_unlock (&served->lock);
    if (!is_over)
      continue;
    (void)epoll_ctl (host->epoll_fd, EPOLL_CTL_DEL, served->fd, NULL);
    host->taken -= served->is_any;
    g_ptr_array_add (over, served);
    g_hash_table_iter_remove (&iter);
  }
  g_mutex_unlock (&host->lock);
}

static gpointer
host_live (gpointer data)
{
  struct tunnel_host *host = data;
  struct epoll_event events[EVENTS];
  gint64 looked_us = g_get_monotonic_time ();
  while (!host_is_ending (host)) {
    host_renew_offers (host);
    int n = epoll_wait (host->epoll_fd, events, EVENTS, CHECK_MS);
    gboolean any_over = FALSE;
    for (int i = 0; i < n; i++) {
      struct served *served = events[i].data.ptr;
      eventfd_t count;
      if (!served) {
        (void)eventfd_read (host->wake_fd, &count);
        continue;
      }
      g_mutex_lock (&served->lock);
      if (events[i].events & EPOLLOUT)
        served_write (served);
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        served_read (served);
      served_arm (served);
      any_over = any_over || served->over;
      g_mutex_unlock (&served->lock);
    }
    gboolean look = g_get_monotonic_time () - looked_us > CHECK_MS * 1000;
    if (look)
      looked_us = g_get_monotonic_time ();
    if (any_over || look)
      host_bury (host, look);
  }
  return NULL;
}

struct tunnel_host *
tunnel_host_new (struct cluster *cluster, const struct tunnel_host_options *options, GError **error)
{
  struct tunnel_host *host = g_new0 (struct tunnel_host, 1);
  char tag[8];
  host->cluster = cluster;
  host->options = *options;
  host->served = g_hash_table_new (NULL, NULL);
  host->offers = g_ptr_array_new_with_free_func (offer_free);
  g_mutex_init (&host->lock);
  host->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  host->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN};
  if (host->epoll_fd < 0 || host->wake_fd < 0 ||
      epoll_ctl (host->epoll_fd, EPOLL_CTL_ADD, host->wake_fd, &event) < 0)
    error_from_errno (error, errno, "cannot watch the sockets of other nodes' requests");
  else {
    cluster_tag_text (cluster, tag);
    g_autofree char *subject = g_strconcat (TUNNEL_NODE, tag, NULL);
    host->own = cluster->binding->subscribe (cluster->bus, subject, NULL, FALSE, host_hear_own, host, error);
  }
  if (!host->own) {
    tunnel_host_free (host);
    return NULL;
  }
  host->thread = g_thread_new ("tunnels", host_live, host);
  return host;
}

void
tunnel_host_free (struct tunnel_host *host)
{
  if (!host)
    return;
  if (host->own)
    host->cluster->binding->unsubscribe (host->own);
  g_mutex_lock (&host->lock);
  host->ending = TRUE;
  g_mutex_unlock (&host->lock);
  host_wake (host);
  if (host->thread)
    g_thread_join (host->thread);
  g_ptr_array_unref (host->offers);
  UNSHARED (tunnel_host);
  GHashTableIter iter;
  gpointer served;
  g_hash_table_iter_init (&iter, host->served);
  while (g_hash_table_iter_next (&iter, &served, NULL))
    served_free (served);
  g_hash_table_unref (host->served);
  g_mutex_clear (&host->lock);
  fd_close (&host->epoll_fd);
  fd_close (&host->wake_fd);
  g_free (host);
}
