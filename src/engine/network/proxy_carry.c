/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying bytes between a sandbox and a host, both ways at once, counted. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/network/proxy_answer.h"
#include "engine/network/proxy_private.h"

#define BUFFER_BYTES ((gsize)32 << 10)

/* One direction. */
struct flow {
  int from_fd, to_fd;
  gboolean outward;        /* to the host */
  struct proxy_body *body; /* what may pass of it; NULL: all */
  struct proxy_answer *answer;
  char *data; /* BUFFER_BYTES, or what goes first */
  gsize at, length;
  gboolean ended; /* nothing more comes, or is wanted */
  gboolean over;  /* and all of it was sent on */
};

static gboolean
is_passing (int err)
{
  return err == EAGAIN || err == EINTR;
}

/* Of LENGTH bytes that came, how many belong to the request; FALSE: it breaks the rules. */
static gboolean
proxy_carry_take_body (struct flow *flow, gsize *length)
{
  if (!flow->body)
    return TRUE;
  gssize taken = proxy_body_take (flow->body, flow->data, *length);
  *length = taken > 0 ? (gsize)taken : 0;
  flow->ended = flow->body->whole;
  return taken >= 0;
}

/* Returns FALSE when the connection is to be cut. */
static gboolean
proxy_carry_receive (struct egress *egress, const struct carried *carried, struct flow *flow)
{
  gssize got = recv (flow->from_fd, flow->data, BUFFER_BYTES, MSG_DONTWAIT);
  if (got < 0)
    return is_passing (errno);
  if (got == 0) {
    flow->ended = TRUE;
    /* The sandbox left in the middle of its request, or the host has answered. */
    return !(flow->body && !flow->body->whole);
  }
  gsize length = (gsize)got;
  if (!proxy_carry_take_body (flow, &length))
    return FALSE;
  flow->ended = flow->ended || (flow->answer && proxy_answer_take (flow->answer, flow->data, length));
  gsize room = flow->outward ? egress_count_out (egress, carried->destination, length)
                             : egress_count_in (egress, carried->destination, length);
  flow->at = 0;
  flow->length = room;
  return room == length;
}

static gboolean
proxy_carry_pass_on (struct flow *flow)
{
  gssize sent =
      send (flow->to_fd, flow->data + flow->at, flow->length - flow->at, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0)
    return is_passing (errno);
  flow->at += (gsize)sent;
  if (flow->at == flow->length)
    flow->at = flow->length = 0;
  return TRUE;
}

/* A request is over by its length; only a tunnel is told that nothing more comes. */
static void
proxy_carry_finish (struct flow *flow)
{
  if (!flow->ended || flow->length > 0 || flow->over)
    return;
  flow->over = TRUE;
  if (!flow->outward || !flow->body)
    (void)shutdown (flow->to_fd, SHUT_WR);
}

static void
proxy_carry_prepare (const struct flow *flow, struct pollfd *from, struct pollfd *to)
{
  if (flow->over)
    return;
  if (flow->length > 0)
    to->events |= POLLOUT;
  else if (!flow->ended)
    from->events |= POLLIN;
}

static gboolean
move (struct egress *egress, const struct carried *carried, struct flow *flow, short from, short to)
{
  const short gone = POLLERR | POLLHUP;
  if (flow->over)
    return TRUE;
  if (flow->length > 0
          ? (to & (POLLOUT | gone)) && !proxy_carry_pass_on (flow)
          : !flow->ended && (from & (POLLIN | gone)) && !proxy_carry_receive (egress, carried, flow))
    return FALSE;
  proxy_carry_finish (flow);
  return TRUE;
}

/* A plain request is over with its answer; a tunnel when both sides have closed. */
static gboolean
proxy_carry_is_over (const struct flow *out, const struct flow *in)
{
  return in->over && (out->over || out->body);
}

/* What is cut shall not look like what has come to its end. */
static void
reset (int fd)
{
  const struct linger now = {.l_onoff = 1};
  (void)setsockopt (fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

gboolean
proxy_carry (struct egress *egress, const struct carried *carried)
{
  enum { CLIENT, HOST, SIDES };
  g_autofree char *outward = g_malloc (MAX (BUFFER_BYTES, carried->first->len));
  g_autofree char *inward = g_malloc (BUFFER_BYTES);
  struct flow out = {carried->client_fd, carried->host_fd, TRUE, carried->body, NULL, outward};
  struct flow in = {carried->host_fd, carried->client_fd, FALSE, NULL, carried->answer, inward};
  memcpy (outward, carried->first->str, carried->first->len);
  out.length = egress_count_out (egress, carried->destination, carried->first->len);
  out.ended = carried->body && carried->body->whole;
  gboolean whole = out.length == carried->first->len;
  proxy_carry_finish (&out);
  while (whole && !proxy_carry_is_over (&out, &in)) {
    struct pollfd pollfds[SIDES + 1] = {{.fd = carried->client_fd}, {.fd = carried->host_fd}};
    proxy_carry_prepare (&out, &pollfds[CLIENT], &pollfds[HOST]);
    proxy_carry_prepare (&in, &pollfds[HOST], &pollfds[CLIENT]);
    for (int i = 0; i < SIDES; i++)
      if (pollfds[i].events == 0)
        pollfds[i].fd = -1; /* a hang-up that nobody can act on now would be told again and again */
    whole = proxy_wait_some (egress, pollfds, SIDES, carried->deadline_us) &&
            move (egress, carried, &out, pollfds[CLIENT].revents, pollfds[HOST].revents) &&
            move (egress, carried, &in, pollfds[HOST].revents, pollfds[CLIENT].revents);
  }
  if (whole)
    return TRUE;
  if (g_get_monotonic_time () >= carried->deadline_us)
    egress_meet (egress, LIMIT_NETWORK_TIME);
  reset (carried->client_fd);
  return FALSE;
}
