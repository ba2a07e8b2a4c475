/* SPDX-License-Identifier: Apache-2.0 */
/* scripts/coverage links this into every program and module, in place of LLVM's own runtime, which writes its
 * file when a process exits and finds it by a path and an environment that sandboxes do not have.
 *
 * The counters of a program are a shared mapping of its file in COVERAGE_DIR (-runtime-counter-relocation):
 * what is counted there outlives SIGKILL and _exit(), and forks count on. The file is opened once, before
 * main() or while a module is loaded, thus before a process confines itself. What starts in the tree of a
 * zygote (Python with _adder.abi3.so, adder-init, adder-shell) finds the directory below the zygote's own
 * /tmp; its sandboxes leave that mount behind.
 *
 * Whatever fails, fails silently: the program then counts into its own memory, for nobody. */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TREE_DIR "tmp/adder-coverage"

#define HIDDEN   __attribute__ ((visibility ("hidden")))

/* Of the compiler, and of libclang_rt.profile. */
extern HIDDEN intptr_t __llvm_profile_counter_bias;
HIDDEN const char *__llvm_profile_begin_data (void);
HIDDEN const char *__llvm_profile_end_data (void);
HIDDEN const char *__llvm_profile_begin_names (void);
HIDDEN const char *__llvm_profile_end_names (void);
HIDDEN const char *__llvm_profile_begin_counters (void);
HIDDEN uint64_t __llvm_profile_get_size_for_buffer (void);
HIDDEN int __llvm_profile_write_buffer (char *buffer);

/* Its presence keeps the runtime's own constructor out. */
HIDDEN int __llvm_profile_runtime;

/* Of the raw format, in 8-byte words. */
enum { HEADER_IDS = 2, HEADER_PADDING = 4, HEADER_WORDS = 11 };

/* The names of its functions tell a program from others: every copy of it counts into one file. */
static uint64_t
signature (void)
{
  uint64_t hash = 14695981039346656037U;
  for (const char *at = __llvm_profile_begin_names (); at < __llvm_profile_end_names (); at++)
    hash = (hash ^ (unsigned char)*at) * 1099511628211U;
  return hash;
}

/* Every user must be able to open it, whatever the umask of the first. */
static int
open_counters (const char *directory)
{
  char path[4096];
  snprintf (path, sizeof path, "%s/%016lx.profraw", directory, (unsigned long)signature ());
  int fd = open (path, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0)
    (void)fchmod (fd, 0666);
  return fd;
}

__attribute__ ((constructor (101))) static void
count_into_file (void)
{
  int fd = open_counters (COVERAGE_DIR);
  if (fd < 0)
    fd = open_counters ("/" TREE_DIR);
  struct stat info;
  uint64_t size = __llvm_profile_get_size_for_buffer ();
  char *file = MAP_FAILED;
  if (fd >= 0 && flock (fd, LOCK_EX) == 0 && fstat (fd, &info) == 0 &&
      (info.st_size == (off_t)size || ftruncate (fd, (off_t)size) == 0))
    file = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (file != MAP_FAILED) {
    const uint64_t *header = (const uint64_t *)(const void *)file;
    if (info.st_size != (off_t)size)
      __llvm_profile_write_buffer (file);
    const char *counters = file + HEADER_WORDS * sizeof *header + header[HEADER_IDS] +
                           (__llvm_profile_end_data () - __llvm_profile_begin_data ()) +
                           header[HEADER_PADDING];
    __llvm_profile_counter_bias = counters - __llvm_profile_begin_counters ();
  }
  if (fd >= 0) {
    flock (fd, LOCK_UN); /* which the mapping would hold on to */
    close (fd);
  }
}

/* ---- the directory in a zygote's tree ---- */

/* Calls of these from other files come here (-Wl,--wrap). mounts_attach() is sandbox/mounts.c's, and not
 * there in programs that mount nothing. */
struct fault;
int __real_mounts_attach (int fd, int parent, const char *name, struct fault *fault) __attribute__ ((weak));
HIDDEN int __wrap_mounts_attach (int fd, int parent, const char *name, struct fault *fault);
int __real_unshare (int flags);
HIDDEN int __wrap_unshare (int flags);

/* The zygote's own /tmp comes when the tree is whole, and the host's is still to be seen. */
int
__wrap_mounts_attach (int fd, int parent, const char *name, struct fault *fault)
{
  int r = __real_mounts_attach (fd, parent, name, fault);
  if (r < 0 || strcmp (name, "tmp") != 0)
    return r;
  int directory = (int)syscall (SYS_open_tree, AT_FDCWD, COVERAGE_DIR, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (directory < 0)
    return r;
  if (mkdirat (parent, TREE_DIR, 0755) == 0)
    (void)syscall (SYS_move_mount, directory, "", parent, TREE_DIR, MOVE_MOUNT_F_EMPTY_PATH);
  close (directory);
  return r;
}

/* A sandbox leaves it behind with its zygote's mounts. */
int
__wrap_unshare (int flags)
{
  int r = __real_unshare (flags);
  if (r == 0 && flags & CLONE_NEWNS)
    (void)umount2 ("/" TREE_DIR, MNT_DETACH);
  return r;
}
