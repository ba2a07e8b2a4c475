/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "base/weaken.h"

enum mount_kind {
  MOUNT_PROC,
  MOUNT_SHM,
  MOUNT_WORKSPACE, /* the workspace itself, attached so that its parts can be cloned: see below */
  MOUNT_OVERLAY,   /* of the directory that was lent, where one was that shall not be written to */
  MOUNT_PART,      /* a directory of the workspace */
  MOUNT_DIRECTORY, /* a directory of the workspace, or the one that was lent in its place */
};

static const struct mount_step {
  enum mount_kind kind;
  const char *target;
  const char *part; /* of the workspace: path from its root */
} sandbox_mounts[] = {
    {.kind = MOUNT_PROC, .target = "/proc"},
    {.kind = MOUNT_SHM, .target = "/dev/shm"},
    /* A clone of a directory can be made only of a mount that is in our namespace (a detached one will do
     * from Linux 6.15). So the whole workspace goes to /work first and /work/work then over it; the nested
     * user namespace locks the pile. */
    {.kind = MOUNT_WORKSPACE, .target = "/work"},
    {.kind = MOUNT_OVERLAY, .target = "/tmp"},
    {.kind = MOUNT_PART, .target = "/tmp", .part = "tmp"},
    {.kind = MOUNT_DIRECTORY, .target = "/work", .part = "work"},
};

const struct mount_point mount_points[] = {
    {"proc", NULL}, {"dev", NULL}, {"dev/shm", NULL}, {"tmp", NULL}, {"work", NULL}, {"workspace", "work"},
};
const size_t mount_points_count = sizeof mount_points / sizeof mount_points[0];

/* Directories that the workspace starts with, beside its root, which all are taken from
 * LIMIT_WORKSPACE_FILES. */
#define ALL (MOUNTS_OF_RUN | MOUNTS_OF_SESSION | MOUNTS_OF_OVERLAY)
static const struct {
  const char *path;
  unsigned of; /* enum mounts_workspace_of */
} workspace_directories[] = {
    {"work", ALL},
    {"tmp", ALL},
    {"tmp/output", ALL},
    {"branches", MOUNTS_OF_SESSION}, /* places.h */
    {MOUNTS_UPPER, MOUNTS_OF_OVERLAY},
    {"overlay", MOUNTS_OF_OVERLAY},
};
#define DIRECTORIES (sizeof workspace_directories / sizeof workspace_directories[0])

/* As the sandbox sees them while it makes the overlay: the workspace is at /work, the directory that was lent
 * below it at the step's target. */
#define OVERLAY_UPPER "/work/" MOUNTS_UPPER
#define OVERLAY_OWN   "/work/overlay"

/* A file costs the kernel about 1 KiB that no size= counts. */
#define SHM_FILES 1024

int
mounts_tmpfs (uint64_t size, uint64_t inodes, uint64_t attributes, int *ret_fd, struct fault *fault)
{
  char text[32];
  autoclose int context = fsopen ("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0)
    return fault_set (fault, errno, "cannot open a tmpfs");
  snprintf (text, sizeof text, "%llu", (unsigned long long)size);
  if (fsconfig (context, FSCONFIG_SET_STRING, "size", text, 0) < 0)
    return fault_set (fault, errno, "cannot make a tmpfs of %s bytes", text);
  snprintf (text, sizeof text, "%llu", (unsigned long long)inodes);
  if (fsconfig (context, FSCONFIG_SET_STRING, "nr_inodes", text, 0) < 0)
    return fault_set (fault, errno, "cannot make a tmpfs of %s files", text);
  if (fsconfig (context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
      fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return fault_set (fault, errno, "cannot create a tmpfs");
  int fd = fsmount (context, FSMOUNT_CLOEXEC, (unsigned int)attributes);
  if (fd < 0)
    return fault_set (fault, errno, "cannot mount a tmpfs");
  *ret_fd = fd;
  return 0;
}

int
mounts_attach (int fd, int directory, const char *path, struct fault *fault)
{
  if (move_mount (fd, "", directory, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
    return fault_set (fault, errno, "cannot mount on %s", path);
  return 0;
}

int
mounts_shm (const struct limits *limits, int *ret_fd, struct fault *fault)
{
  return mounts_tmpfs (limits->value[LIMIT_SHM],
                       weakened (LAYER_WORKSPACE) ? limits->value[LIMIT_WORKSPACE_FILES] : SHM_FILES,
                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, ret_fd, fault);
}

int
mounts_make_workspace (const struct limits *limits, enum mounts_workspace_of of, int *ret_fd,
                       struct fault *fault)
{
  autoclose int fd = -1;
  size_t count = 0;
  for (size_t i = 0; i < DIRECTORIES; i++)
    count += (workspace_directories[i].of & of) != 0;
  int r = mounts_tmpfs (limits->value[LIMIT_WORKSPACE], limits->value[LIMIT_WORKSPACE_FILES] + 1 + count,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &fd, fault);
  if (r < 0)
    return r;
  for (size_t i = 0; i < DIRECTORIES; i++)
    if ((workspace_directories[i].of & of) && mkdirat (fd, workspace_directories[i].path, 0755) < 0)
      return fault_set (fault, errno, "cannot make %s in the workspace", workspace_directories[i].path);
  *ret_fd = fd_steal (&fd);
  return 0;
}

int
mounts_make_proc (int *ret_fd, struct fault *fault)
{
  autoclose int context = fsopen ("proc", FSOPEN_CLOEXEC);
  if (context < 0)
    return fault_set (fault, errno, "cannot open a procfs");
  /* Both options are from Linux 5.8; they hide the kernel's own files and the processes of others. */
  if (fsconfig (context, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
      fsconfig (context, FSCONFIG_SET_STRING, "hidepid", "invisible", 0) < 0)
    return fault_set (fault, errno, "cannot limit a procfs to processes");
  int fd = -1;
  if (fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    fd = fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (fd < 0 && errno != EPERM)
    return fault_set (fault, errno, "cannot make a procfs");
  *ret_fd = fd;
  return 0;
}

/* A new procfs in a user namespace is allowed only while another one, whole, is in sight
 * (mount_too_revealing). So the new one is made first, then the zygote's goes, then the new one comes in its
 * place. */
static int
enter_proc (const struct mount_step *step, bool *ret_fresh, struct fault *fault)
{
  autoclose int fd = -1;
  int r = mounts_make_proc (&fd, fault);
  if (r < 0)
    return r;
  if (umount2 (step->target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot unmount the zygote's %s", step->target);
  if (fd >= 0) {
    r = mounts_attach (fd, AT_FDCWD, step->target, fault);
    if (r < 0)
      return r;
  }
  *ret_fresh = fd >= 0;
  return 0;
}

/* The overlay of the mount LOWER_FD, which for the moment is at TARGET: the kernel keeps a clone of its own,
 * and wants paths. Extended attributes are in the user's name space, because this is no root of the host's.
 */
static int
make_overlay (int lower_fd, const char *target, int *ret_fd, struct fault *fault)
{
  const struct {
    const char *name, *value;
  } options[] = {
      {"lowerdir", target}, {"upperdir", OVERLAY_UPPER}, {"workdir", OVERLAY_OWN}, {"userxattr", NULL}};
  autoclose int context = fsopen ("overlay", FSOPEN_CLOEXEC);
  if (context < 0)
    return fault_set (fault, errno, "cannot make an overlay of the work directory");
  int r = mounts_attach (lower_fd, AT_FDCWD, target, fault);
  if (r < 0)
    return r;
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (fsconfig (context, options[i].value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[i].name,
                  options[i].value, 0) < 0)
      return fault_set (fault, errno, "cannot set %s of an overlay", options[i].name);
  if (fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return fault_set (fault, errno, "cannot make an overlay of the work directory");
  autoclose int fd = fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (fd < 0)
    return fault_set (fault, errno, "cannot mount an overlay of the work directory");
  if (umount2 (target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot take the work directory from %s", target);
  *ret_fd = fd_steal (&fd);
  return 0;
}

static int
attach_part (int workspace_fd, const struct mount_step *step, struct fault *fault)
{
  autoclose int fd = open_tree (workspace_fd, step->part, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take %s of the workspace", step->part);
  return mounts_attach (fd, AT_FDCWD, step->target, fault);
}

int
mounts_enter (const struct limits *limits, const struct mounts_given *given, bool *ret_fresh_proc,
              struct fault *fault)
{
  bool fresh_proc = false;
  autoclose int overlay_fd = -1;
  for (size_t i = 0; i < sizeof sandbox_mounts / sizeof sandbox_mounts[0]; i++) {
    const struct mount_step *step = &sandbox_mounts[i];
    if (step->kind == MOUNT_PROC && weakened (LAYER_PROC))
      continue;
    autoclose int fd = -1;
    int r = 0;
    switch (step->kind) {
    case MOUNT_PROC:
      r = enter_proc (step, &fresh_proc, fault);
      break;
    case MOUNT_SHM:
      r = mounts_shm (limits, &fd, fault);
      if (r == 0)
        r = mounts_attach (fd, AT_FDCWD, step->target, fault);
      break;
    case MOUNT_WORKSPACE:
      r = mounts_attach (given->workspace_fd, AT_FDCWD, step->target, fault);
      break;
    case MOUNT_OVERLAY:
      if (given->directory_fd >= 0 && given->overlay)
        r = make_overlay (given->directory_fd, step->target, &overlay_fd, fault);
      break;
    case MOUNT_DIRECTORY:
      if (given->directory_fd < 0)
        r = attach_part (given->workspace_fd, step, fault);
      else
        r = mounts_attach (given->overlay ? overlay_fd : given->directory_fd, AT_FDCWD, step->target, fault);
      break;
    case MOUNT_PART:
      r = attach_part (given->workspace_fd, step, fault);
      break;
    }
    if (r < 0)
      return r;
  }
  *ret_fresh_proc = fresh_proc;
  return 0;
}
