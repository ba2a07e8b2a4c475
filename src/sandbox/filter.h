/* SPDX-License-Identifier: Apache-2.0 */
/* Installing a seccomp program that the daemon built (seccomp_build.h) and handed over as bytes. */
#pragma once

#include <linux/filter.h>
#include <stddef.h>

#include "base/fault.h"

struct filter_program {
  struct sock_filter *filter; /* malloc'ed */
  unsigned short length;      /* instructions */
};

/* Reads the whole program from FD, a regular file or memfd. The caller frees program.filter. */
int filter_load (int fd, struct filter_program *ret_program, struct fault *fault);

/* Installs PROGRAM for the calling thread and verifies that it is in force. Needs no_new_privs. */
int filter_install (const struct filter_program *program, struct fault *fault);
