/* SPDX-License-Identifier: Apache-2.0 */
#include "each_call.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES    5 /* of the way to a call, the first two this file's */
#define TIMES_MAX 5000

int __real_fstatfs64 (int fd, struct statfs *info);

static struct {
  GMutex lock;
  GHashTable *seen; /* ways on which a call failed already */
  GThread *thread;  /* whose calls fail; NULL: all */
  pid_t pid;        /* a fork's own calls do not: nobody would hear of it */
  int armed;        /* read without the lock */
  enum call_fault kind;
  const char *failed; /* the call that did, this time */
} failing;

/* What a call can do: words of a row below. */
enum { PLAIN = 0, WRITES = 1, WAITS = 2, READS = 4 };

static int
errno_of (int traits)
{
  switch (failing.kind) {
  case CALL_FULL:
    return traits & WRITES ? ENOSPC : 0;
  case CALL_INTERRUPTED:
    return traits & WAITS ? EINTR : 0;
  case CALL_SHORT:
    return traits & READS ? -1 : 0;
  default:
    return EIO;
  }
}

/* The ways are told apart by hash: two that collide are one. */
static gboolean
is_new_way (void)
{
  void *frames[FRAMES];
  int count = backtrace (frames, FRAMES);
  guint64 hash = 14695981039346656037U;
  for (int i = 1; i < count; i++)
    hash = (hash ^ (guint64)(guintptr)frames[i]) * 1099511628211U;
  return g_hash_table_add (failing.seen, GSIZE_TO_POINTER (hash));
}

/* Whether this call is to fail: with errno, or with nothing more (errno 0). */
static gboolean
fails (const char *name, int traits)
{
  if (!g_atomic_int_get (&failing.armed) || failing.pid != getpid ())
    return FALSE;
  int before = errno;
  g_mutex_lock (&failing.lock);
  int err = errno_of (traits);
  gboolean yes =
      err && failing.armed && (!failing.thread || failing.thread == g_thread_self ()) && is_new_way ();
  if (yes) {
    failing.failed = name;
    g_atomic_int_set (&failing.armed, FALSE);
  }
  g_mutex_unlock (&failing.lock);
  errno = yes ? MAX (err, 0) : before;
  return yes;
}

/* No signal interrupts what reads from these. */
static gboolean
is_of_kernel (int fd)
{
  struct statfs info;
  return g_atomic_int_get (&failing.armed) && __real_fstatfs64 (fd, &info) == 0 &&
         (info.f_type == PROC_SUPER_MAGIC || info.f_type == CGROUP_SUPER_MAGIC ||
          info.f_type == CGROUP2_SUPER_MAGIC);
}

/* ---- the calls ---- */

/* A call that gives -1 and errno where it fails, and 0 at an end. */
#define CALL(type, name, parameters, arguments, traits)                                                      \
  type __real_##name parameters;                                                                             \
  type __wrap_##name parameters;                                                                             \
  type __wrap_##name parameters                                                                              \
  {                                                                                                          \
    return fails (#name, traits) ? (type)(errno ? -1 : 0) : __real_##name arguments;                         \
  }

/* One that gives NULL and errno. */
#define CALL_NULL(type, name, parameters, arguments)                                                         \
  type __real_##name parameters;                                                                             \
  type __wrap_##name parameters;                                                                             \
  type __wrap_##name parameters                                                                              \
  {                                                                                                          \
    return fails (#name, PLAIN) ? NULL : __real_##name arguments;                                            \
  }

/* One with a last argument that may be there or not, whose registers hold something in any case. */
#define CALL_MORE(name, parameters, last, traits, ...)                                                       \
  int __real_##name parameters;                                                                              \
  int __wrap_##name parameters;                                                                              \
  int __wrap_##name parameters                                                                               \
  {                                                                                                          \
    va_list list;                                                                                            \
    va_start (list, last);                                                                                   \
    long more = va_arg (list, long);                                                                         \
    va_end (list);                                                                                           \
    return fails (#name, traits) ? (errno ? -1 : 0) : __real_##name (__VA_ARGS__, more);                     \
  }

/* One of GLib, which says why in a GError. */
#define CALL_GLIB(type, name, parameters, arguments)                                                         \
  type __real_##name parameters;                                                                             \
  type __wrap_##name parameters;                                                                             \
  type __wrap_##name parameters                                                                              \
  {                                                                                                          \
    if (!fails (#name, PLAIN))                                                                               \
      return __real_##name arguments;                                                                        \
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, "%s: %s", #name, g_strerror (EIO));                   \
    return 0;                                                                                                \
  }

CALL_MORE (open64, (const char *path, int flags, ...), flags, WRITES, path, flags)
CALL_MORE (openat64, (int at, const char *path, int flags, ...), flags, WRITES, at, path, flags)
CALL_MORE (fcntl64, (int fd, int command, ...), command, PLAIN, fd, command)
CALL_MORE (ioctl, (int fd, unsigned long request, ...), request, PLAIN, fd, request)
CALL (int, fstat64, (int fd, struct stat *st), (fd, st), PLAIN)
CALL (int, stat64, (const char *path, struct stat *st), (path, st), PLAIN)
CALL (int, lstat64, (const char *path, struct stat *st), (path, st), PLAIN)
CALL (int, fstatat64, (int at, const char *path, struct stat *st, int flags), (at, path, st, flags), PLAIN)
CALL (int, fstatfs64, (int fd, struct statfs *info), (fd, info), PLAIN)
CALL (int, fstatvfs64, (int fd, struct statvfs *info), (fd, info), PLAIN)
CALL (int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), PLAIN)
CALL (ssize_t, read, (int fd, void *data, size_t size), (fd, data, size),
      READS | (is_of_kernel (fd) ? PLAIN : WAITS))
CALL (ssize_t, pread64, (int fd, void *data, size_t size, off_t at), (fd, data, size, at), WAITS | READS)
CALL (ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size),
      WRITES | (is_of_kernel (fd) ? PLAIN : WAITS))
CALL (ssize_t, pwrite64, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at),
      WAITS | WRITES)
CALL (ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags), WAITS | READS)
CALL (ssize_t, send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags), WAITS)
CALL (ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), WAITS | READS)
CALL (ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), WAITS)
CALL (ssize_t, copy_file_range, (int from, off_t *in, int to, off_t *out, size_t size, unsigned flags),
      (from, in, to, out, size, flags), WAITS | WRITES | READS)
CALL (ssize_t, getrandom, (void *data, size_t size, unsigned flags), (data, size, flags), WAITS)
CALL (ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size), (fd, name, value, size),
      PLAIN)
CALL (ssize_t, readlinkat, (int at, const char *path, char *target, size_t size), (at, path, target, size),
      PLAIN)
CALL (off_t, lseek64, (int fd, off_t at, int whence), (fd, at, whence), PLAIN)
CALL (int, ftruncate64, (int fd, off_t size), (fd, size), WRITES)
CALL (int, fsync, (int fd), (fd), WRITES)
CALL (int, fdatasync, (int fd), (fd), WRITES)
CALL (int, syncfs, (int fd), (fd), WRITES)
CALL (int, fchmod, (int fd, mode_t mode), (fd, mode), PLAIN)
CALL (int, chmod, (const char *path, mode_t mode), (path, mode), PLAIN)
CALL (int, fchownat, (int at, const char *path, uid_t uid, gid_t gid, int flags), (at, path, uid, gid, flags),
      PLAIN)
CALL (int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), WRITES)
CALL (int, symlinkat, (const char *target, int at, const char *path), (target, at, path), WRITES)
CALL (int, link, (const char *from, const char *to), (from, to), WRITES)
CALL (int, linkat, (int from_at, const char *from, int to_at, const char *to, int flags),
      (from_at, from, to_at, to, flags), WRITES)
CALL (int, rename, (const char *from, const char *to), (from, to), WRITES)
CALL (int, renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to),
      WRITES)
CALL (int, unlinkat, (int at, const char *path, int flags), (at, path, flags), PLAIN)
CALL (int, flock, (int fd, int how), (fd, how), how &LOCK_NB ? PLAIN : WAITS)
CALL (int, pipe2, (int fds[2], int flags), (fds, flags), PLAIN)
CALL (int, socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds), PLAIN)
CALL (int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
      (fd, level, name, value, size), PLAIN)
CALL (int, eventfd, (unsigned count, int flags), (count, flags), PLAIN)
CALL (int, memfd_create, (const char *name, unsigned flags), (name, flags), PLAIN)
CALL (int, poll, (struct pollfd * fds, nfds_t count, int wait_ms), (fds, count, wait_ms), WAITS)
CALL (int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), (kind, id, info, options), WAITS)
CALL (int, prlimit64,
      (pid_t pid, enum __rlimit_resource what, const struct rlimit *wanted, struct rlimit *found),
      (pid, what, wanted, found), PLAIN)
CALL_NULL (DIR *, opendir, (const char *path), (path))
CALL_NULL (struct dirent *, readdir64, (DIR * list), (list))
CALL_NULL (char *, realpath, (const char *path, char *resolved), (path, resolved))
CALL_NULL (char *, g_mkdtemp_full, (char *path, int mode), (path, mode))
CALL (int, g_mkdir_with_parents, (const char *path, int mode), (path, mode), WRITES)
CALL_GLIB (gboolean, g_file_get_contents, (const char *path, char **text, gsize *length, GError **error),
           (path, text, length, error))
CALL_GLIB (gboolean, g_file_set_contents_full,
           (const char *path, const char *text, gssize length, GFileSetContentsFlags flags, int mode,
            GError **error),
           (path, text, length, flags, mode, error))
CALL_GLIB (GThread *, g_thread_try_new, (const char *name, GThreadFunc run, gpointer data, GError **error),
           (name, run, data, error))

/* sys_openat2() and others without a function of the C library. As that does, it takes six arguments, however
 * many there are, which a sanitizer would not let it do. A signal to a process that is ours cannot fail. */
long __real_syscall (long number, ...);
long __wrap_syscall (long number, ...);
__attribute__ ((no_sanitize ("address"))) long
__wrap_syscall (long number, ...)
{
  long argument[6];
  va_list list;
  va_start (list, number);
  for (gsize i = 0; i < G_N_ELEMENTS (argument); i++)
    argument[i] = va_arg (list, long);
  va_end (list);
  return number != SYS_pidfd_send_signal && fails ("syscall", PLAIN)
             ? -1
             : __real_syscall (number, argument[0], argument[1], argument[2], argument[3], argument[4],
                               argument[5]);
}

int __real_posix_spawn (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *argv, char *const *variables);
int __wrap_posix_spawn (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *argv, char *const *variables);
int
__wrap_posix_spawn (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                    const posix_spawnattr_t *attributes, char *const *argv, char *const *variables)
{
  return fails ("posix_spawn", PLAIN) ? errno
                                      : __real_posix_spawn (pid, path, actions, attributes, argv, variables);
}

/* A statement fails on its way, as one does whose disk gives an error. */
int __real_sqlite3_step (sqlite3_stmt *statement);
int __wrap_sqlite3_step (sqlite3_stmt *statement);
int
__wrap_sqlite3_step (sqlite3_stmt *statement)
{
  return fails ("sqlite3_step", WRITES) ? (errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR)
                                        : __real_sqlite3_step (statement);
}

/* ---- the sweep ---- */

static gboolean
fail_once (call_step step, gpointer data)
{
  g_autoptr (GError) error = NULL;
  failing.failed = NULL;
  g_atomic_int_set (&failing.armed, TRUE);
  gboolean done = step (data, &error);
  g_atomic_int_set (&failing.armed, FALSE);
  const char *failed = failing.failed ? failing.failed : "nothing";
  if (done != !error)
    g_error ("%s failed: the step %s %s", failed,
             done ? "succeeded, and says" : "is refused, and does not say why", error ? error->message : "");
  if (!done && (!failing.failed || failing.kind == CALL_INTERRUPTED))
    g_error ("%s failed: %s", failed, error->message);
  return done;
}

guint
each_call_fails (enum call_fault kind, enum call_reach reach, call_step step, call_check check, gpointer data)
{
  guint times = 0;
  failing.kind = kind;
  failing.thread = reach == CALLS_HERE ? g_thread_self () : NULL;
  failing.pid = getpid ();
  failing.seen = g_hash_table_new (NULL, NULL);
  for (gboolean more = TRUE; more; times++) {
    gboolean done = fail_once (step, data);
    more = failing.failed != NULL;
    g_test_message ("%s: %s", more ? failing.failed : "nothing", done ? "done" : "refused");
    if (check)
      check (data, done);
    g_assert_cmpuint (times, <, TIMES_MAX);
  }
  g_clear_pointer (&failing.seen, g_hash_table_unref);
  return times - 1;
}
