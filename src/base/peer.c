/* SPDX-License-Identifier: Apache-2.0 */
#include "base/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* More than a map with its 340 lines has. */
#define TEXT_BYTES 32768

/* The zero-terminated content of /proc/PID/NAME. */
static bool
read_proc (const char *pid, const char *name, char text[TEXT_BYTES])
{
  char path[64];
  ssize_t got, length = 0;
  snprintf (path, sizeof path, "/proc/%s/%s", pid, name);
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  while ((got = read (fd, text + length, (size_t)(TEXT_BYTES - 1 - length))) > 0)
    length += got;
  text[length] = '\0';
  return got == 0;
}

int
peer_open (int socket)
{
  struct ucred peer;
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (getsockopt (socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
    return pidfd;
  if (errno != ENOPROTOOPT)
    return -1;
  size = sizeof peer;
  bool known = getsockopt (socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  return known ? sys_pidfd_open (peer.pid, 0) : -1;
}

/* Processes of namespaces below ours have a number in each. One that has ended has none, or -1. */
static bool
has_one_number (int pidfd)
{
  char name[32], text[TEXT_BYTES];
  int number, more;
  snprintf (name, sizeof name, "fdinfo/%d", pidfd);
  const char *line = read_proc ("self", name, text) ? strstr (text, "\nNSpid:") : NULL;
  return line && sscanf (line, "\nNSpid: %d %d", &number, &more) == 1 && number > 0;
}

/* Our own map, NULL where it cannot be read. Read once: a map is written once, by who makes the namespace,
 * and a process with threads, as all that have peers are, cannot enter another one. */
static const char *
own_map (void)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char text[TEXT_BYTES];
  static bool known;
  pthread_mutex_lock (&lock);
  known = known || read_proc ("self", "uid_map", text);
  const char *map = known ? text : NULL;
  pthread_mutex_unlock (&lock);
  return map;
}

/* A map tells of its namespace what ours sees of it. Only who has rights here could make one that looks the
 * same. Links to namespaces may be read of who can be traced alone. */
static bool
has_our_ids (const char *pid)
{
  char theirs[TEXT_BYTES];
  const char *own = own_map ();
  return own && read_proc (pid, "uid_map", theirs) && strcmp (own, theirs) == 0;
}

int
peer_look (int socket, struct peer *ret_peer)
{
  struct ucred peer;
  socklen_t size = sizeof peer;
  char pid[16];
  if (getsockopt (socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return -errno;
  snprintf (pid, sizeof pid, "%d", peer.pid);
  errno = 0;
  autoclose int pidfd = peer.pid > 0 ? peer_open (socket) : -1;
  /* The number last: as the process lives, PID was its number all the time. */
  bool near = pidfd >= 0 && has_our_ids (pid) && has_one_number (pidfd);
  /* Then nobody knows. */
  if (!near && (errno == EMFILE || errno == ENFILE))
    return -errno;
  *ret_peer = (struct peer){
      .uid = peer.uid,
      .trusted = peer.uid == geteuid () || peer.uid == 0,
      .near = near,
  };
  return 0;
}
