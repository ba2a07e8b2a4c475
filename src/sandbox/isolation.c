/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/isolation.h"

#include <string.h>

const char *const isolation_names[] = {
    [ISOLATION_AUTO] = "auto",           [ISOLATION_NONE] = "none",
    [ISOLATION_PROCESS] = "process",     [ISOLATION_NAMESPACES] = "namespaces",
    [ISOLATION_CONTAINER] = "container", [ISOLATIONS] = NULL,
};

int
isolation_find (const char *name)
{
  for (int i = 0; i < ISOLATIONS; i++)
    if (strcmp (isolation_names[i], name) == 0)
      return i;
  return -1;
}
