/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/files/bind_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/host/launcher.h"
#include "runner/wire.h"
#include "sandbox/directory.h"

/* A mount is made within milliseconds. */
#define BIND_MOUNT_WAIT_MS 10000

gboolean
bind_mount_check (const struct host *host, enum isolation isolation, const char *what, GError **error)
{
  if (isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_autoptr (GError) why = NULL;
  (void)host_check (host, ISOLATION_NAMESPACES, 0, &why);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "%s needs a sandbox with mounts of its own, and isolation \"%s\" has none%s%s", what,
               isolation_names[isolation], why ? ": " : "", why ? why->message : "");
  return FALSE;
}

/* The launcher's one answer. */
static gboolean
bind_mount_take_answer (int socket, const char *what, int *ret_mount_fd, GError **error)
{
  union {
    struct wire_control_header header;
    struct wire_refused refused;
  } answer = {0};
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  gsize count = 0;
  int fd = -1, r;
  do
    r = poll (&ready, 1, BIND_MOUNT_WAIT_MS);
  while (r < 0 && errno == EINTR);
  gssize got =
      r > 0 ? fd_receive_flags (socket, &answer, sizeof answer, MSG_DONTWAIT, &fd, 1, &count) : -ETIMEDOUT;
  if (got == (gssize)sizeof answer.refused && answer.header.kind == WIRE_REFUSED) {
    answer.refused.fault.step[FAULT_STEP_BYTES - 1] = '\0';
    return error_from_fault (&answer.refused.fault, error);
  }
  if (got == (gssize)sizeof answer.header && answer.header.kind == WIRE_BIND_MOUNT && count == 1) {
    *ret_mount_fd = fd;
    return TRUE;
  }
  if (count == 1)
    fd_close (&fd);
  return error_from_errno (error, got < 0 ? (int)-got : EPROTO, "no mount of %s was made", what);
}

/* Root's sandboxes are another user's: the mount says that their files are theirs. */
static char **
bind_mount_arguments_of (const struct host *host, const char *word)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  const struct workspace_owner *owner = &host->owner;
  g_ptr_array_add (list, g_strdup ("adder-zygote"));
  g_ptr_array_add (list, g_strdup (WIRE_BIND));
  g_ptr_array_add (list, g_strdup (word));
  if (owner->assume) {
    const guint ids[] = {geteuid (), owner->uid, getegid (), owner->gid};
    for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
      g_ptr_array_add (list, g_strdup_printf ("%u", ids[i]));
  }
  g_ptr_array_add (list, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&list), FALSE);
}

/* WORD is one of wire.h's. */
static gboolean
bind_mount_make (const struct host *host, int fd, const char *word, const char *what,
                 struct bind_mount *ret_bind_mount, GError **error)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return error_from_errno (error, errno, "cannot make a socket");
  autoclose int ours = ends[0];
  autoclose int theirs = ends[1];
  const struct launcher_fd fds[] = {{theirs, WIRE_LAUNCH_CONTROL}, {fd, WIRE_BIND_FD}};
  g_auto (GStrv) arguments = bind_mount_arguments_of (host, word);
  struct bind_mount bind_mount;
  if (!launcher_start (host->launcher, arguments, fds, G_N_ELEMENTS (fds), &bind_mount.launcher_fd, error))
    return FALSE;
  /* So that its end ends the wait. */
  fd_close (&theirs);
  if (bind_mount_take_answer (ours, what, &bind_mount.mount_fd, error)) {
    *ret_bind_mount = bind_mount;
    return TRUE;
  }
  launcher_reap (&bind_mount.launcher_fd, "the launcher of a bind mount");
  return FALSE;
}

gboolean
bind_mount_directory (const struct host *host, int directory_fd, gboolean writable, const char *what,
                      struct bind_mount *ret_bind_mount, GError **error)
{
  return bind_mount_make (host, directory_fd, writable ? WIRE_BIND_WRITE : WIRE_BIND_READ, what,
                          ret_bind_mount, error);
}

gboolean
bind_mount_file (const struct host *host, int file_fd, const char *name, struct bind_mount *ret_bind_mount,
                 GError **error)
{
  return bind_mount_make (host, file_fd, WIRE_BIND_FILE, name, ret_bind_mount, error);
}

/* ---- to containers ---- */

/* What is no file of anybody's, but tells of the kernel, or commands it. */
static gboolean
is_of_kernel (int fd)
{
  static const guint64 kinds[] = {
      PROC_SUPER_MAGIC,
      SYSFS_MAGIC,
      CGROUP_SUPER_MAGIC,
      CGROUP2_SUPER_MAGIC,
      DEBUGFS_MAGIC,
      TRACEFS_MAGIC,
      SECURITYFS_MAGIC,
      BPF_FS_MAGIC,
      DEVPTS_SUPER_MAGIC,
      EFIVARFS_MAGIC,
      BINFMTFS_MAGIC,
      NSFS_MAGIC,
      PSTOREFS_MAGIC,
      SELINUX_MAGIC,
      SMACK_MAGIC,
      HUGETLBFS_MAGIC,
      RDTGROUP_SUPER_MAGIC,
      0x62656570 /* configfs */,
      0x19800202 /* mqueue */,
      0x65735543 /* fusectl */,
  };
  struct statfs info;
  struct stat st, devices;
  if (fstatfs (fd, &info) < 0 || fstat (fd, &st) < 0)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if ((guint64)info.f_type == kinds[i])
      return TRUE;
  /* It calls itself a tmpfs. */
  return stat ("/dev", &devices) == 0 && devices.st_dev == st.st_dev;
}

/* By its path the engine shall find it. */
static gboolean
has_path (int fd)
{
  struct stat own, found;
  g_autofree char *path = bind_mount_path (fd);
  return path && g_utf8_validate (path, -1, NULL) && fstat (fd, &own) == 0 && lstat (path, &found) == 0 &&
         own.st_dev == found.st_dev && own.st_ino == found.st_ino;
}

static gboolean
check_bindable (int fd, GError **error)
{
  struct fault fault = {0};
  const char *why = is_of_kernel (fd) ? "it is of a file system of the kernel's own"
                    : faccessat (fd, "", R_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0
                        ? "its files are not for the user of this daemon to read"
                    : !has_path (fd) ? "it has no path that an engine could be told"
                                     : NULL;
  if (!why && directory_check_alone (fd, &fault) < 0)
    why = fault.step;
  if (why)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "a container cannot have it: %s", why);
  return !why;
}

char *
bind_mount_path (int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  return g_file_read_link (link, NULL);
}

gboolean
bind_mount_for_container (const struct host *host, int directory_fd, gboolean writable,
                          struct bind_mount *ret_bind_mount, GError **error)
{
  if (host->owner.assume)
    return bind_mount_directory (host, directory_fd, writable, "the work directory", ret_bind_mount, error);
  if (!check_bindable (directory_fd, error))
    return FALSE;
  int own = fcntl (directory_fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0)
    return error_from_errno (error, errno, "cannot keep the work directory");
  *ret_bind_mount = (struct bind_mount){.mount_fd = own, .launcher_fd = -1};
  return TRUE;
}

gboolean
bind_mount_is_same (int fd, int other_fd, gboolean read_only, GError **error)
{
  struct stat own, other;
  struct statvfs info;
  if (fstat (fd, &own) < 0 || fstat (other_fd, &other) < 0 || fstatvfs (other_fd, &info) < 0)
    return error_from_errno (error, errno, "cannot look at the directory that a container was given");
  if (own.st_dev != other.st_dev || own.st_ino != other.st_ino) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                         "the container was given another directory than the work directory, which was moved "
                         "or replaced meanwhile, or the engine sees other mounts than Adder");
    return FALSE;
  }
  if (!read_only || (info.f_flag & ST_RDONLY))
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                       "the container can write to the work directory, which was bind-mounted read-only");
  return FALSE;
}
