/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "sandbox/places.h"

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* Device nodes are not in it: nothing here may make one. */
#define ACCESS_CHANGE                                                                                        \
  (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |          \
   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                \
   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER |                   \
   LANDLOCK_ACCESS_FS_TRUNCATE)

static const uint64_t rights[] = {
    [LANDLOCK_READ] = ACCESS_READ,
    [LANDLOCK_WRITE] = ACCESS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE,
    [LANDLOCK_CHANGE] = ACCESS_READ | ACCESS_CHANGE,
    [LANDLOCK_LIST] = LANDLOCK_ACCESS_FS_READ_DIR,
    [LANDLOCK_DEVICE] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                        LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
                        LANDLOCK_ACCESS_FS_IOCTL_DEV,
};

static uint64_t
rights_of (unsigned right)
{
  uint64_t whole = rights[right & ~(unsigned)LANDLOCK_INERT];
  return right & LANDLOCK_INERT ? whole & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE : whole;
}

/* Those that a file has; the kernel refuses the others in its rule. */
#define ACCESS_FILE                                                                                          \
  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |               \
   LANDLOCK_ACCESS_FS_TRUNCATE)

const struct landlock_rule landlock_tree_rules[] = {
    {"/", LANDLOCK_READ, false},          {"/dev", LANDLOCK_WRITE, false},
    {"/proc", LANDLOCK_WRITE, true}, /* thread names are set there; a host that masks it gives none */
    {"/work", LANDLOCK_CHANGE, false},    {"/tmp", LANDLOCK_CHANGE, false},
    {"/dev/shm", LANDLOCK_CHANGE, false}, {"/dev/pts", LANDLOCK_DEVICE, false},
};
const size_t landlock_tree_rules_count = sizeof landlock_tree_rules / sizeof landlock_tree_rules[0];

const struct landlock_rule landlock_session_rules[] = {
    {"/", LANDLOCK_READ, false},          {"/dev", LANDLOCK_WRITE, false},
    {"/proc", LANDLOCK_WRITE, true},      {PLACES_WORK, LANDLOCK_CHANGE, false},
    {PLACES_TMP, LANDLOCK_CHANGE, false}, {PLACES_BRANCHES, LANDLOCK_CHANGE, false},
    {"/dev/shm", LANDLOCK_CHANGE, false}, {"/dev/pts", LANDLOCK_DEVICE, false},
};
const size_t landlock_session_rules_count = sizeof landlock_session_rules / sizeof landlock_session_rules[0];

const struct landlock_rule landlock_container_rules[] = {
    {"/", LANDLOCK_LIST, false},
    {"/usr", LANDLOCK_READ, false},
    {"/bin", LANDLOCK_READ, true},
    {"/lib", LANDLOCK_READ, true},
    {"/lib64", LANDLOCK_READ, true},
    {"/etc", LANDLOCK_READ, true},
    {"/dev/null", LANDLOCK_WRITE, false},
    {"/dev/zero", LANDLOCK_WRITE, true},
    {"/dev/full", LANDLOCK_WRITE, true},
    {"/dev/random", LANDLOCK_WRITE, true},
    {"/dev/urandom", LANDLOCK_WRITE, true},
    {"/proc", LANDLOCK_WRITE, true},
    {"/workspace", LANDLOCK_CHANGE, false},
    {"/tmp", LANDLOCK_CHANGE, false},
    {"/dev/shm", LANDLOCK_CHANGE, true},
};
const size_t landlock_container_rules_count =
    sizeof landlock_container_rules / sizeof landlock_container_rules[0];

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

static int
landlock_add_rule (int ruleset, const struct landlock_rule *rule, uint64_t handled, struct fault *fault)
{
  struct stat info;
  autoclose int fd = open (rule->path, O_PATH | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &info) < 0) {
    if (rule->optional && fd < 0)
      return 0;
    return fault_set (fault, errno, "cannot open %s for a landlock rule", rule->path);
  }
  /* Version 1 always refuses to move a file to another directory, so a rule that allows it cannot be given
   * there. */
  struct landlock_path_beneath_attr attributes = {
      .allowed_access =
          rights_of (rule->right) & handled & (S_ISDIR (info.st_mode) ? ~UINT64_C (0) : ACCESS_FILE),
      .parent_fd = fd,
  };
  if (sys_landlock_add_rule (ruleset, LANDLOCK_RULE_PATH_BENEATH, &attributes, 0) < 0)
    return fault_set (fault, errno, "cannot add a landlock rule for %s", rule->path);
  return 0;
}

int
landlock_confine (int abi, bool online, const struct landlock_rule *rules, size_t count, struct fault *fault)
{
  struct syscalls_landlock_ruleset ruleset = {0};
  size_t size = 0;
  for (size_t i = 0; i < sizeof versions / sizeof versions[0] && versions[i].abi <= abi; i++) {
    ruleset.handled_access_fs |= versions[i].fs;
    ruleset.handled_access_net |= online ? 0 : versions[i].net;
    ruleset.scoped |= versions[i].scoped;
    size = versions[i].size;
  }
  autoclose int fd = sys_landlock_create_ruleset (&ruleset, size, 0);
  if (fd < 0)
    return fault_set (fault, errno, "cannot create a landlock ruleset");
  for (size_t i = 0; i < count; i++) {
    int r = landlock_add_rule (fd, &rules[i], ruleset.handled_access_fs, fault);
    if (r < 0)
      return r;
  }
  if (sys_landlock_restrict_self (fd, 0) < 0)
    return fault_set (fault, errno, "cannot enforce landlock");
  return 0;
}
