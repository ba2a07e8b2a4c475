/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

/* Connections that wait to be answered. */
#define BACKLOG 128

const char *const network_names[] = {"none", "allow", "full", NULL};

int
network_find (const char *name)
{
  for (int i = 0; i < NETWORKS; i++)
    if (strcmp (network_names[i], name) == 0)
      return i;
  return -1;
}

static int
raise_loopback (int fd, struct fault *fault)
{
  struct ifreq request = {.ifr_name = "lo"};
  if (ioctl (fd, SIOCGIFFLAGS, &request) < 0)
    return fault_set (fault, errno, "cannot look at the loopback device");
  request.ifr_flags |= IFF_UP;
  return ioctl (fd, SIOCSIFFLAGS, &request) < 0 ? fault_set (fault, errno, "cannot raise the loopback device")
                                                : 0;
}

int
network_enter (int *ret_fd, struct fault *fault)
{
  const struct sockaddr_in place = {
      .sin_family = AF_INET,
      .sin_port = htons (NETWORK_PROXY_PORT),
      .sin_addr = {htonl (INADDR_LOOPBACK)},
  };
  if (unshare (CLONE_NEWNET) < 0)
    return fault_set (fault, errno, "cannot make a network namespace");
  autoclose int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return fault_set (fault, errno, "cannot make the proxy's socket");
  int r = raise_loopback (fd, fault);
  if (r < 0)
    return r;
  if (bind (fd, (const struct sockaddr *)&place, sizeof place) < 0 || listen (fd, BACKLOG) < 0)
    return fault_set (fault, errno, "cannot listen at the proxy's port");
  *ret_fd = fd_steal (&fd);
  return 0;
}
