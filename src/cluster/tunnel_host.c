/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers: one thread moves bytes between the sockets of requests and the bus. */
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
#include "cluster/signed_request.h"
#include "cluster/tunnel.h"
#include "cluster/tunnel_end.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"

#define EVENTS        64
#define CHECK_MS      1000 /* how often it is looked whether those who ask are still there */
#define HELD_BYTES    2 /* of a request, until GO: the end of its body, or the line break that ends its head */
#define GO_MS         3000 /* how long a request waits for GO */
#define END_MS        5000 /* for the rest of replies, when the node ends */
#define END_LOOK_US   20000
#define COMPLAIN_MS   10000 /* at most one line of the log in that time */
#define SUBSCRIPTIONS 2000  /* for any node, of all nodes together; at least two of each */

LOCK_CLASS (served);
LOCK_CLASS (tunnel_host);

/* A request under way; freed by the host's thread alone. */
struct served {
  struct tunnel_end end; /* the first member */
  struct tunnel_host *host;
  char *asks;      /* the instance of those who ask */
  gboolean is_any; /* it took an offer */
  gint64 since_us;

  MUTEX (served) lock;
  GUARDED_BY (served) GByteArray *pending; /* for the socket */
  GUARDED_BY (served) guint64 missing;     /* bytes of the body */
  GUARDED_BY (served) guint64 sent, seen;  /* bytes of the reply */
  GUARDED_BY (served) guint64 taken, told; /* bytes of the request: written, and of these told */
  GUARDED_BY (served) int fd;              /* of the connection */
  GUARDED_BY (served) gboolean connected;  /* it is made, or cannot be */
  GUARDED_BY (served) gboolean begun;      /* GO has come */
  GUARDED_BY (served) gboolean started;    /* both; the thread watches it */
  GUARDED_BY (served) gboolean cut;        /* the reply ends early */
  GUARDED_BY (served) gboolean over;
};

/* Requests for any node that this one would take. */
struct offer {
  struct tunnel_host *host;
  struct bus_subscription *subscription;
  gint left; /* atomic: how many of them have not come */
};

struct tunnel_host {
  struct cluster *cluster;
  struct tunnel_host_options options;
  struct bus_subscription *own; /* requests for this node; NULL: it has no tag yet */
  int epoll_fd, wake_fd;
  GThread *thread;
  GPtrArray *offers; /* the thread's, of struct offer */
  char *buffer;      /* the thread's, of TUNNEL_FRAME_BYTES */
  gint any_over;     /* atomic: one of `served` is */

  MUTEX (tunnel_host) lock;
  GUARDED_BY (tunnel_host) char tag[8];        /* of `own` */
  GUARDED_BY (tunnel_host) GHashTable *served; /* of struct served, as a set */
  GUARDED_BY (tunnel_host) guint taken;        /* by requests for any node */
  GUARDED_BY (tunnel_host) gint64 complained_us;
  GUARDED_BY (tunnel_host) gboolean ending;
};

static void
host_wake (struct tunnel_host *host)
{
  (void)eventfd_write (host->wake_fd, 1);
}

/* ---- frames ---- */

static void
tunnel_end_send_failed (struct tunnel_end *end, int code, const char *words)
{
  g_autofree char *reason = g_strdup_printf ("%d %s", code, words);
  tunnel_end_send (end, FRAME_FAILED, reason, strlen (reason));
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

/* Before GO all but the end, without which no request is whole: by then the server has read the rest. */
REQUIRES (served)
static void
served_write (struct served *served)
{
  gsize length = served->pending->len;
  if (!served->begun)
    length -= MIN (length, HELD_BYTES);
  ssize_t n = length == 0 ? 0 : send (served->fd, served->pending->data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n <= 0)
    return;
  g_byte_array_remove_range (served->pending, 0, (guint)n);
  served->taken += (guint64)n;
  if (served->taken - served->told > TUNNEL_WINDOW / 4) {
    tunnel_end_send_number (&served->end, FRAME_SEEN, served->taken);
    served->told = served->taken;
  }
}

REQUIRES (served)
static void
served_set_over (struct served *served)
{
  served->over = TRUE;
  g_atomic_int_set (&served->host->any_over, TRUE);
}

/* Its connection's server finds the socket shut, and cancels what needs its caller. */
REQUIRES (served)
static void
served_cut (struct served *served)
{
  served->cut = TRUE;
  if (served->fd >= 0)
    shutdown (served->fd, SHUT_RDWR);
  if (served->connected && !served->started) { /* the thread does not watch its socket */
    served_set_over (served);
    host_wake (served->host);
  }
}

/* From now on the request is under way. */
REQUIRES (served)
static gboolean
served_start (struct served *served)
{
  struct epoll_event event = {.data.ptr = served};
  served->started = epoll_ctl (served->host->epoll_fd, EPOLL_CTL_ADD, served->fd, &event) == 0;
  if (!served->started)
    return FALSE;
  served_write (served);
  served_arm (served);
  return TRUE;
}

/* FALSE: those who ask do not keep to the protocol, or left. */
REQUIRES (served)
static gboolean
served_hear_kind (struct served *served, const struct frame *frame)
{
  switch (frame->kind) {
  case FRAME_GO:
    served->begun = TRUE;
    return !served->connected || served_start (served);
  case FRAME_DATA:
    if (frame->length > served->missing || served->pending->len + frame->length > 2 * TUNNEL_WINDOW)
      return FALSE;
    served->missing -= frame->length;
    g_byte_array_append (served->pending, (const guint8 *)frame->bytes, (guint)frame->length);
    return TRUE;
  case FRAME_SEEN:
    return frame_number (frame->bytes, frame->length, served->sent, &served->seen);
  case FRAME_ASK:
    tunnel_end_send_number (&served->end, FRAME_SEEN, served->taken);
    return TRUE;
  case FRAME_FAILED:
    tunnel_end_send (&served->end, FRAME_FAILED, frame->bytes, frame->length);
    return FALSE;
  default:
    return FALSE;
  }
}

static void
served_hear (struct tunnel_end *end, const struct frame *frame)
{
  struct served *served = (struct served *)end;
  if (!frame)
    return;
  g_mutex_lock (&served->lock);
  if (!served->cut && !served_hear_kind (served, frame))
    served_cut (served);
  if (served->started) {
    served_write (served);
    served_arm (served);
  }
  g_mutex_unlock (&served->lock);
}

REQUIRES (served)
static void
served_read (struct served *served)
{
  char *buffer = served->host->buffer;
  ssize_t n = recv (served->fd, buffer, TUNNEL_FRAME_BYTES, MSG_DONTWAIT);
  if (n > 0) {
    served->sent += (guint64)n;
    tunnel_end_send (&served->end, FRAME_DATA, buffer, (gsize)n);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    if (!served->cut)
      tunnel_end_send (&served->end, FRAME_END, "", 0);
    served_set_over (served);
  }
}

/* ---- a request ---- */

static void
served_free (gpointer data)
{
  struct served *served = data;
  tunnel_end_remove (&served->end);
  UNSHARED (served);
  g_byte_array_unref (served->pending);
  g_mutex_clear (&served->lock);
  fd_close (&served->fd);
  g_free (served->asks);
  g_free (served);
}

/* Nothing is answered to whoever sends what no node did. */
static void
host_complain (struct tunnel_host *host, const GError *problem)
{
  gint64 now_us = g_get_monotonic_time ();
  g_mutex_lock (&host->lock);
  gboolean silent = now_us - host->complained_us < COMPLAIN_MS * 1000;
  if (!silent)
    host->complained_us = now_us;
  g_mutex_unlock (&host->lock);
  if (!silent)
    log_warning ("cluster: %s", problem->message);
}

static struct served *
served_new (struct tunnel_host *host, const struct signed_request *received, gboolean is_any)
{
  const char *to = json_member_text (received->head, "to");
  struct served *served = g_new0 (struct served, 1);
  served->host = host;
  served->asks = g_strndup (to, strcspn (to, "."));
  served->is_any = is_any;
  served->since_us = g_get_monotonic_time ();
  g_mutex_init (&served->lock);
  served->fd = -1;
  served->missing = received->missing;
  served->pending = g_byte_array_new ();
  g_byte_array_append (served->pending, (const guint8 *)received->body, (guint)received->length);
  tunnel_end_add (&served->end, host->cluster, served_hear);
  return served;
}

/* FALSE: the host is ending, or those who ask have no address. */
static gboolean
host_add (struct tunnel_host *host, struct served *served, const char *to)
{
  g_mutex_lock (&host->lock);
  gboolean added = !host->ending && tunnel_end_bind (&served->end, to);
  if (added) {
    g_autofree char *told = g_strconcat (host->tag, " ", served->end.address, NULL);
    g_hash_table_add (host->served, served);
    host->taken += served->is_any;
    tunnel_end_send (&served->end, FRAME_TAKEN, told, strlen (told));
  }
  g_mutex_unlock (&host->lock);
  return added;
}

/* Opens the connection, and has it read, while GO is on its way. The host's thread may free SERVED when it
 * returns. */
static void
host_connect (struct tunnel_host *host, struct served *served, const json_t *head)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  int fd = host->options.connect (host->options.data, head, &text, &problem);
  g_mutex_lock (&served->lock);
  served->fd = fd;
  served->connected = TRUE;
  if (fd < 0)
    tunnel_end_send_failed (&served->end, problem->code, problem->message);
  else
    g_byte_array_prepend (served->pending, (const guint8 *)text, (guint)strlen (text));
  if (fd < 0 || served->cut || (served->begun && !served_start (served)))
    served_cut (served);
  else if (!served->begun)
    served_write (served);
  g_mutex_unlock (&served->lock);
}

/* FALSE: it is no request that can be taken. */
static gboolean
host_take (struct tunnel_host *host, const struct bus_message *message, gboolean is_any)
{
  g_autoptr (GError) problem = NULL;
  struct signed_request received;
  if (!signed_request_parse (host->cluster, message->data, message->length, &received, &problem)) {
    host_complain (host, problem);
    return FALSE;
  }
  g_autoptr (json_t) head = received.head;
  struct served *served = served_new (host, &received, is_any);
  gboolean added = host_add (host, served, json_member_text (head, "to"));
  if (added)
    host_connect (host, served, head);
  else
    served_free (served);
  return added;
}

static void
host_hear_own (gpointer data, const struct bus_message *message)
{
  (void)host_take (data, message, FALSE);
}

static void
offer_hear (gpointer data, const struct bus_message *message)
{
  struct offer *offer = data;
  struct tunnel_host *host = offer->host;
  gboolean taken = host_take (host, message, TRUE);
  (void)g_atomic_int_dec_and_test (&offer->left); /* it may be gone now */
  /* A request that was taken leaves no room for another offer; its end does, and wakes the thread. */
  if (!taken)
    host_wake (host);
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

/* Offers to take COUNT; FALSE: it cannot. */
static gboolean
host_offer (struct tunnel_host *host, guint count)
{
  const struct cluster *cluster = host->cluster;
  struct offer *offer = g_new0 (struct offer, 1);
  offer->host = host;
  offer->left = (gint)count;
  g_ptr_array_add (host->offers, offer);
  offer->subscription =
      cluster->binding->subscribe (cluster->bus, TUNNEL_ANY, "adder", count, offer_hear, offer, NULL);
  if (!offer->subscription)
    g_ptr_array_remove (host->offers, offer);
  return offer->subscription != NULL;
}

/* Drops those that are used up; how many requests the others would still take. */
static guint
host_count_offered (struct tunnel_host *host)
{
  guint offered = 0;
  for (guint i = host->offers->len; i-- > 0;) {
    struct offer *offer = host->offers->pdata[i];
    guint left = (guint)g_atomic_int_get (&offer->left);
    offered += left;
    if (left == 0)
      g_ptr_array_remove_index_fast (host->offers, i);
  }
  return offered;
}

/* As many as there is room for; those who wait for one hear of the first. The server chooses among
 * subscriptions, so with one for each request the node with most room gets most. But each costs the server
 * time whenever another one comes or goes: in a large cluster one subscription stands for several. */
static void
host_renew_offers (struct tunnel_host *host)
{
  const struct cluster *cluster = host->cluster;
  guint shares = MAX (SUBSCRIPTIONS / cluster_size (host->cluster), 2);
  guint share = (host->options.room + shares - 1) / shares, offered = host_count_offered (host);
  g_mutex_lock (&host->lock);
  guint room = host->options.room - MIN (host->taken, host->options.room);
  if (host->ending || !host->own || host->options.is_closed (host->options.data))
    room = 0;
  g_mutex_unlock (&host->lock);
  gboolean had_none = host->offers->len == 0;
  if (room == 0)
    g_ptr_array_set_size (host->offers, 0);
  guint wanted = room - MIN (offered, room);
  while (wanted > 0 && (wanted >= share || host->offers->len == 0)) {
    guint count = MIN (share, wanted);
    wanted = host_offer (host, count) ? wanted - count : 0;
  }
  if (had_none && host->offers->len > 0)
    (void)cluster->binding->publish (cluster->bus, TUNNEL_FREE, NULL, "", 0, NULL);
}

/* Hears requests for the tag of this node, once it is claimed and whenever it becomes another. */
static void
host_follow_tag (struct tunnel_host *host)
{
  const struct cluster *cluster = host->cluster;
  char tag[8];
  g_mutex_lock (&host->lock);
  gboolean is_new = cluster_tag_text (host->cluster, tag) && strcmp (tag, host->tag) != 0;
  g_mutex_unlock (&host->lock);
  if (!is_new)
    return;
  g_autofree char *subject = g_strconcat (TUNNEL_NODE, tag, NULL);
  if (host->own)
    cluster->binding->unsubscribe (host->own);
  host->own = cluster->binding->subscribe (cluster->bus, subject, NULL, 0, host_hear_own, host, NULL);
  g_mutex_lock (&host->lock);
  g_strlcpy (host->tag, host->own ? tag : "", sizeof host->tag);
  g_mutex_unlock (&host->lock);
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

/* Ends those of callers who are gone, and those that never got GO. Who has just joined may be heard of only
 * by their next sign of life. */
static void
served_check (struct served *served)
{
  gint64 waited_us = g_get_monotonic_time () - served->since_us;
  gboolean gone =
      waited_us > CLUSTER_SILENT_MS * 1000 && !cluster_lists_instance (served->host->cluster, served->asks);
  g_mutex_lock (&served->lock);
  if (!served->cut && (gone || (!served->begun && waited_us > GO_MS * 1000)))
    served_cut (served);
  g_mutex_unlock (&served->lock);
}

/* Removes those that are over. */
static void
host_remove_over (struct tunnel_host *host, gboolean look)
{
  g_autoptr (GPtrArray) over = g_ptr_array_new_with_free_func (served_free);
  GHashTableIter iter;
  gpointer at;
  g_mutex_lock (&host->lock);
  g_hash_table_iter_init (&iter, host->served);
  while (g_hash_table_iter_next (&iter, &at, NULL)) {
    struct served *served = at;
    if (look)
      served_check (served);
    g_mutex_lock (&served->lock);
    gboolean is_over = served->over;
    if (is_over)
      (void)epoll_ctl (host->epoll_fd, EPOLL_CTL_DEL, served->fd, NULL);
    g_mutex_unlock (&served->lock);
    if (!is_over)
      continue;
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
    host_follow_tag (host);
    host_renew_offers (host);
    int n = epoll_wait (host->epoll_fd, events, EVENTS, CHECK_MS);
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
      g_mutex_unlock (&served->lock);
    }
    gboolean look = g_get_monotonic_time () - looked_us > CHECK_MS * 1000;
    if (look)
      looked_us = g_get_monotonic_time ();
    if (g_atomic_int_compare_and_exchange (&host->any_over, TRUE, FALSE) || look)
      host_remove_over (host, look);
  }
  return NULL;
}

struct tunnel_host *
tunnel_host_new (struct cluster *cluster, const struct tunnel_host_options *options, GError **error)
{
  struct tunnel_host *host = g_new0 (struct tunnel_host, 1);
  host->cluster = cluster;
  host->options = *options;
  host->buffer = g_malloc (TUNNEL_FRAME_BYTES);
  g_mutex_init (&host->lock);
  host->served = g_hash_table_new (NULL, NULL);
  host->offers = g_ptr_array_new_with_free_func (offer_free);
  host->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  host->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN};
  if (host->epoll_fd < 0 || host->wake_fd < 0 ||
      epoll_ctl (host->epoll_fd, EPOLL_CTL_ADD, host->wake_fd, &event) < 0) {
    error_from_errno (error, errno, "cannot watch the sockets of other nodes' requests");
    tunnel_host_free (host);
    return NULL;
  }
  cluster_watch_tag (cluster, host->wake_fd);
  host->thread = g_thread_new ("tunnels", host_live, host);
  return host;
}

static gboolean
host_serves (struct tunnel_host *host)
{
  g_mutex_lock (&host->lock);
  gboolean serves = g_hash_table_size (host->served) > 0;
  g_mutex_unlock (&host->lock);
  return serves;
}

void
tunnel_host_free (struct tunnel_host *host)
{
  if (!host)
    return;
  /* The server is closed: replies of what it has ended are on their way. */
  gint64 end_us = g_get_monotonic_time () + END_MS * 1000;
  while (host->thread && host_serves (host) && g_get_monotonic_time () < end_us)
    g_usleep (END_LOOK_US);
  cluster_watch_tag (host->cluster, -1);
  g_mutex_lock (&host->lock);
  host->ending = TRUE;
  g_mutex_unlock (&host->lock);
  host_wake (host);
  if (host->thread)
    g_thread_join (host->thread);
  g_ptr_array_unref (host->offers);
  if (host->own)
    host->cluster->binding->unsubscribe (host->own);
  UNSHARED (tunnel_host);
  GHashTableIter iter;
  gpointer at;
  g_hash_table_iter_init (&iter, host->served);
  while (g_hash_table_iter_next (&iter, &at, NULL)) {
    struct served *served = at;
    tunnel_end_send_failed (&served->end, ADDER_ERROR_UNAVAILABLE, NODE_ENDS);
    served_free (served);
  }
  g_hash_table_unref (host->served);
  g_mutex_clear (&host->lock);
  fd_close (&host->epoll_fd);
  fd_close (&host->wake_fd);
  g_free (host->buffer);
  g_free (host);
}
