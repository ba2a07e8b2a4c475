/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp_build.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fd.h"
#include "sandbox/seccomp_policy.h"

/* The first version of landlock that keeps abstract sockets and signals apart. */
#define LANDLOCK_ABI_SCOPED 6

static void
seccomp_build_release (scmp_filter_ctx *context)
{
  if (*context)
    seccomp_release (*context);
}

static uint32_t
action_of (int verdict)
{
  if (verdict == SECCOMP_POLICY_ALLOW)
    return SCMP_ACT_ALLOW;
  return SCMP_ACT_ERRNO (verdict == SECCOMP_POLICY_PRETEND ? 0 : (uint16_t)verdict);
}

/* A system call has so many arguments, and each is compared once at most. */
#define ARGUMENTS 6

/* Comparisons that must all hold. */
struct comparisons {
  struct scmp_arg_cmp list[ARGUMENTS];
  unsigned count;
};

/* Adds VERDICT for each of CALLS. */
static int
add_calls (scmp_filter_ctx context, const char *calls, int verdict, const struct comparisons *compare,
           struct fault *fault)
{
  char name[64];
  for (const char *at = calls; *at; at += strspn (at, " ")) {
    size_t length = strcspn (at, " ");
    if (length >= sizeof name)
      return fault_set (fault, EINVAL, "a name in the seccomp policy is too long");
    memcpy (name, at, length);
    name[length] = '\0';
    at += length;
    /* Rules take the numbers of the machine they are built on, and are translated to the architecture of the
     * program; what that does not have is left out. Negative: this machine has none of that name, or this
     * libseccomp is older than it. */
    int number = seccomp_syscall_resolve_name (name);
    if (number < 0)
      continue;
    int r = seccomp_rule_add_array (context, action_of (verdict), number, compare->count, compare->list);
    if (r < 0)
      return fault_set (fault, -r, "cannot add a seccomp rule for %s", name);
  }
  return 0;
}

static struct scmp_arg_cmp
comparison (const struct seccomp_rule *rule, const struct seccomp_value *value)
{
  switch (rule->compare) {
  case COMPARE_MASKED:
    return SCMP_CMP64 (rule->argument, SCMP_CMP_MASKED_EQ, rule->mask, value->value);
  case COMPARE_HAS:
    return SCMP_CMP64 (rule->argument, SCMP_CMP_MASKED_EQ, value->value, value->value);
  case COMPARE_NOT:
  case COMPARE_NONE:
    break;
  }
  return SCMP_CMP64 (rule->argument, SCMP_CMP_NE, value->value);
}

/* One rule of the library for each choice of values: it knows no "or". There are few conditions. */
static int
add_choices (scmp_filter_ctx context, const struct seccomp_rule *rule,
             const struct seccomp_condition *conditions, struct comparisons *compare, struct fault *fault)
{
  if (!conditions || !conditions->argument_name)
    return add_calls (context, rule->calls, rule->verdict, compare, fault);
  int r = 0;
  unsigned place = compare->count++;
  for (const struct seccomp_value *value = conditions->values; value->name && r == 0; value++) {
    compare->list[place] =
        SCMP_CMP64 (conditions->argument, SCMP_CMP_MASKED_EQ, conditions->mask, value->value);
    r = add_choices (context, rule, conditions + 1, compare, fault);
  }
  compare->count = place;
  return r;
}

static int
seccomp_build_add_rule (scmp_filter_ctx context, const struct seccomp_rule *rule, struct fault *fault)
{
  struct comparisons compare = {.count = 0};
  /* What happens anyway cannot be added, and need not. */
  if (rule->verdict == SECCOMP_DEFAULT_VERDICT)
    return 0;
  if (rule->compare == COMPARE_NONE)
    return add_calls (context, rule->calls, rule->verdict, &compare, fault);
  int r = 0;
  for (const struct seccomp_value *value = rule->values; value->name && r == 0; value++) {
    compare.list[0] = comparison (rule, value);
    compare.count = 1;
    r = add_choices (context, rule, rule->conditions, &compare, fault);
  }
  return r;
}

unsigned
seccomp_facts (const struct seccomp_host *host)
{
  bool scoped = host->landlock_abi >= LANDLOCK_ABI_SCOPED;
  unsigned facts = host->shared ? WHEN_SHARED : WHEN_NAMESPACED;
  /* Sockets have paths as well, which landlock does not know: there only the mount tree helps, unless it has
   * some of the host's. */
  bool own_names = scoped || host->network == NETWORK_ALLOW || host->contained;
  facts |= own_names && !host->shared && !host->host_sockets ? WHEN_NAMES_APART : WHEN_NAMES_SHARED;
  facts |= host->network == NETWORK_NONE ? WHEN_OFFLINE : WHEN_ONLINE;
  facts |= scoped || !host->shared ? WHEN_SIGNALS_APART : WHEN_SIGNALS_SHARED;
  facts |= host->shared || host->contained ? WHEN_OTHERS_NEAR : WHEN_OTHERS_APART;
  return facts | (host->memory_counted ? WHEN_COUNTED : 0);
}

bool
seccomp_applies (const struct seccomp_rule *rule, unsigned facts)
{
  return (rule->when & ~facts) == 0;
}

static int
export_sealed (scmp_filter_ctx context, int *ret_fd, struct fault *fault)
{
  autoclose int fd = memfd_create ("adder-seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return fault_set (fault, errno, "cannot make a memfd for the seccomp program");
  int r = seccomp_export_bpf (context, fd);
  if (r < 0)
    return fault_set (fault, -r, "cannot export the seccomp program");
  if (fcntl (fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
    return fault_set (fault, errno, "cannot seal the seccomp program");
  *ret_fd = fd_steal (&fd);
  return 0;
}

int
seccomp_build_for (uint32_t architecture, const struct seccomp_host *host, int *ret_fd, struct fault *fault)
{
  __attribute__ ((cleanup (seccomp_build_release))) scmp_filter_ctx context =
      seccomp_init (SCMP_ACT_ERRNO (SECCOMP_DEFAULT_VERDICT));
  if (!context)
    return fault_set (fault, ENOMEM, "cannot start a seccomp program");
  int r = 0;
  if (architecture != seccomp_arch_native ()) {
    r = seccomp_arch_remove (context, SCMP_ARCH_NATIVE);
    if (r == 0)
      r = seccomp_arch_add (context, architecture);
  }
  if (r == 0)
    r = seccomp_attr_set (context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  /* A binary tree in place of a long list, by which calls and the installing are cheaper
   * (bench/filter_cost.c); libseccomp before 2.5 has none. */
  if (r == 0)
    seccomp_attr_set (context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (r < 0)
    return fault_set (fault, -r, "cannot set up the seccomp program");

  unsigned facts = seccomp_facts (host);
  for (size_t i = 0; i < seccomp_rules_count && r == 0; i++)
    if (seccomp_applies (&seccomp_rules[i], facts))
      r = seccomp_build_add_rule (context, &seccomp_rules[i], fault);
  if (r < 0)
    return r;
  return export_sealed (context, ret_fd, fault);
}

int
seccomp_build (const struct seccomp_host *host, int *ret_fd, struct fault *fault)
{
  return seccomp_build_for (seccomp_arch_native (), host, ret_fd, fault);
}

bool
seccomp_is_known (const char *call)
{
  return seccomp_syscall_resolve_name (call) >= 0;
}
