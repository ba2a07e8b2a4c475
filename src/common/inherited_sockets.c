/* SPDX-License-Identifier: Apache-2.0 */
#include "common/inherited_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/error.h"

#define FIRST_FD    3
#define SOCKETS_MAX 16
#define HTTP_NAME   "http"

struct inherited_socket {
  int fd;
  char *address;
};

/* Written by inherited_sockets_take only, before there are threads. */
static GArray *sockets;
static GPtrArray *http_addresses;

/* "unix:/path", "127.0.0.1:7117", "[::1]:7117"; the caller's, or NULL. */
static char *
inherited_address_text (const struct sockaddr *address, socklen_t size)
{
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (address->sa_family == AF_UNIX) {
    const struct sockaddr_un *local = (const struct sockaddr_un *)(const void *)address;
    gsize length =
        size > offsetof (struct sockaddr_un, sun_path) ? size - offsetof (struct sockaddr_un, sun_path) : 0;
    g_autofree char *path = g_strndup (local->sun_path, length);
    return path[0] == '/' ? g_strconcat ("unix:", path, NULL) : NULL;
  }
  if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
    return NULL;
  if (getnameinfo (address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return NULL;
  return g_strdup_printf (address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* The address at which FD listens, the caller's; NULL: FD is something else. */
static char *
inherited_listens_at (int fd)
{
  struct sockaddr_storage address = {0};
  socklen_t size = sizeof address, number_size = sizeof (int);
  int listens = 0, type = 0;
  if (getsockopt (fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &number_size) < 0 || !listens ||
      getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &number_size) < 0 || type != SOCK_STREAM ||
      getsockname (fd, (struct sockaddr *)&address, &size) < 0)
    return NULL;
  return inherited_address_text ((const struct sockaddr *)&address, size);
}

static gboolean
inherited_take_one (int fd, const char *name, const char *local_path, GError **error)
{
  char *address = inherited_listens_at (fd);
  if (!address) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "descriptor %d (\"%s\") of the service manager is no listening socket of Unix or TCP with an address",
        fd, name);
    return FALSE;
  }
  const struct inherited_socket taken = {fd, address};
  g_array_append_val (sockets, taken);
  gboolean is_unix = g_str_has_prefix (address, "unix:");
  if (is_unix && strcmp (address + strlen ("unix:"), local_path) == 0)
    return TRUE;
  if (is_unix && strcmp (name, HTTP_NAME) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the service manager listens at %s, and the daemon's socket is %s: both must be the same, "
                 "or it must be "
                 "named for HTTP (FileDescriptorName=http)",
                 address, local_path);
    return FALSE;
  }
  g_ptr_array_add (http_addresses, address);
  return TRUE;
}

/* Neither a child nor a second call sees it. */
static char *
inherited_take_variable (const char *name)
{
  char *value = g_strdup (g_getenv (name));
  g_unsetenv (name);
  return value;
}

gboolean
inherited_sockets_take (const char *local_path, GError **error)
{
  g_autofree char *pid = inherited_take_variable ("LISTEN_PID");
  g_autofree char *count_text = inherited_take_variable ("LISTEN_FDS");
  g_autofree char *names_text = inherited_take_variable ("LISTEN_FDNAMES");
  guint64 meant, count;
  /* Other variables are a parent's, whose own descriptors are none of ours. */
  if (!pid || !g_ascii_string_to_unsigned (pid, 10, 1, G_MAXINT, &meant, NULL) || (pid_t)meant != getpid () ||
      !count_text || !g_ascii_string_to_unsigned (count_text, 10, 0, SOCKETS_MAX, &count, NULL))
    return TRUE;
  g_auto (GStrv) names = g_strsplit (names_text ? names_text : "", ":", -1);
  guint named = g_strv_length (names);
  sockets = g_array_new (FALSE, FALSE, sizeof (struct inherited_socket));
  http_addresses = g_ptr_array_new ();
  for (int i = 0; i < (int)count; i++) {
    int fd = FIRST_FD + i;
    int flags = fcntl (fd, F_GETFL);
    if (flags < 0 || fcntl (fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl (fd, F_SETFL, flags | O_NONBLOCK) < 0)
      return error_from_errno (error, errno, "cannot use descriptor %d of the service manager", fd);
    if (!inherited_take_one (fd, (guint)i < named ? names[i] : "", local_path, error))
      return FALSE;
  }
  return TRUE;
}

static int
inherited_find_text (const char *text)
{
  for (guint i = 0; sockets && text && i < sockets->len; i++) {
    const struct inherited_socket *at = &g_array_index (sockets, struct inherited_socket, i);
    if (strcmp (at->address, text) == 0)
      return fcntl (at->fd, F_DUPFD_CLOEXEC, 0);
  }
  return -1;
}

int
inherited_sockets_find (const struct sockaddr *address, socklen_t size)
{
  g_autofree char *text = sockets ? inherited_address_text (address, size) : NULL;
  return inherited_find_text (text);
}

int
inherited_sockets_find_unix (const char *path)
{
  g_autofree char *text = g_strconcat ("unix:", path, NULL);
  return inherited_find_text (text);
}

const GPtrArray *
inherited_sockets_http (void)
{
  static GPtrArray none;
  return http_addresses ? http_addresses : &none;
}
