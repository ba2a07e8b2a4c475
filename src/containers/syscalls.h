/* SPDX-License-Identifier: Apache-2.0 */
/* What no process in a container of ours may ask of the kernel, whatever the engine's own list says. */
#pragma once

/* A seccomp profile as engines read it, JSON; the caller's. */
char *container_syscalls (void);
