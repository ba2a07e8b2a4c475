/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/syscalls.h"

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* Device nodes are not in it: nothing here may make one. */
#define ACCESS_CHANGE                                                                                        \
  (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |          \
   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                \
   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER |                   \
   LANDLOCK_ACCESS_FS_TRUNCATE)

static const struct {
  const char *path;
  uint64_t access;
  int optional; /* a host that masks /proc gives no fresh one */
} rules[] = {
    {"/", ACCESS_READ, 0},
    {"/dev", LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE,
     0},                                         /* open ("/dev/null", O_TRUNC) */
    {"/proc", LANDLOCK_ACCESS_FS_WRITE_FILE, 1}, /* thread names are set there */
    {"/work", ACCESS_CHANGE, 0},
    {"/tmp", ACCESS_CHANGE, 0},
    {"/dev/shm", ACCESS_CHANGE, 0},
};

/* What each version added; a version handles all that came before it. */
static const struct {
  int abi;
  uint64_t fs, net, scoped;
  size_t size; /* of the structure that it knows */
} versions[] = {
    {1, (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1, 0, 0, 8},
    {2, LANDLOCK_ACCESS_FS_REFER, 0, 0, 8},
    {3, LANDLOCK_ACCESS_FS_TRUNCATE, 0, 0, 8},
    {4, 0, SYSCALLS_LANDLOCK_NET_BIND_TCP | SYSCALLS_LANDLOCK_NET_CONNECT_TCP, 0, 16},
    {5, LANDLOCK_ACCESS_FS_IOCTL_DEV, 0, 0, 16},
    {6, 0, 0, SYSCALLS_LANDLOCK_SCOPE_ABSTRACT | SYSCALLS_LANDLOCK_SCOPE_SIGNAL, 24},
};

int
landlock_abi (void)
{
  int abi = sys_landlock_create_ruleset (NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi > 0 ? abi : 0;
}

int
landlock_confine (int abi, struct fault *fault)
{
  struct syscalls_landlock_ruleset ruleset = {0};
  size_t size = 0;
  for (size_t i = 0; i < sizeof versions / sizeof versions[0] && versions[i].abi <= abi; i++) {
    ruleset.handled_access_fs |= versions[i].fs;
    ruleset.handled_access_net |= versions[i].net;
    ruleset.scoped |= versions[i].scoped;
    size = versions[i].size;
  }
  autoclose int fd = sys_landlock_create_ruleset (&ruleset, size, 0);
  if (fd < 0)
    return fault_set (fault, errno, "cannot create a landlock ruleset");

  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    autoclose int directory = open (rules[i].path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
      if (rules[i].optional)
        continue;
      return fault_set (fault, errno, "cannot open %s for a landlock rule", rules[i].path);
    }
    /* Version 1 always refuses to move a file to another directory, so a rule that allows it cannot be given
     * there. */
    struct landlock_path_beneath_attr rule = {
        .allowed_access = rules[i].access & ruleset.handled_access_fs,
        .parent_fd = directory,
    };
    if (sys_landlock_add_rule (fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
      return fault_set (fault, errno, "cannot add a landlock rule for %s", rules[i].path);
  }
  if (sys_landlock_restrict_self (fd, 0) < 0)
    return fault_set (fault, errno, "cannot enforce landlock");
  return 0;
}
