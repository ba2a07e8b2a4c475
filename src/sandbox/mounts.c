/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/own_path.h"
#include "sandbox/procfs.h"
#include "sandbox/terminals.h"

enum mount_kind {
  MOUNT_PROC,
  MOUNT_SHM,
  MOUNT_TERMINALS,
  MOUNT_WORKSPACE, /* the workspace itself, attached so that its parts can be cloned: see below */
  MOUNT_OVERLAYS,  /* of what was bind-mounted and shall not be written to: made, and mounted by the steps
                      after it */
  MOUNT_OWN_ROOT,  /* a root of its own, for the work directory's own path */
  MOUNT_PLACE,     /* a directory of the workspace, or what was bind-mounted in its place */
  MOUNT_SINGLE,    /* single files that were bind-mounted, in these places */
  MOUNT_OWN_PATH,  /* that path, where there is no such root */
};

static const struct mount_step {
  enum mount_kind kind;
  const char *target;
  const char *part; /* of the workspace: path from its root */
} sandbox_mounts[] = {
    /* A clone of a directory can be made only of a mount that is in our namespace (a detached one will do
     * from Linux 6.15). So the whole workspace goes to /work first and /work/work then over it; the nested
     * user namespace locks the pile. */
    {.kind = MOUNT_WORKSPACE, .target = "/work"},
    {.kind = MOUNT_PROC, .target = "/proc"}, /* which has a file of the workspace's */
    {.kind = MOUNT_SHM, .target = "/dev/shm"},
    {.kind = MOUNT_TERMINALS, .target = "/dev/pts"},
    {.kind = MOUNT_OVERLAYS, .target = "/tmp"},
    {.kind = MOUNT_OWN_ROOT, .target = "/"},
    {.kind = MOUNT_PLACE, .target = "/tmp", .part = "tmp"},
    {.kind = MOUNT_PLACE, .target = "/work", .part = "work"},
    {.kind = MOUNT_SINGLE, .target = "/"},
    {.kind = MOUNT_OWN_PATH, .target = "/"},
};

/* What may be bind-mounted: whose place it takes, and where an overlay of it keeps what is changed. In the
 * sandbox's eyes while it makes one: the workspace is at /work. Of inputs that is the place itself, so that
 * the daemon finds there what the code made, be it new or a changed input.
 *
 * What may not be changed gets an overlay as well, with no upper layer: a mount of the directory itself,
 * though read-only, would have the host's sockets, pipes and locks in it. */
static const struct bind_row {
  const char *what;
  const char *part;
  const char *upper, *own;
} bind_table[MOUNTS_PLACES] = {
    [MOUNTS_DIRECTORY] = {"the work directory", "work", "/work/" MOUNTS_UPPER, "/work/overlay"},
    [MOUNTS_INPUTS_WORK] = {"the files for /work", "work", "/work/work", "/work/overlay-work"},
    [MOUNTS_INPUTS_TMP] = {"the files for /tmp", "tmp", "/work/tmp", "/work/overlay-tmp"},
};

const struct mount_point mount_points[] = {
    {"proc", NULL},           {"dev", NULL}, {"dev/shm", NULL}, {"dev/pts", NULL},
    {"dev/ptmx", "pts/ptmx"}, {"tmp", NULL}, {"work", NULL},    {"workspace", "work"},
};
const size_t mount_points_count = sizeof mount_points / sizeof mount_points[0];

/* Directories that the workspace starts with, beside its root and one file of a page (procfs.h); none of this
 * is taken from the limits. */
static const struct {
  const char *path;
  unsigned of; /* enum mounts_workspace_of; 0: all */
} workspace_directories[] = {
    {"work", 0},
    {"tmp", 0},
    {"tmp/output", 0},
    {"branches", MOUNTS_OF_SESSION}, /* places.h */
    {MOUNTS_UPPER, MOUNTS_OF_OVERLAY},
    {"overlay", MOUNTS_OF_OVERLAY},
    {"overlay-work", MOUNTS_OF_INPUTS_WORK},
    {"overlay-tmp", MOUNTS_OF_INPUTS_TMP},
};
#define DIRECTORIES (sizeof workspace_directories / sizeof workspace_directories[0])

/* A file costs the kernel about 1 KiB that no size= counts. */
#define SHM_FILES 1024

int
mounts_tmpfs (uint64_t size, uint64_t inodes, uint64_t attributes, int *ret_fd, struct fault *fault)
{
  char text[32];
  autoclose int context = sys_fsopen ("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0)
    return fault_set (fault, errno, "cannot open a tmpfs");
  snprintf (text, sizeof text, "%llu", (unsigned long long)size);
  if (sys_fsconfig (context, FSCONFIG_SET_STRING, "size", text, 0) < 0)
    return fault_set (fault, errno, "cannot make a tmpfs of %s bytes", text);
  snprintf (text, sizeof text, "%llu", (unsigned long long)inodes);
  if (sys_fsconfig (context, FSCONFIG_SET_STRING, "nr_inodes", text, 0) < 0)
    return fault_set (fault, errno, "cannot make a tmpfs of %s files", text);
  if (sys_fsconfig (context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
      sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return fault_set (fault, errno, "cannot create a tmpfs");
  int fd = sys_fsmount (context, FSMOUNT_CLOEXEC, (unsigned int)attributes);
  if (fd < 0)
    return fault_set (fault, errno, "cannot mount a tmpfs");
  *ret_fd = fd;
  return 0;
}

int
mounts_attach (int fd, int directory, const char *path, struct fault *fault)
{
  if (sys_move_mount (fd, "", directory, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
    return fault_set (fault, errno, "cannot mount on %s", path);
  return 0;
}

int
mounts_shm (const struct limits *limits, int *ret_fd, struct fault *fault)
{
  return mounts_tmpfs (limits->value[LIMIT_SHM],
                       layer_is_disabled (LAYER_WORKSPACE) ? limits->value[LIMIT_WORKSPACE_FILES] : SHM_FILES,
                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, ret_fd, fault);
}

static bool
is_needed (size_t directory, unsigned of)
{
  return workspace_directories[directory].of == 0 || (workspace_directories[directory].of & of);
}

/* Of the limit that most runs have. The daemon, which may be its owner, puts another one's in its place. */
static int
make_meminfo (int workspace, struct fault *fault)
{
  char text[PROCFS_MEMINFO_ROOM];
  autoclose int fd = openat (workspace, PROCFS_MEMINFO, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  int r =
      fd < 0 ? -errno : fd_write_all (fd, text, procfs_meminfo (limit_table[LIMIT_MEMORY].standard, text));
  return r < 0 ? fault_set (fault, -r, "cannot write " PROCFS_MEMINFO " in the workspace") : 0;
}

int
mounts_make_workspace (const struct limits *limits, unsigned of, int *ret_fd, struct fault *fault)
{
  autoclose int fd = -1;
  size_t count = 1; /* the file */
  for (size_t i = 0; i < DIRECTORIES; i++)
    count += is_needed (i, of);
  int r = mounts_tmpfs (limits->value[LIMIT_WORKSPACE] + (uint64_t)sysconf (_SC_PAGESIZE),
                        limits->value[LIMIT_WORKSPACE_FILES] + 1 + count,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (of & MOUNTS_INERT ? MOUNT_ATTR_NOEXEC : 0),
                        &fd, fault);
  if (r < 0)
    return r;
  for (size_t i = 0; i < DIRECTORIES; i++)
    if (is_needed (i, of) && mkdirat (fd, workspace_directories[i].path, 0755) < 0)
      return fault_set (fault, errno, "cannot make %s in the workspace", workspace_directories[i].path);
  r = make_meminfo (fd, fault);
  if (r == 0)
    *ret_fd = fd_steal (&fd);
  return r;
}

/* A new procfs in a user namespace is allowed only while another one, whole, is in sight
 * (mount_too_revealing). So the new one is made first, then the zygote's goes, then the new one comes in its
 * place. The workspace is not covered yet. */
static int
enter_proc (const struct mount_step *step, bool *ret_fresh, struct fault *fault)
{
  autoclose int fd = -1, context = -1;
  autoclose int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return fault_set (fault, errno, "cannot open the root");
  int r = procfs_make (&fd, &context, fault);
  if (r < 0)
    return r;
  if (umount2 (step->target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot unmount the zygote's %s", step->target);
  if (fd >= 0)
    r = procfs_attach (fd, context, root, "work/" PROCFS_MEMINFO, fault);
  if (r == 0)
    *ret_fresh = fd >= 0;
  return r;
}

int
mounts_make_overlay (const struct mounts_overlay *overlay, int *ret_fd, struct fault *fault)
{
  const struct {
    const char *name, *value;
  } options[] = {{"lowerdir", overlay->lower}, {"upperdir", overlay->upper}, {"workdir", overlay->own}};
  autoclose int context = sys_fsopen ("overlay", FSOPEN_CLOEXEC);
  if (context < 0 || sys_fsconfig (context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
    return fault_set (fault, errno, "cannot make an overlay of %s", overlay->what);
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (options[i].value &&
        sys_fsconfig (context, FSCONFIG_SET_STRING, options[i].name, options[i].value, 0) < 0)
      return fault_set (fault, errno, "cannot set %s of an overlay", options[i].name);
  if (sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return fault_set (fault, errno, "cannot make an overlay of %s", overlay->what);
  int fd = sys_fsmount (context, FSMOUNT_CLOEXEC, overlay->attributes);
  if (fd < 0)
    return fault_set (fault, errno, "cannot mount an overlay of %s", overlay->what);
  *ret_fd = fd;
  return 0;
}

/* What the steps have made for those that follow. */
struct made {
  int overlay_fd[MOUNTS_PLACES]; /* of each that is bind-mounted: its overlay, -1 where it has none */
  bool own_root; /* there will be one, which leaves behind what is mounted on /proc and /tmp */
  bool fresh_proc;
};

/* The overlay of the mount LOWER_FD, which for the moment is at TARGET: the kernel keeps a clone of its own,
 * and wants paths. The directory of the workspace that is left out for what is bind-mounted is empty: the
 * second layer of what has no upper one. */
static int
make_overlay (const struct mounts_given *given, int which, const char *target, struct made *made,
              struct fault *fault)
{
  const struct bind_row *row = &bind_table[which];
  bool read_only = which == MOUNTS_DIRECTORY && given->read_only;
  char both[PATH_MAX];
  snprintf (both, sizeof both, "%s:/work/%s", target, row->part);
  const struct mounts_overlay overlay = {
      .what = row->what,
      .lower = read_only ? both : target,
      .upper = read_only ? NULL : row->upper,
      .own = read_only ? NULL : row->own,
      .attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0) |
                    (given->inert ? MOUNT_ATTR_NOEXEC : 0),
  };
  int r = mounts_attach (given->bind_fd[which], AT_FDCWD, target, fault);
  if (r == 0)
    r = mounts_make_overlay (&overlay, &made->overlay_fd[which], fault);
  if (r == 0 && !made->own_root && umount2 (target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
    r = fault_set (fault, errno, "cannot take %s from %s", row->what, target);
  return r;
}

static int
make_overlays (const struct mounts_given *given, const char *target, struct made *made, struct fault *fault)
{
  int r = 0;
  for (int i = 0; i < MOUNTS_PLACES && r == 0; i++) {
    bool wanted =
        i != MOUNTS_DIRECTORY || ((given->overlay || given->read_only) && !layer_is_disabled (LAYER_BIND));
    if (given->bind_fd[i] >= 0 && wanted)
      r = make_overlay (given, i, target, made, fault);
  }
  return r;
}

static int
attach_place (const struct mounts_given *given, const struct made *made, const struct mount_step *step,
              struct fault *fault)
{
  for (int i = 0; i < MOUNTS_PLACES; i++)
    if (given->bind_fd[i] >= 0 && strcmp (bind_table[i].part, step->part) == 0)
      return mounts_attach (made->overlay_fd[i] >= 0 ? made->overlay_fd[i] : given->bind_fd[i], AT_FDCWD,
                            step->target, fault);
  autoclose int fd = sys_open_tree (given->workspace_fd, step->part, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take %s of the workspace", step->part);
  return mounts_attach (fd, AT_FDCWD, step->target, fault);
}

int
mounts_make_parents (int root, const char *path, struct fault *fault)
{
  char directory[PATH_MAX];
  for (const char *slash = path; (slash = strchr (slash, '/')); slash++) {
    snprintf (directory, sizeof directory, "%.*s", (int)(slash - path), path);
    if (mkdirat (root, directory, 0755) < 0 && errno != EEXIST)
      return fault_set (fault, errno, "cannot make the directory of what is bind-mounted");
  }
  return 0;
}

/* An empty file where PATH is to be, for a mount to be put on, in directories that are made as needed. */
static int
mounts_make_mount_point (int root, const char *path, struct fault *fault)
{
  int r = mounts_make_parents (root, path, fault);
  if (r < 0)
    return r;
  autoclose int fd = openat (root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  return fd < 0 ? fault_set (fault, errno, "cannot make the place of a file that is bind-mounted") : 0;
}

/* Nobody has written here yet: there are no links to be led astray by. */
static int
attach_files (const struct mounts_given *given, const char *target, struct fault *fault)
{
  autoclose int root = open (target, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int r = root < 0 ? fault_set (fault, errno, "cannot open %s", target) : 0;
  for (int i = 0; i < MOUNTS_FILES && r == 0; i++) {
    if (given->bind_fd[MOUNTS_FILE + i] < 0)
      continue;
    r = mounts_make_mount_point (root, given->file_path[i], fault);
    if (r == 0)
      r = mounts_attach (given->bind_fd[MOUNTS_FILE + i], root, given->file_path[i], fault);
  }
  return r;
}

static int
mounts_take_step (const struct mount_step *step, const struct limits *limits,
                  const struct mounts_given *given, struct made *made, struct fault *fault)
{
  autoclose int fd = -1;
  int r;
  switch (step->kind) {
  case MOUNT_PROC:
    return made->own_root || layer_is_disabled (LAYER_PROC) ? 0 : enter_proc (step, &made->fresh_proc, fault);
  case MOUNT_SHM:
    r = mounts_shm (limits, &fd, fault);
    return r < 0 ? r : mounts_attach (fd, AT_FDCWD, step->target, fault);
  case MOUNT_TERMINALS:
    r = terminals_make (&fd, fault);
    return r < 0 || fd < 0 ? r : mounts_attach (fd, AT_FDCWD, step->target, fault);
  case MOUNT_WORKSPACE:
    return mounts_attach (given->workspace_fd, AT_FDCWD, step->target, fault);
  case MOUNT_OVERLAYS:
    return make_overlays (given, step->target, made, fault);
  case MOUNT_OWN_ROOT:
    return made->own_root ? own_path_enter (given->own_path, given->workspace_fd, &made->fresh_proc, fault)
                          : 0;
  case MOUNT_PLACE:
    return attach_place (given, made, step, fault);
  case MOUNT_SINGLE:
    return attach_files (given, step->target, fault);
  case MOUNT_OWN_PATH:
    return given->own_path && !made->own_root ? own_path_place (given->own_path, fault) : 0;
  }
  return fault_set (fault, EINVAL, "there is no such step of mounting");
}

int
mounts_enter (const struct limits *limits, const struct mounts_given *given, bool *ret_fresh_proc,
              struct fault *fault)
{
  struct made made = {.overlay_fd = {-1, -1, -1}};
  int r = given->own_path ? own_path_needs_root (given->own_path, &made.own_root, fault) : 0;
  for (size_t i = 0; i < sizeof sandbox_mounts / sizeof sandbox_mounts[0] && r == 0; i++)
    r = mounts_take_step (&sandbox_mounts[i], limits, given, &made, fault);
  for (int i = 0; i < MOUNTS_PLACES; i++)
    fd_close (&made.overlay_fd[i]);
  if (r == 0)
    *ret_fresh_proc = made.fresh_proc;
  return r;
}
