/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandboxes of a zygote see of the machine. */
#pragma once

#include <glib.h>

/* The text of /proc/stat for CPUS processors that have been idle, with the boot time, which the kernel's
 * clocks reveal as well. The caller frees it. */
char *layout_stat (guint cpus);

/* The text of /proc/cpuinfo for CPUS processors without a model. The caller frees it. */
char *layout_cpuinfo (guint cpus);
