/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/capabilities.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/prctl.h>

#include "base/syscalls.h"

/* Newer headers call it SECBIT_NO_CAP_AMBIENT_RAISE as well; KEEP_CAPS stays off and is locked off. */
#define LOCKED_BITS                                                                                          \
  (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |           \
   SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* The kernel knows fewer than 64 and answers EINVAL after its last. */
#define CAPABILITIES_MAX 64

static int
verify_sets (struct fault *fault)
{
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  if (sys_capget (&header, data) < 0)
    return fault_set (fault, errno, "cannot read the capabilities");
  for (int i = 0; i < 2; i++)
    if (data[i].effective || data[i].permitted || data[i].inheritable)
      return fault_set (fault, EPERM, "capabilities are left after dropping them");
  for (int cap = 0; cap < CAPABILITIES_MAX; cap++)
    if (prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) > 0)
      return fault_set (fault, EPERM, "ambient capability %d is left after dropping it", cap);
  return 0;
}

int
capabilities_check_bounds (struct fault *fault)
{
  for (int cap = 0; cap < CAPABILITIES_MAX; cap++) {
    int has = prctl (PR_CAPBSET_READ, cap, 0, 0, 0);
    if (has < 0 && errno == EINVAL && cap > 0)
      break;
    if (has < 0)
      return fault_set (fault, errno, "cannot read capability %d of the bounding set", cap);
    if (has > 0)
      return fault_set (fault, EPERM, "capability %d is left in the bounding set", cap);
  }
  return 0;
}

static int
verify_bounds (struct fault *fault)
{
  int r = capabilities_check_bounds (fault);
  if (r < 0)
    return r;
  if (prctl (PR_GET_SECUREBITS, 0, 0, 0, 0) != LOCKED_BITS)
    return fault_set (fault, EPERM, "the securebits are not as they were set");
  return 0;
}

int
capabilities_clear (struct fault *fault)
{
  /* EINVAL: gVisor's kernel has no such set, in which nothing could be left. */
  if (prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
    return fault_set (fault, errno, "cannot clear the ambient capabilities");
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  const struct __user_cap_data_struct none[2] = {{0}};
  if (sys_capset (&header, none) < 0)
    return fault_set (fault, errno, "cannot drop the capabilities");
  return verify_sets (fault);
}

int
capabilities_drop (struct fault *fault)
{
  for (int cap = 0; cap < CAPABILITIES_MAX; cap++)
    if (prctl (PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
      if (errno == EINVAL && cap > 0)
        break;
      return fault_set (fault, errno, "cannot drop capability %d from the bounding set", cap);
    }
  /* That and the securebits need CAP_SETPCAP, so the effective set goes last. */
  if (prctl (PR_SET_SECUREBITS, LOCKED_BITS, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot lock the securebits");
  int r = capabilities_clear (fault);
  return r < 0 ? r : verify_bounds (fault);
}
