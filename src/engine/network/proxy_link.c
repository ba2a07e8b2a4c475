/* SPDX-License-Identifier: Apache-2.0 */
/* One connection from a sandbox: its request, the verdict on it, and what comes of it. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"
#include "engine/network/proxy_answer.h"
#include "engine/network/proxy_private.h"

/* What a request may take to come, and what its sender may take to hear that it is refused. */
#define HEAD_US  (30 * G_USEC_PER_SEC)
#define LEAVE_US (2 * G_USEC_PER_SEC)

/* So much of a body that nobody wants is read, so that its sender hears why. */
#define DRAIN_BYTES ((gsize)16 << 20)

struct link {
  const struct proxy *proxy;
  struct egress *egress;
  int fd;
  gint64 deadline_us;
};

/* ---- answers of our own ---- */

static char *
answer_text (const char *status, const char *text)
{
  return g_strdup_printf ("HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
                          "%" G_GSIZE_FORMAT "\r\nConnection: close\r\n\r\nAdder: %s\n",
                          status, strlen ("Adder: \n") + strlen (text), text);
}

void
proxy_turn_away (int fd, const char *why)
{
  g_autofree char *text = answer_text ("503 Service Unavailable", why);
  (void)send (fd, text, strlen (text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A socket that is closed with bytes unread takes the answer along; so they are read. */
static void
proxy_link_drain (const struct link *link)
{
  char waste[4096];
  gint64 deadline_us = g_get_monotonic_time () + LEAVE_US;
  (void)shutdown (link->fd, SHUT_WR);
  for (gsize total = 0; total < DRAIN_BYTES;) {
    gssize got = recv (link->fd, waste, sizeof waste, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return;
    if (got > 0)
      total += (gsize)got;
    else if (!proxy_wait (link->egress, link->fd, POLLIN, deadline_us))
      return;
  }
}

static gboolean
send_all (const struct link *link, const char *text, gsize length)
{
  gint64 deadline_us = g_get_monotonic_time () + LEAVE_US;
  while (length > 0) {
    gssize sent = send (link->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return FALSE;
    if (sent < 0 && !proxy_wait (link->egress, link->fd, POLLOUT, deadline_us))
      return FALSE;
    text += MAX (sent, 0);
    length -= (gsize)MAX (sent, 0);
  }
  return TRUE;
}

static void
proxy_link_answer (const struct link *link, const char *status, const char *text)
{
  g_autofree char *whole = answer_text (status, text);
  if (send_all (link, whole, strlen (whole)))
    proxy_link_drain (link);
}

/* Many clients show their users no more of an answer than its first line, so that has PROBLEM too. */
static void
answer_failure (const struct link *link, const char *problem)
{
  g_autofree char *status = g_strdup_printf ("502 Bad Gateway: %s", problem);
  for (char *at = status; *at; at++)
    if (!g_ascii_isprint (*at))
      *at = '?';
  proxy_link_answer (link, status, problem);
}

/* ---- the request ---- */

/* Reads until the head is whole; returns its length, or 0 when the sender left or was too slow. */
static gsize
proxy_link_read_head (const struct link *link, GString *text)
{
  gint64 deadline_us = MIN (link->deadline_us, g_get_monotonic_time () + HEAD_US);
  char block[8192];
  for (;;) {
    gsize length = proxy_head_length (text->str, text->len);
    if (length > 0 || text->len >= PROXY_HEAD_BYTES)
      return MIN (length > 0 ? length : text->len, PROXY_HEAD_BYTES);
    gssize got = recv (link->fd, block, MIN (sizeof block, PROXY_HEAD_BYTES - text->len), MSG_DONTWAIT);
    if (got > 0)
      g_string_append_len (text, block, got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR) ||
             !proxy_wait (link->egress, link->fd, POLLIN, deadline_us))
      return 0;
  }
}

static void
refuse_request (const struct link *link, const char *wrong)
{
  g_autofree char *text = g_strdup_printf ("the request %s", wrong);
  g_autofree char *detail = g_strdup_printf ("request that %s", wrong);
  egress_deny (link->egress, EGRESS_REQUEST, detail);
  proxy_link_answer (link, "400 Bad Request", text);
}

static char *
proxy_link_place_of (const struct proxy_request *request)
{
  gboolean ipv6 = request->host.is_address && request->host.address.family == AF_INET6;
  return g_strdup_printf ("%s%s%s:%u", ipv6 ? "[" : "", request->host.text, ipv6 ? "]" : "", request->port);
}

static void
refuse_host (const struct link *link, const struct proxy_request *request)
{
  g_autofree char *place = proxy_link_place_of (request);
  g_autofree char *detail = g_strconcat ("connect ", place, NULL);
  g_autofree char *text = g_strdup_printf ("the profile %s does not allow %s ([network] allow)",
                                           link->egress->rules->profile, place);
  egress_deny (link->egress, EGRESS_HOST, detail);
  proxy_link_answer (link, "403 Forbidden", text);
}

static void
refuse_address (const struct link *link, const struct proxy_request *request, const char *problem)
{
  g_autofree char *place = proxy_link_place_of (request);
  g_autofree char *detail = g_strdup_printf ("connect %s (%s)", place, problem);
  g_autofree char *text = g_strdup_printf ("%s leads to %s", place, problem);
  egress_deny (link->egress, EGRESS_ADDRESS, detail);
  proxy_link_answer (link, "403 Forbidden", text);
}

/* ---- carrying it out ---- */

/* The host is reached. TEXT has the head, of HEAD bytes, and what came behind it. */
static void
carry (const struct link *link, struct proxy_request *request, int host_fd, const GString *text, gsize head)
{
  static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
  g_autofree char *host = g_strdup (request->host.text);
  struct proxy_body body = {0};
  struct proxy_answer answer = {0};
  struct carried carried = {
      .client_fd = link->fd,
      .host_fd = host_fd,
      .destination = egress_connected (link->egress, host, request->port),
      .deadline_us = link->deadline_us,
      .body = request->connect ? NULL : &body,
      .answer = request->connect ? NULL : &answer,
  };
  g_autoptr (GString) first = g_string_new (NULL);
  gssize behind = (gssize)(text->len - head);
  if (request->connect) {
    if (!send_all (link, established, strlen (established)))
      return;
  } else {
    g_string_append_len (first, request->head->str, (gssize)request->head->len);
    g_string_append (first, "\r\n");
    proxy_body_init (&body, request);
    behind = proxy_body_take (&body, text->str + head, (gsize)behind);
    if (behind < 0) {
      refuse_request (link, "has a body that is not framed as it says");
      return;
    }
  }
  g_string_append_len (first, text->str + head, behind);
  carried.first = first;
  proxy_answer_init (&answer, request);
  if (proxy_carry (link->egress, &carried) && !request->connect)
    proxy_link_drain (link);
  proxy_answer_clear (&answer);
}

/* Puts the key's header on REQUEST, in place of one that the sender may have set; its port becomes that of
 * the secret. */
static gboolean
add_secret (const struct link *link, const struct network_secret *secret, struct proxy_request *request,
            const GString *text, gsize head)
{
  g_autoptr (GError) problem = NULL;
  char *value = network_secret_read (secret, &problem);
  if (!value) {
    g_autofree char *detail = g_strdup_printf ("connect %s", request->host.text);
    egress_deny (link->egress, EGRESS_KEY, detail);
    /* What is wrong with the key is the daemon's to say, not the sandbox's to know. */
    log_warning ("%s", problem->message);
    answer_failure (link, "the key for this host cannot be used");
    return FALSE;
  }
  proxy_request_clear (request);
  (void)proxy_request_parse (text->str, head, secret->header, request);
  g_string_append_printf (request->head, "%s: %s\r\n", secret->header, value);
  network_secret_wipe (value);
  request->port = secret->port;
  return TRUE;
}

/* TEXT has the head of REQUEST, of HEAD bytes, and what came behind it. */
static void
fulfil (const struct link *link, struct proxy_request *request, const GString *text, gsize head)
{
  struct egress *egress = link->egress;
  const struct network_secret *secret =
      request->connect ? NULL : network_rules_secret (egress->rules, &request->host, request->port);
  autoclose int host_fd = -1;
  g_autofree char *problem = NULL;
  if (!secret && !network_rules_allow (egress->rules, &request->host, request->port)) {
    refuse_host (link, request);
    return;
  }
  if (secret && !add_secret (link, secret, request, text, head))
    return;
  switch (proxy_reach (link->proxy, egress, &request->host, request->port, link->deadline_us, &host_fd,
                       &problem)) {
  case REACH_REFUSED:
    refuse_address (link, request, problem);
    return;
  case REACH_FAILED:
    answer_failure (link, problem);
    return;
  case REACH_DONE:
    break;
  }
  struct tls tls = {0};
  if (!secret || !secret->tls || proxy_speak_tls (link->proxy, egress, secret, &tls, &host_fd, &problem))
    carry (link, request, host_fd, text, head);
  else
    answer_failure (link, problem);
  fd_close (&host_fd);
  proxy_end_tls (&tls);
}

static void
proxy_link_serve (const struct link *link)
{
  g_autoptr (GString) text = g_string_new (NULL);
  struct proxy_request request;
  gsize head = proxy_link_read_head (link, text);
  if (head == 0)
    return;
  const char *wrong = proxy_head_length (text->str, head) == head
                          ? proxy_request_parse (text->str, head, NULL, &request)
                          : "has more headers than a request may have";
  if (wrong) {
    refuse_request (link, wrong);
    return;
  }
  fulfil (link, &request, text, head);
  proxy_request_clear (&request);
}

void
proxy_serve (struct proxy *proxy, struct egress *egress, int fd)
{
  const struct link link = {proxy, egress, fd, g_get_monotonic_time () + egress_time_us (egress)};
  proxy_link_serve (&link);
  fd_close (&fd);
}
