/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation: the sources are cloned into detached mounts, given their flags while nobody can see
 * them, and then attached to a tmpfs that pivot_root makes the root. Nothing of the host's tree is ever
 * visible writable, and there is no moment in which a path of the host and one of the sandbox could be mixed
 * up: all work is relative to descriptors. */
#include "sandbox/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/copy.h"
#include "sandbox/mounts.h"

/* Copies and directories only: what is bound lies elsewhere. */
#define ROOT_BYTES ((uint64_t)64 << 20)
#define ROOT_FILES 16384

/* What an interpreter's start may leave in the zygote's own /tmp. Sandboxes mount theirs over it. */
#define ZYGOTE_TMP_BYTES ((uint64_t)64 << 20)
#define ZYGOTE_TMP_FILES 4096

static int
clone_source (const struct plan_step *step, bool device)
{
  unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (device ? 0 : (unsigned int)AT_RECURSIVE);
  if (step->kind != PLAN_BIND_REAL)
    return sys_open_tree (AT_FDCWD, step->source, flags);
  autoclose int fd = sys_openat2 (AT_FDCWD, step->source, O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
  return fd < 0 ? -1 : sys_open_tree (fd, "", flags | (unsigned int)AT_EMPTY_PATH);
}

static int
open_bind (const struct plan_step *step, struct fault *fault)
{
  bool device = step->kind == PLAN_DEVICE;
  autoclose int fd = clone_source (step, device);
  if (fd < 0) {
    if (step->kind == PLAN_BIND_MAYBE && (errno == ENOENT || errno == ENOTDIR))
      return -1;
    return fault_set (fault, errno, "cannot bind %s", step->source);
  }
  struct mount_attr attributes = {
      .attr_set = (layer_is_disabled (LAYER_READONLY) ? 0 : MOUNT_ATTR_RDONLY) | MOUNT_ATTR_NOSUID |
                  (device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV),
      .propagation = MS_PRIVATE,
  };
  if (sys_mount_setattr (fd, "", AT_EMPTY_PATH | (device ? 0u : (unsigned int)AT_RECURSIVE), &attributes,
                         sizeof attributes) < 0)
    return fault_set (fault, errno, "cannot make %s read-only", step->source);
  return fd_steal (&fd);
}

int
tree_open_sources (const struct plan *plan, int *fds, struct fault *fault)
{
  struct fault local = {0};
  for (size_t i = 0; i < plan->step_count; i++) {
    const struct plan_step *step = &plan->steps[i];
    fds[i] = -1;
    switch (step->kind) {
    case PLAN_BIND:
    case PLAN_BIND_MAYBE:
    case PLAN_BIND_REAL:
    case PLAN_DEVICE:
      fds[i] = open_bind (step, &local);
      break;
    case PLAN_COPY:
    case PLAN_TREE:
      fds[i] = open (step->source,
                     O_RDONLY | O_CLOEXEC | O_NONBLOCK | (step->kind == PLAN_TREE ? O_DIRECTORY : 0));
      if (fds[i] < 0 && errno != ENOENT && errno != ENOTDIR)
        fault_set (&local, errno, "cannot open %s", step->source);
      break;
    case PLAN_LINK:
    case PLAN_TEXT:
      break;
    }
    if (local.err) {
      while (i > 0)
        fd_close (&fds[--i]);
      *fault = local;
      return -local.err;
    }
  }
  return 0;
}

/* Makes the directories above TARGET (absolute) and opens the last of them. *RET_NAME is what follows. Links
 * are followed as if ROOT were the root, so a step may lie below /lib where that is a link. */
static int
tree_open_parent (int root, const char *target, char *buffer, size_t size, const char **ret_name,
                  struct fault *fault)
{
  while (*target == '/')
    target++;
  size_t length = strlen (target);
  if (length >= size)
    return fault_set (fault, ENAMETOOLONG, "cannot place %.100s", target);
  memcpy (buffer, target, length + 1);
  while (length > 0 && buffer[length - 1] == '/')
    buffer[--length] = '\0';

  autoclose int parent = sys_openat2 (root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_IN_ROOT);
  for (char *at = buffer; parent >= 0;) {
    char *slash = strchr (at, '/');
    if (!slash) {
      *ret_name = at;
      return fd_steal (&parent);
    }
    /* Up to the slash, from the root each time: a component may be a link that leads to another place in the
     * tree. */
    *slash = '\0';
    if (mkdirat (parent, at, 0755) < 0 && errno != EEXIST)
      return fault_set (fault, errno, "cannot make /%s in the new tree", buffer);
    int next = sys_openat2 (root, buffer, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_IN_ROOT);
    fd_close (&parent);
    parent = next;
    *slash = '/';
    at = slash + 1 + strspn (slash + 1, "/");
  }
  return fault_set (fault, errno, "cannot open the parent of /%s in the new tree", buffer);
}

/* The place to mount on: a directory or an empty file, as the source is. What is there already, will do. */
static int
tree_make_mount_point (int parent, const char *name, int source, struct fault *fault)
{
  struct stat info;
  if (fstat (source, &info) < 0)
    return fault_set (fault, errno, "cannot look at what is to be mounted on %s", name);
  if (S_ISDIR (info.st_mode)) {
    if (mkdirat (parent, name, 0755) < 0 && errno != EEXIST)
      return fault_set (fault, errno, "cannot make the directory %s in the new tree", name);
    return 0;
  }
  autoclose int file = openat (parent, name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (file < 0 && errno != EEXIST)
    return fault_set (fault, errno, "cannot make the file %s in the new tree", name);
  return 0;
}

static int
tree_carry_out (const struct plan_step *step, int root, int source, struct fault *fault)
{
  char buffer[4096];
  const char *name = "";
  bool needs_source = step->kind != PLAN_LINK && step->kind != PLAN_TEXT;
  if (needs_source && source < 0)
    return 0;
  int r = tree_open_parent (root, step->target, buffer, sizeof buffer, &name, fault);
  if (r < 0)
    return r;
  autoclose int parent = r;

  switch (step->kind) {
  case PLAN_BIND:
  case PLAN_BIND_MAYBE:
  case PLAN_BIND_REAL:
  case PLAN_DEVICE:
    r = tree_make_mount_point (parent, name, source, fault);
    return r < 0 ? r : mounts_attach (source, parent, name, fault);
  case PLAN_COPY:
    return copy_file (source, parent, name, fault);
  case PLAN_TREE:
    return copy_tree (source, parent, name, fault);
  case PLAN_LINK:
    if (symlinkat (step->source, parent, name) < 0)
      return fault_set (fault, errno, "cannot make the link %s", step->target);
    return 0;
  case PLAN_TEXT:
    return copy_text (step->source, parent, name, fault);
  }
  return fault_set (fault, EINVAL, "cannot carry out a step of an unknown kind");
}

static int
make_mount_points (int root, struct fault *fault)
{
  for (size_t i = 0; i < mount_points_count; i++) {
    const struct mount_point *point = &mount_points[i];
    int r = point->link ? symlinkat (point->link, root, point->path) : mkdirat (root, point->path, 0755);
    if (r < 0 && errno != EEXIST)
      return fault_set (fault, errno, "cannot make /%s in the new tree", point->path);
  }
  return 0;
}

/* Sandboxes can have a fresh procfs only while a whole one is in sight, so the zygote keeps one. Where the
 * host's is masked (inside most containers) a new one is refused; its own, masks and all, then serves the
 * zygote, and sandboxes have none. */
static int
attach_proc (int root, struct fault *fault)
{
  autoclose int fd = -1;
  autoclose int context = sys_fsopen ("proc", FSOPEN_CLOEXEC);
  if (context >= 0 && sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    fd = sys_fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (fd < 0 && errno == EPERM)
    fd = sys_open_tree (AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (unsigned int)AT_RECURSIVE);
  if (fd < 0)
    return fault_set (fault, errno, "cannot make a procfs");
  return mounts_attach (fd, root, "proc", fault);
}

static int
attach_tmp (int root, struct fault *fault)
{
  autoclose int fd = -1;
  int r = mounts_tmpfs (ZYGOTE_TMP_BYTES, ZYGOTE_TMP_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &fd, fault);
  return r < 0 ? r : mounts_attach (fd, root, "tmp", fault);
}

int
tree_become_root (int root, struct fault *fault)
{
  struct mount_attr attributes = {.attr_set = layer_is_disabled (LAYER_READONLY) ? 0 : MOUNT_ATTR_RDONLY};
  if (sys_mount_setattr (root, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return fault_set (fault, errno, "cannot make the new root read-only");
  if (fchdir (root) < 0)
    return fault_set (fault, errno, "cannot enter the new root");
  if (sys_pivot_root (".", ".") < 0)
    return fault_set (fault, errno, "cannot make the new tree the root");
  /* The old root now lies over the new one; there may be more than one layer of it. */
  int layers = 0;
  while (umount2 (".", MNT_DETACH) == 0)
    layers++;
  if (errno != EINVAL || layers == 0)
    return fault_set (fault, errno, "cannot unmount the old root");
  if (chdir ("/") < 0)
    return fault_set (fault, errno, "cannot change to the new root");
  return 0;
}

int
tree_build (const struct plan *plan, int *fds, struct fault *fault)
{
  autoclose int root = -1;
  int r = mounts_tmpfs (ROOT_BYTES, ROOT_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, fault);
  /* It must be attached before anything can be attached to it. */
  if (r == 0)
    r = mounts_attach (root, AT_FDCWD, "/", fault);
  if (r == 0)
    r = make_mount_points (root, fault);
  for (size_t i = 0; i < plan->step_count; i++) {
    if (r == 0)
      r = tree_carry_out (&plan->steps[i], root, fds[i], fault);
    fd_close (&fds[i]);
  }
  if (r == 0)
    r = attach_proc (root, fault);
  if (r == 0)
    r = attach_tmp (root, fault);
  if (r == 0)
    r = tree_become_root (root, fault);
  return r;
}
