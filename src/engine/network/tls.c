/* SPDX-License-Identifier: Apache-2.0 */
/* adder-tls: speaks TLS to one host, for the proxy. A program of its own, so that neither the TLS library nor
 * what hosts send it is in the daemon, and a daemon that needs it not does not load it.
 *
 *     adder-tls HOST UID GID
 *
 * Descriptor 3 is the plain side, a socket of the daemon's; 4 is connected to HOST, whose certificate must be
 * good for that name by what this machine trusts. When it is, a "+" goes to the plain side, and then bytes
 * pass both ways until one side ends; when not, the reason goes there, and nothing else does. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

enum { PLAIN_FD = 3, HOST_FD = 4, BUFFER_BYTES = 16 << 10, HANDSHAKE_MS = 15000, EXIT_FAULT = 125 };

/* Tells the daemon why, in words of the library or of the kernel, and ends. */
static void
tls_fail (const char *what)
{
  char reason[256] = "", text[512];
  unsigned long code = ERR_peek_last_error ();
  if (code)
    ERR_error_string_n (code, reason, sizeof reason);
  int length = snprintf (text, sizeof text, "%s%s%s", what, reason[0] ? ": " : "", reason);
  (void)fd_write_all (PLAIN_FD, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
  exit (EXIT_FAULT);
}

static bool
tls_parse_id (const char *text, unsigned *ret_id)
{
  uint64_t id = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9' && id < UINT32_MAX; at++)
    id = id * 10 + (uint64_t)(*at - '0');
  *ret_id = (unsigned)id;
  return at > text && *at == '\0' && id < UINT32_MAX;
}

/* Root gives its rights away before anything comes from the host. */
static void
become (const char *uid, const char *gid)
{
  unsigned user, group;
  if (!tls_parse_id (uid, &user) || !tls_parse_id (gid, &group))
    tls_fail ("the ids are no numbers");
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    tls_fail ("cannot set no_new_privs");
  if (geteuid () == 0 && user != 0 &&
      (setgroups (0, NULL) < 0 || setresgid (group, group, group) < 0 || setresuid (user, user, user) < 0))
    tls_fail ("cannot give up the rights of root");
}

static SSL *
tls_make_session (const char *host)
{
  static const unsigned char protocol[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX *context = SSL_CTX_new (TLS_client_method ());
  if (!context || !SSL_CTX_set_min_proto_version (context, TLS1_2_VERSION) ||
      !SSL_CTX_set_default_verify_paths (context))
    tls_fail ("cannot set up TLS");
  SSL_CTX_set_verify (context, SSL_VERIFY_PEER, NULL);
  SSL *session = SSL_new (context);
  if (!session || !SSL_set_fd (session, HOST_FD) ||
      SSL_set_alpn_protos (session, protocol, sizeof protocol) != 0)
    tls_fail ("cannot set up TLS");
  /* An address stands in a certificate as one, and is no name to ask for. */
  bool address = X509_VERIFY_PARAM_set1_ip_asc (SSL_get0_param (session), host) == 1;
  if (!address && (!SSL_set1_host (session, host) || !SSL_set_tlsext_host_name (session, host)))
    tls_fail ("cannot ask for the host by its name");
  ERR_clear_error ();
  SSL_set_mode (session, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return session;
}

/* What the library waits for on the host's socket after RESULT; 0: it failed. */
static short
awaited (SSL *session, int result)
{
  switch (SSL_get_error (session, result)) {
  case SSL_ERROR_WANT_READ:
    return POLLIN;
  case SSL_ERROR_WANT_WRITE:
    return POLLOUT;
  default:
    return 0;
  }
}

static void
shake_hands (SSL *session)
{
  for (int result; (result = SSL_connect (session)) != 1;) {
    /* The daemon hangs up when nobody waits any more. */
    struct pollfd ready[] = {{.fd = HOST_FD, .events = awaited (session, result)},
                             {.fd = PLAIN_FD, .events = POLLRDHUP}};
    long verdict = SSL_get_verify_result (session);
    if (ready[0].events == 0)
      tls_fail (verdict == X509_V_OK ? "cannot speak TLS" : X509_verify_cert_error_string (verdict));
    if (poll (ready, 2, HANDSHAKE_MS) <= 0)
      tls_fail ("the host does not answer with TLS");
    if (ready[1].revents)
      exit (EXIT_FAULT);
  }
  if (fd_write_all (PLAIN_FD, "+", 1) < 0)
    exit (EXIT_FAULT);
}

struct buffer {
  char data[BUFFER_BYTES];
  int at, length;
  bool ended;
};

/* Plain bytes to the host. Returns what is waited for, or -1 at the end. */
static int
send_to_host (SSL *session, struct buffer *out)
{
  while (out->at < out->length) {
    int sent = SSL_write (session, out->data + out->at, out->length - out->at);
    if (sent <= 0) {
      short wanted = awaited (session, sent);
      return wanted ? wanted : -1;
    }
    out->at += sent;
  }
  return 0;
}

static int
receive_from_host (SSL *session, struct buffer *in)
{
  int got = SSL_read (session, in->data, sizeof in->data);
  if (got <= 0) {
    short wanted = awaited (session, got);
    in->ended = !wanted;
    return wanted;
  }
  in->at = 0;
  in->length = got;
  return 0;
}

static bool
send_to_plain (struct buffer *in)
{
  ssize_t sent =
      send (PLAIN_FD, in->data + in->at, (size_t)(in->length - in->at), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0)
    return errno == EAGAIN || errno == EINTR;
  in->at += (int)sent;
  return true;
}

static bool
receive_from_plain (struct buffer *out)
{
  ssize_t got = recv (PLAIN_FD, out->data, sizeof out->data, MSG_DONTWAIT);
  if (got < 0)
    return errno == EAGAIN || errno == EINTR;
  out->ended = got == 0;
  out->at = 0;
  out->length = (int)got;
  return true;
}

/* Until one side ends. */
static void
tls_relay (SSL *session)
{
  static struct buffer out, in;
  for (;;) {
    int outward = send_to_host (session, &out);
    bool room = in.at == in.length;
    int inward = room && !in.ended ? receive_from_host (session, &in) : 0;
    if (outward < 0)
      return;
    if (in.at < in.length && !send_to_plain (&in))
      return;
    if (in.ended && in.at == in.length)
      return;
    bool more = out.at == out.length && !out.ended;
    bool full = in.at < in.length;
    struct pollfd ready[] = {
        {.fd = HOST_FD, .events = (short)(outward | (full ? 0 : inward))},
        {.fd = PLAIN_FD, .events = (short)((more ? POLLIN : 0) | (full ? POLLOUT : 0))},
    };
    /* What was read may not have been all, and nothing was read while there was no room: the library may hold
     * more, of which the socket tells nothing. */
    if (!full && inward == 0 && !in.ended)
      continue;
    if (poll (ready, 2, -1) < 0 && errno != EINTR)
      return;
    if (ready[1].revents & (POLLERR | POLLHUP))
      return;
    if (more && (ready[1].revents & POLLIN) && !receive_from_plain (&out))
      return;
  }
}

int
main (int argc, char **argv)
{
  if (argc != 4)
    return EXIT_FAULT;
  signal (SIGPIPE, SIG_IGN);
  OPENSSL_init_ssl (OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
  become (argv[2], argv[3]);
  (void)fcntl (HOST_FD, F_SETFL, O_RDWR | O_NONBLOCK);
  SSL *session = tls_make_session (argv[1]);
  shake_hands (session);
  tls_relay (session);
  (void)SSL_shutdown (session);
  return EXIT_SUCCESS;
}
