/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/lend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "runner/wire.h"
#include "sandbox/directory.h"

enum {
  ARGUMENT_ACCESS,
  ARGUMENT_MAP,
  ARGUMENT_HOST_UID = ARGUMENT_MAP,
  ARGUMENT_BOX_UID,
  ARGUMENT_HOST_GID,
  ARGUMENT_BOX_GID,
  ARGUMENTS
};

static int
read_wish (int count, char **arguments, struct directory_wish *ret_wish, struct fault *fault)
{
  unsigned ids[ARGUMENTS] = {0};
  if (count != ARGUMENT_MAP && count != ARGUMENTS)
    return fault_set (fault, EINVAL, "there are %d arguments for lending a directory", count);
  for (int i = ARGUMENT_MAP; i < count; i++)
    if (sscanf (arguments[i], "%u", &ids[i]) != 1)
      return fault_set (fault, EINVAL, "%s is no id", arguments[i]);
  *ret_wish = (struct directory_wish){
      .writable = strcmp (arguments[ARGUMENT_ACCESS], WIRE_LEND_WRITE) == 0,
      .map = count == ARGUMENTS,
      .host_uid = ids[ARGUMENT_HOST_UID],
      .box_uid = ids[ARGUMENT_BOX_UID],
      .host_gid = ids[ARGUMENT_HOST_GID],
      .box_gid = ids[ARGUMENT_BOX_GID],
  };
  return 0;
}

int
lend (int count, char **arguments, struct fault *fault)
{
  struct directory_wish wish;
  autoclose int mount_fd = -1;
  int r = read_wish (count, arguments, &wish, fault);
  if (r == 0)
    r = directory_detach (WIRE_LEND_DIRECTORY, &wish, &mount_fd, fault);
  if (r < 0)
    return r;
  struct wire_control_header header = {.kind = WIRE_LENT, .version = WIRE_VERSION};
  r = fd_send (WIRE_LAUNCH_CONTROL, &header, sizeof header, &mount_fd, 1);
  return r < 0 ? fault_set (fault, -r, "cannot pass the directory on") : 0;
}
