/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/filter.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscalls.h"

int
filter_load (int fd, struct filter_program *ret_program, struct fault *fault)
{
  struct stat info;
  if (fstat (fd, &info) < 0)
    return fault_set (fault, errno, "cannot read the seccomp program");
  if (!S_ISREG (info.st_mode) || info.st_size <= 0 ||
      info.st_size % (off_t)sizeof (struct sock_filter) != 0 ||
      info.st_size > (off_t)(BPF_MAXINSNS * sizeof (struct sock_filter)))
    return fault_set (fault, EINVAL, "the seccomp program has an impossible size");

  struct sock_filter *filter = malloc ((size_t)info.st_size);
  if (!filter)
    return fault_set (fault, ENOMEM, "cannot read the seccomp program");
  ssize_t got = pread (fd, filter, (size_t)info.st_size, 0);
  if (got != info.st_size) {
    int err = got < 0 ? errno : EIO;
    free (filter);
    return fault_set (fault, err, "cannot read the seccomp program");
  }
  ret_program->filter = filter;
  ret_program->length = (unsigned short)((size_t)info.st_size / sizeof (struct sock_filter));
  return 0;
}

int
filter_install (const struct filter_program *program, struct fault *fault)
{
  struct sock_fprog prog = {.len = program->length, .filter = program->filter};
  if (sys_seccomp (SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
    return fault_set (fault, errno, "cannot install the seccomp filter");
  if (prctl (PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
    return fault_set (fault, EPERM, "the seccomp filter is not in force");
  return 0;
}
