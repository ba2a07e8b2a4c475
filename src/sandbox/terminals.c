/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/terminals.h"

#include <errno.h>
#include <stdbool.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/mount.h"

#define NUMBER(number) TEXT_OF (number)
#define TEXT_OF(text)  #text

/* Not built in, or not for user namespaces. */
static bool
is_lacking (int err)
{
  return err == ENODEV || err == EPERM;
}

/* Each mount is an instance of its own. Its ptmx has no rights by default, so that /dev/ptmx as a link to it
 * would not do. */
int
terminals_make (int *ret_fd, struct fault *fault)
{
  const struct {
    const char *name, *value;
  } options[] = {
      {"ptmxmode", "0666"},
      {"mode", "0600"},
      {"max", layer_is_disabled (LAYER_WORKSPACE) ? "1024" : NUMBER (TERMINALS_MAX)},
  };
  *ret_fd = -1;
  autoclose int context = sys_fsopen ("devpts", FSOPEN_CLOEXEC);
  if (context < 0)
    return is_lacking (errno) ? 0 : fault_set (fault, errno, "cannot open a devpts");
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (sys_fsconfig (context, FSCONFIG_SET_STRING, options[i].name, options[i].value, 0) < 0)
      return fault_set (fault, errno, "cannot set %s of a devpts", options[i].name);
  int fd = -1;
  if (sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    fd = sys_fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (fd < 0 && !is_lacking (errno))
    return fault_set (fault, errno, "cannot make a devpts");
  *ret_fd = fd;
  return 0;
}
