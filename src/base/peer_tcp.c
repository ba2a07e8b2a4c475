/* SPDX-License-Identifier: Apache-2.0 */
/* Each TCP socket of this network namespace is a line of /proc/net/tcp or tcp6, with its account: the other
 * end is the one whose two addresses are ours, exchanged. */
#include "base/peer_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES    512
#define ADDRESS_BYTES 48
#define KEY_BYTES     (2 * ADDRESS_BYTES + 2)
/* Sockets that come and go while the list is read can hide another one, though hardly twice. */
#define ATTEMPTS 4

union tcp_address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
};

/* As the lists have it: words of the address in memory, in hexadecimal digits. */
static void
write_address (const union tcp_address *address, bool mapped, char *text, size_t size)
{
  uint32_t word[4] = {0, 0, htonl (0xffff), 0};
  if (address->any.sa_family == AF_INET6)
    memcpy (word, &address->six.sin6_addr, sizeof word);
  else
    word[3] = address->four.sin_addr.s_addr;
  unsigned port =
      ntohs (address->any.sa_family == AF_INET6 ? address->six.sin6_port : address->four.sin_port);
  if (address->any.sa_family == AF_INET && !mapped)
    snprintf (text, size, "%08X:%04X", word[3], port);
  else
    snprintf (text, size, "%08X%08X%08X%08X:%04X", word[0], word[1], word[2], word[3], port);
}

/* Whether ADDRESS is one of this machine: a socket can be bound to no other. */
static bool
is_own_address (const union tcp_address *address)
{
  union tcp_address at = *address;
  bool four = at.any.sa_family == AF_INET;
  int fd = socket (at.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (four)
    at.four.sin_port = 0;
  else
    at.six.sin6_port = 0;
  bool own = fd < 0 || bind (fd, &at.any, four ? sizeof at.four : sizeof at.six) == 0;
  if (fd >= 0)
    close (fd);
  return own;
}

static bool
is_loopback (const union tcp_address *address)
{
  if (address->any.sa_family == AF_INET)
    return ntohl (address->four.sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK (&address->six.sin6_addr);
}

/* No other machine reaches a loopback address; and a program of this one may come from any of its addresses.
 */
static bool
is_this_machine (const union tcp_address *own, const union tcp_address *other)
{
  return is_loopback (own) || is_loopback (other) || is_own_address (other);
}

/* The account in the line of the list PATH that has KEY, both addresses. */
static int
find_line (const char *path, const char *key, uid_t *ret_uid)
{
  char line[LINE_BYTES];
  FILE *list = fopen (path, "re");
  int result = list ? -ENOENT : -errno;
  while (list && result == -ENOENT && fgets (line, sizeof line, list)) {
    unsigned uid;
    unsigned long inode;
    const char *at = strstr (line, ": ");
    if (!at || strncmp (at + 2, key, strlen (key)) != 0)
      continue;
    /* State, queues, timer and retransmissions are between the addresses and the account, and probes after
     * it. A socket that its program has closed has no inode, and is listed as root's. */
    if (sscanf (at + 2 + strlen (key), " %*x %*x:%*x %*x:%*x %*x %u %*u %lu", &uid, &inode) != 2 ||
        inode == 0)
      continue;
    *ret_uid = uid;
    result = 0;
  }
  if (list)
    fclose (list);
  return result;
}

static int
find_peer (const union tcp_address *own, const union tcp_address *other, bool mapped, uid_t *ret_uid)
{
  char mine[ADDRESS_BYTES], theirs[ADDRESS_BYTES], key[KEY_BYTES];
  bool six = mapped || own->any.sa_family == AF_INET6;
  write_address (own, mapped, mine, sizeof mine);
  write_address (other, mapped, theirs, sizeof theirs);
  snprintf (key, sizeof key, "%s %s ", theirs, mine);
  return find_line (six ? "/proc/net/tcp6" : "/proc/net/tcp", key, ret_uid);
}

int
peer_tcp_look (int socket, uid_t *ret_uid)
{
  union tcp_address own = {0}, other = {0};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  if (getsockname (socket, &own.any, &own_size) < 0 || getpeername (socket, &other.any, &other_size) < 0)
    return -errno;
  if (own.any.sa_family != other.any.sa_family ||
      (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6))
    return -EAFNOSUPPORT;
  if (!is_this_machine (&own, &other))
    return -EHOSTUNREACH;
  int result = -ENOENT;
  for (int i = 0; i < ATTEMPTS && result == -ENOENT; i++) {
    result = find_peer (&own, &other, false, ret_uid);
    /* A client may reach an address of version 4 by a socket of version 6. */
    if (result != 0 && own.any.sa_family == AF_INET)
      result = find_peer (&own, &other, true, ret_uid) == 0 ? 0 : result;
  }
  return result;
}
