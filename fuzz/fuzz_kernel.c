/* SPDX-License-Identifier: Apache-2.0 */
/* Text that kernels write: mounts, control groups and their files, processes. Names in it come from outside:
 * a mount point, a group, a program that calls itself ") R 1". The first byte chooses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/host/process.h"
#include "fuzz/fuzz.h"
#include "sandbox/cgroup_backend.h"
#include "sandbox/mountinfo.h"

#define MIN_BUFFER 1

static void
check_mounts (FILE *file, const char *controller)
{
  struct mountinfo mount;
  while (mountinfo_next (file, &mount))
    FUZZ_REQUIRE (mount.root[0] && mount.point[0] && mount.type[0] && mount.options[0]);
  rewind (file);
  if (mountinfo_find_cgroup (file, controller, &mount))
    FUZZ_REQUIRE (strcmp (mount.type, controller ? "cgroup" : "cgroup2") == 0);
}

static void
check_own_group (FILE *file, const char *controller, size_t size)
{
  g_autofree char *path = g_malloc (size);
  if (mountinfo_own_group (file, controller, path, size))
    FUZZ_REQUIRE (strlen (path) < size && !strchr (path, '\n'));
}

static void
check_number (const char *text, const char *key)
{
  uint64_t number = 0;
  int r = cgroup_parse_number (text, key, &number);
  FUZZ_REQUIRE (r == 0 || r == -ENODATA);
  FUZZ_REQUIRE (r < 0 || !key || strstr (text, key));
}

static void
check_stat (const char *text)
{
  guint64 fields[STAT_LAST + 1];
  if (process_parse_stat (text, fields))
    FUZZ_REQUIRE (strchr (text, ')'));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const controllers[] = {NULL, "memory", "pids", "cpu"};
  static const char *const keys[] = {NULL, "oom_kill", "usage_usec", "populated"};
  if (size < 2)
    return 0;
  g_autofree char *text = g_strndup ((const char *)data + 2, size - 2);
  FILE *file = fmemopen (text, MAX (strlen (text), 1), "r");
  FUZZ_REQUIRE (file);
  switch (data[0] % 4) {
  case 0:
    check_mounts (file, controllers[data[1] % G_N_ELEMENTS (controllers)]);
    break;
  case 1:
    check_own_group (file, controllers[data[1] % G_N_ELEMENTS (controllers)], MIN_BUFFER + data[1]);
    break;
  case 2:
    check_number (text, keys[data[1] % G_N_ELEMENTS (keys)]);
    break;
  default:
    check_stat (text);
  }
  fclose (file);
  return 0;
}
