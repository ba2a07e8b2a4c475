/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandboxes of a zygote are told of the machine. */
#pragma once

#include <glib.h>

/* The text of /proc/stat for CPUS processors that have done nothing, and when the machine was started, which
 * the kernel's clocks tell as well. The caller frees it. */
char *layout_stat (guint cpus);

/* The text of /proc/cpuinfo for CPUS processors of no model. The caller frees it. */
char *layout_cpuinfo (guint cpus);
