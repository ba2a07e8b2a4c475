/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: from an address as text to a socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/inherited_sockets.h"
#include "interfaces/http/http_private.h"

static gboolean
http_listen_fail (GError **error, const char *address, const char *why)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--http or [http] listen: \"%s\" %s", address, why);
  return FALSE;
}

static gboolean
check_unix (const char *path, GError **error)
{
  return g_path_is_absolute (path) || http_listen_fail (error, path, "is no absolute path");
}

static gboolean
listen_unix (struct http_listener *listener, const char *path, GError **error)
{
  if (!check_unix (path, error))
    return FALSE;
  listener->url = g_strconcat ("unix:", path, NULL);
  return local_socket_open (path, 0, &listener->socket, error);
}

/* ---- TCP ---- */

/* "host:port", "[::1]:port", ":port" of this machine, "port". */
static gboolean
http_listen_split (const char *text, char **ret_host, char **ret_port)
{
  const char *colon = strrchr (text, ':');
  const char *port = colon ? colon + 1 : text;
  gsize length = colon ? (gsize)(colon - text) : 0;
  guint64 number;
  if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
    text++;
    length -= 2;
  } else if (memchr (text, ':', length))
    return FALSE;
  if (!g_ascii_string_to_unsigned (port, 10, 0, 65535, &number, NULL))
    return FALSE;
  *ret_host = length > 0 ? g_strndup (text, length) : g_strdup ("127.0.0.1");
  *ret_port = g_strdup (port);
  return TRUE;
}

static gboolean
is_loopback (const struct sockaddr *address)
{
  if (address->sa_family == AF_INET)
    return (ntohl (((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24) == 127;
  return IN6_IS_ADDR_LOOPBACK (&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

gboolean
http_listen_is_near (int fd)
{
  struct sockaddr_in6 peer = {0}; /* the largest address that a listener has */
  socklen_t size = sizeof peer;
  return getpeername (fd, (struct sockaddr *)&peer, &size) == 0 && is_loopback ((struct sockaddr *)&peer);
}

/* The port is required, since 0 means any. */
static char *
http_listen_url_of (int fd, gboolean tls)
{
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname (fd, (struct sockaddr *)&address, &size) < 0 ||
      getnameinfo ((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                   NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return g_strdup ("?");
  gboolean six = address.ss_family == AF_INET6;
  return g_strdup_printf ("%s://%s%s%s:%s", tls ? "https" : "http", six ? "[" : "", host, six ? "]" : "",
                          port);
}

/* Advice for the most common failures. */
static const char *
listen_hint (int err)
{
  return err == EADDRINUSE      ? " (--http=127.0.0.1:PORT says another port, 0 any that is free)"
         : err == EADDRNOTAVAIL ? " (it is no address of this machine)"
         : err == EACCES        ? " (ports below 1024 are for root)"
                                : "";
}

/* The address that TEXT is, or NULL with ERROR; the caller's (freeaddrinfo). */
static struct addrinfo *
find_address (const char *text, GError **error)
{
  g_autofree char *host = NULL, *port = NULL;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                           .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
  struct addrinfo *found = NULL;
  if (!http_listen_split (text, &host, &port)) {
    http_listen_fail (error, text, "is no address with a port: 127.0.0.1:7117, [::1]:7117 or unix:/path");
    return NULL;
  }
  if (strcmp (host, "localhost") == 0) {
    g_free (host);
    host = g_strdup ("127.0.0.1");
  }
  if (getaddrinfo (host, port, &hints, &found) == 0 && found)
    return found;
  http_listen_fail (error, text, "names no address of this machine: it must be a number, such as 127.0.0.1");
  return NULL;
}

/* A descriptor that listens at ADDRESS, or -1 with errno. *RET_INHERITED: a service manager listens there. */
static int
listen_at (const struct addrinfo *address, gboolean *ret_inherited)
{
  const int one = 1;
  autoclose int fd = inherited_sockets_find (address->ai_addr, address->ai_addrlen);
  *ret_inherited = fd >= 0;
  if (fd >= 0)
    return fd_steal (&fd);
  fd = socket (address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
      (address->ai_family == AF_INET6 && setsockopt (fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0) ||
      bind (fd, address->ai_addr, address->ai_addrlen) < 0)
    return -1;
  /* The kernel's maximum: a burst of clients waits its turn instead of being refused. */
  return listen (fd, SOMAXCONN) < 0 ? -1 : fd_steal (&fd);
}

static gboolean
listen_tcp (struct http_listener *listener, const char *text, GError **error)
{
  struct addrinfo *found = find_address (text, error);
  if (!found)
    return FALSE;
  listener->tcp = TRUE;
  listener->loopback = is_loopback (found->ai_addr);
  listener->socket.fd = listen_at (found, &listener->socket.inherited);
  int err = errno;
  freeaddrinfo (found);
  if (listener->socket.fd < 0) {
    error_from_errno (error, err, "cannot listen on %s%s", text, listen_hint (err));
    if (error && err == EADDRINUSE)
      (*error)->code = ADDER_ERROR_BUSY;
    return FALSE;
  }
  listener->url = http_listen_url_of (listener->socket.fd, listener->tls);
  return TRUE;
}

/* ---- both ---- */

/* With a certificate, only an address with http:// stays plain. */
gboolean
http_listener_tls (const char *address, gboolean has_tls)
{
  gboolean plain = g_str_has_prefix (address, "unix:") || g_str_has_prefix (address, "http://");
  return g_str_has_prefix (address, "https://") || (has_tls && !plain);
}

/* Of an address or a URL. */
static guint64
http_listen_port (const char *text)
{
  const char *colon = strrchr (text, ':');
  return g_ascii_strtoull (colon ? colon + 1 : text, NULL, 10);
}

gboolean
http_listener_has_port (const struct http_listener *listener, const GPtrArray *words)
{
  for (guint i = 0; listener->tcp && i < words->len; i++)
    if (!g_str_has_prefix (words->pdata[i], "unix:") &&
        http_listen_port (words->pdata[i]) == http_listen_port (listener->url))
      return TRUE;
  return FALSE;
}

/* ADDRESS without its scheme, or NULL with ERROR if it needs a missing certificate. */
static const char *
tcp_address (const char *address, gboolean has_tls, GError **error)
{
  gboolean https = g_str_has_prefix (address, "https://"), http = g_str_has_prefix (address, "http://");
  if (https && !has_tls) {
    http_listen_fail (error, address, "needs [http] certificate and key");
    return NULL;
  }
  return address + (https ? strlen ("https://") : http ? strlen ("http://") : 0);
}

gboolean
http_listen_check (const char *address, gboolean has_tls, gboolean *ret_loopback, GError **error)
{
  *ret_loopback = TRUE;
  if (g_str_has_prefix (address, "unix:"))
    return check_unix (address + strlen ("unix:"), error);
  const char *text = tcp_address (address, has_tls, error);
  struct addrinfo *found = text ? find_address (text, error) : NULL;
  if (!found)
    return FALSE;
  *ret_loopback = is_loopback (found->ai_addr);
  freeaddrinfo (found);
  return TRUE;
}

struct http_listener *
http_listen (const char *address, gboolean has_tls, GError **error)
{
  struct http_listener *listener = g_new0 (struct http_listener, 1);
  listener->references = 1;
  listener->address = g_strdup (address);
  listener->socket = LOCAL_SOCKET_CLOSED;
  gboolean ok;
  if (g_str_has_prefix (address, "unix:"))
    ok = listen_unix (listener, address + strlen ("unix:"), error);
  else {
    const char *text = tcp_address (address, has_tls, error);
    listener->tls = http_listener_tls (address, has_tls);
    ok = text && listen_tcp (listener, text, error);
  }
  if (!ok)
    g_clear_pointer (&listener, http_listener_unref);
  return listener;
}

struct http_listener *
http_listener_of_nodes (void)
{
  struct http_listener *listener = g_new0 (struct http_listener, 1);
  listener->references = 1;
  listener->address = g_strdup ("other nodes");
  listener->url = g_strdup ("other nodes");
  listener->socket = LOCAL_SOCKET_CLOSED;
  return listener;
}

void
http_listener_close (struct http_listener *listener)
{
  if (!listener->tcp) {
    local_socket_close (&listener->socket);
    return;
  }
  /* A child that another thread is starting has a copy until exec, which would keep the port taken. */
  if (listener->socket.fd >= 0 && !listener->socket.inherited)
    shutdown (listener->socket.fd, SHUT_RDWR);
  fd_close (&listener->socket.fd);
}

struct http_listener *
http_listener_ref (struct http_listener *listener)
{
  g_atomic_int_inc (&listener->references);
  return listener;
}

void
http_listener_unref (struct http_listener *listener)
{
  if (!g_atomic_int_dec_and_test (&listener->references))
    return;
  http_listener_close (listener);
  g_free (listener->address);
  g_free (listener->url);
  g_free (listener);
}

char *
http_listener_peer (const struct http_listener *listener, int fd)
{
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST];
  const int one = 1;
  if (!listener->tcp) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    /* The socket is 0600; the kernel's credentials as well, since others may enter its folder. */
    if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 ||
        (peer.uid != geteuid () && peer.uid != 0))
      return NULL;
    return g_strdup_printf ("uid:%u", (unsigned)peer.uid);
  }
  /* A reply is written whole: there is nothing to wait for. */
  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (getpeername (fd, (struct sockaddr *)&address, &size) < 0 ||
      getnameinfo ((struct sockaddr *)&address, size, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0)
    return NULL;
  return g_strdup (host);
}
