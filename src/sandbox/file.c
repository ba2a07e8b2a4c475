/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/capabilities.h"
#include "sandbox/idmap.h"
#include "sandbox/mounts.h"
#include "sandbox/namespaces.h"

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* Of the tmpfs in which the overlay is put together: its root and directories. */
#define SCRATCH_BYTES 4096
#define SCRATCH_FILES 8
static const char *const scratch_directories[] = {"lower", "empty", "overlay"};

/* Of descriptors with the same one, inode numbers tell files apart. */
static int
look_at_mount (int fd, uint64_t *ret_id, struct fault *fault)
{
  struct statx seen;
  if (statx (fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &seen) < 0 || !(seen.stx_mask & STATX_MNT_ID))
    return fault_set (fault, errno ? errno : ENOSYS, "cannot find out on which mount the file is");
  *ret_id = seen.stx_mnt_id;
  return 0;
}

/* The current directory is then the one that the file is in, which the kernel leads over to the copies of the
 * mounts in a new namespace: no path is looked up a second time. The path itself proves nothing, as somebody
 * may put another thing in its place at any time: so the directory must be of the file's mount, and at the
 * end the file that it has is held against the one that was given. */
static int
enter_directory (int file_fd, char path[PATH_MAX], const char **ret_name, struct fault *fault)
{
  char link[64];
  uint64_t mount = 0, own = 0;
  snprintf (link, sizeof link, "/proc/self/fd/%d", file_fd);
  ssize_t length = readlink (link, path, PATH_MAX - 1);
  if (length < 0)
    return fault_set (fault, errno, "cannot find out where the file is");
  path[length] = '\0';
  char *slash = strrchr (path, '/');
  if (path[0] != '/' || !slash)
    return fault_set (fault, ENOENT, "the file has no path that Adder sees");
  *slash = '\0';
  autoclose int directory = open (slash == path ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || fchdir (directory) < 0)
    return fault_set (fault, errno, "cannot enter the directory of the file");
  int r = look_at_mount (file_fd, &mount, fault);
  if (r == 0)
    r = look_at_mount (directory, &own, fault);
  if (r == 0 && mount != own)
    r = fault_set (fault, EXDEV, "the file is not on the mount of its directory");
  if (r == 0)
    *ret_name = slash + 1;
  return r;
}

/* Mount namespaces of our own, in which what is attached shows to nobody. Who has no right to mount gets it
 * from a user namespace. */
static int
file_leave (const struct file_wish *wish, struct fault *fault)
{
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  if (unshare (CLONE_NEWNS | (wish->assume ? 0 : CLONE_NEWUSER)) < 0)
    return fault_set (fault, errno, "cannot make a mount namespace to bind-mount the file from");
  if (!wish->assume) {
    autoclose int proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = proc < 0 ? fault_set (fault, errno, "cannot open /proc")
                     : namespaces_map (proc, "self", uid, uid, gid, gid, fault);
    if (r < 0)
      return r;
  }
  if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return fault_set (fault, errno, "cannot make all mounts private");
  return 0;
}

/* A mount of the current directory. */
static int
clone_directory (const struct stat *file, const struct file_wish *wish, int *ret_fd, struct fault *fault)
{
  /* Not every file system has mounts with maps. */
  bool map = wish->assume && !(file->st_mode & S_IROTH);
  struct stat above;
  autoclose int map_fd = -1;
  autoclose int fd = sys_open_tree (AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0 || stat (".", &above) < 0)
    return fault_set (fault, errno, "cannot take the file's directory out of its file system");
  const struct idmap ids = {
      .host_uid = file->st_uid,
      .sandbox_uid = wish->sandbox_uid,
      .same_uid = above.st_uid,
      .host_gid = file->st_gid,
      .sandbox_gid = wish->sandbox_gid,
      .same_gid = above.st_gid,
  };
  int r = map ? idmap_make (&ids, &map_fd, fault) : 0;
  if (r < 0)
    return r;
  struct mount_attr attributes = {
      .attr_set = (layer_is_disabled (LAYER_BIND) ? 0 : READ_ONLY) | (map ? MOUNT_ATTR_IDMAP : 0),
      .userns_fd = map ? (uint64_t)map_fd : 0,
  };
  if (sys_mount_setattr (fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return fault_set (fault, errno,
                      map ? "cannot map the ids of the file's file system"
                          : "cannot protect the mount of the file");
  *ret_fd = fd_steal (&fd);
  return 0;
}

/* An overlay makes up device numbers of its own, and inode numbers alone do not tell the subvolumes of btrfs
 * apart. In one directory they do: no file is moved into it from another subvolume. */
static int
file_check_place (int lower_fd, const char *name, const struct stat *file, struct fault *fault)
{
  struct stat seen;
  if (fstatat (lower_fd, name, &seen, AT_SYMLINK_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot find the file where it was opened");
  if (seen.st_dev != file->st_dev || seen.st_ino != file->st_ino)
    return fault_set (fault, ESTALE, "another file is now in the place where the file was opened");
  return 0;
}

/* The current directory is then a tmpfs with the mount LOWER_FD in it. It is put over the root, which every
 * host has and no lookup of ours sees. */
static int
enter_scratch (int lower_fd, struct fault *fault)
{
  autoclose int fd = -1;
  int r = mounts_tmpfs (SCRATCH_BYTES, SCRATCH_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &fd, fault);
  if (r == 0)
    r = mounts_attach (fd, AT_FDCWD, "/", fault);
  if (r < 0)
    return r;
  if (fchdir (fd) < 0)
    return fault_set (fault, errno, "cannot change to a tmpfs");
  for (size_t i = 0; i < sizeof scratch_directories / sizeof scratch_directories[0]; i++)
    if (mkdir (scratch_directories[i], 0755) < 0)
      return fault_set (fault, errno, "cannot make %s in a tmpfs", scratch_directories[i]);
  return mounts_attach (lower_fd, AT_FDCWD, "lower", fault);
}

static int
file_make_overlay (int *ret_fd, struct fault *fault)
{
  static const struct mounts_overlay overlay = {
      .what = "the file's directory", .lower = "lower:empty", .attributes = READ_ONLY};
  autoclose int fd = -1;
  int r = mounts_make_overlay (&overlay, &fd, fault);
  if (r == 0)
    r = mounts_attach (fd, AT_FDCWD, "overlay", fault);
  if (r == 0)
    *ret_fd = fd_steal (&fd);
  return r;
}

/* Takes on what rights the sandbox has. */
static int
file_become_sandbox (const struct file_wish *wish, struct fault *fault)
{
  if (!wish->assume)
    return capabilities_clear (fault);
  if (setgroups (0, NULL) < 0 || setresgid (wish->sandbox_gid, wish->sandbox_gid, wish->sandbox_gid) < 0 ||
      setresuid (wish->sandbox_uid, wish->sandbox_uid, wish->sandbox_uid) < 0)
    return fault_set (fault, errno, "cannot become the user of the sandbox");
  return 0;
}

/* Inode numbers are the lower layer's, and an overlay does not leave the mount of a layer. */
static int
file_check_readable (int mount_fd, const struct stat *file, struct fault *fault)
{
  struct stat seen;
  char byte, path[64];
  if (fstat (mount_fd, &seen) < 0 || !S_ISREG (seen.st_mode) || seen.st_ino != file->st_ino)
    return fault_set (fault, ESTALE, "another file is now in the place where the file was opened");
  snprintf (path, sizeof path, "/proc/self/fd/%d", mount_fd);
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || pread (fd, &byte, 1, 0) < 0)
    return fault_set (fault, errno, "the sandbox could not read the file in its place");
  return 0;
}

int
file_detach (int file_fd, const struct file_wish *wish, int *ret_mount_fd, struct fault *fault)
{
  char path[PATH_MAX];
  const char *name = "";
  struct stat file;
  autoclose int lower_fd = -1, overlay_fd = -1, mount_fd = -1;
  if (fstat (file_fd, &file) < 0 || !S_ISREG (file.st_mode))
    return fault_set (fault, EINVAL, "cannot bind-mount what is no regular file");
  int r = enter_directory (file_fd, path, &name, fault);
  if (r == 0)
    r = file_leave (wish, fault);
  if (r == 0)
    r = clone_directory (&file, wish, &lower_fd, fault);
  if (r == 0)
    r = file_check_place (lower_fd, name, &file, fault);
  if (r == 0)
    r = enter_scratch (lower_fd, fault);
  if (r == 0)
    r = file_make_overlay (&overlay_fd, fault);
  if (r < 0)
    return r;
  mount_fd = sys_open_tree (layer_is_disabled (LAYER_BIND) ? lower_fd : overlay_fd, name,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
  if (mount_fd < 0)
    return fault_set (fault, errno, "cannot find the file where it was opened");
  r = file_become_sandbox (wish, fault);
  if (r == 0)
    r = file_check_readable (mount_fd, &file, fault);
  if (r == 0)
    *ret_mount_fd = fd_steal (&mount_fd);
  return r;
}
