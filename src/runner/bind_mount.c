/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/bind_mount.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "runner/wire.h"
#include "sandbox/directory.h"
#include "sandbox/file.h"

enum {
  ARGUMENT_WHAT,
  ARGUMENT_IDS,
  ARGUMENT_HOST_UID = ARGUMENT_IDS,
  ARGUMENT_SANDBOX_UID,
  ARGUMENT_HOST_GID,
  ARGUMENT_SANDBOX_GID,
  ARGUMENTS
};

static int
read_ids (int count, char **arguments, struct idmap *ret_ids, struct fault *fault)
{
  unsigned ids[ARGUMENTS] = {0};
  if (count != ARGUMENT_IDS && count != ARGUMENTS)
    return fault_set (fault, EINVAL, "there are %d arguments for bind mounts", count);
  for (int i = ARGUMENT_IDS; i < count; i++)
    if (sscanf (arguments[i], "%u", &ids[i]) != 1)
      return fault_set (fault, EINVAL, "%s is no id", arguments[i]);
  *ret_ids = (struct idmap){
      .host_uid = ids[ARGUMENT_HOST_UID],
      .sandbox_uid = ids[ARGUMENT_SANDBOX_UID],
      .host_gid = ids[ARGUMENT_HOST_GID],
      .sandbox_gid = ids[ARGUMENT_SANDBOX_GID],
      .same_uid = IDMAP_NONE,
      .same_gid = IDMAP_NONE,
  };
  return 0;
}

static int
detach (int count, char **arguments, int *ret_mount_fd, struct fault *fault)
{
  struct idmap ids;
  int r = read_ids (count, arguments, &ids, fault);
  if (r < 0)
    return r;
  const char *what = arguments[ARGUMENT_WHAT];
  bool map = count == ARGUMENTS;
  if (strcmp (what, WIRE_BIND_FILE) == 0) {
    const struct file_wish wish = {
        .assume = map, .sandbox_uid = ids.sandbox_uid, .sandbox_gid = ids.sandbox_gid};
    return file_detach (WIRE_BIND_FD, &wish, ret_mount_fd, fault);
  }
  const struct directory_wish wish = {
      .writable = strcmp (what, WIRE_BIND_WRITE) == 0,
      .map = map,
      .ids = ids,
  };
  return directory_detach (WIRE_BIND_FD, &wish, ret_mount_fd, fault);
}

int
bind_mount_send (int count, char **arguments, struct fault *fault)
{
  autoclose int mount_fd = -1;
  int r = detach (count, arguments, &mount_fd, fault);
  if (r < 0)
    return r;
  struct wire_control_header header = {.kind = WIRE_BIND_MOUNT, .version = WIRE_VERSION};
  r = fd_send (WIRE_LAUNCH_CONTROL, &header, sizeof header, &mount_fd, 1);
  return r < 0 ? fault_set (fault, -r, "cannot pass the mount on") : 0;
}
