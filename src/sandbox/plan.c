/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as arguments and back. A plan comes from our own daemon, but is parsed as untrusted: a misplaced
 * argument is an error that names it, never a guess. */
#include "sandbox/plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct plan_word {
  const char *word;
  bool needs_source;
} plan_words[] = {
    [PLAN_BIND] = {"bind", true},           [PLAN_BIND_MAYBE] = {"bind-maybe", true},
    [PLAN_BIND_REAL] = {"bind-real", true}, [PLAN_COPY] = {"copy", true},
    [PLAN_TREE] = {"tree", true},           [PLAN_LINK] = {"link", true},
    [PLAN_TEXT] = {"text", false},          [PLAN_DEVICE] = {"device", true},
};
#define PLAN_WORDS (sizeof plan_words / sizeof plan_words[0])

/* Digits are kept beside the pointers that point at them, in one allocation. */
#define NUMBER_BYTES ((size_t)24)

static size_t
count_strings (const char *const *list)
{
  size_t n = 0;
  while (list[n])
    n++;
  return n;
}

char **
plan_to_arguments (const struct plan *plan)
{
  size_t environment = count_strings (plan->environment), program = count_strings (plan->program);
  /* argv[0], --isolation KIND, --map UID GID, --, NULL; four words for each step, two for each variable */
  size_t words = 1 + 2 + 2 + 3 + 4 * plan->step_count + 2 * environment + 1 + program + 1;
  char **list = malloc (words * sizeof *list + 2 * NUMBER_BYTES);
  if (!list)
    return NULL;
  char *number = (char *)(list + words);
  snprintf (number, NUMBER_BYTES, "%u", (unsigned)plan->host_uid);
  snprintf (number + NUMBER_BYTES, NUMBER_BYTES, "%u", (unsigned)plan->host_gid);

  const char **at = (const char **)list;
  *at++ = "adder-zygote";
  *at++ = "--isolation";
  *at++ = isolation_names[plan->isolation];
  *at++ = "--network";
  *at++ = network_names[plan->network];
  *at++ = "--map";
  *at++ = number;
  *at++ = number + NUMBER_BYTES;
  for (size_t i = 0; i < plan->step_count; i++) {
    const struct plan_step *step = &plan->steps[i];
    *at++ = "--step";
    *at++ = plan_words[step->kind].word;
    *at++ = step->source;
    *at++ = step->target;
  }
  for (size_t i = 0; i < environment; i++) {
    *at++ = "--env";
    *at++ = plan->environment[i];
  }
  *at++ = "--";
  for (size_t i = 0; i < program; i++)
    *at++ = plan->program[i];
  *at = NULL;
  return list;
}

static int
plan_parse_id (const char *text, uint32_t *ret_id)
{
  uint64_t value = 0;
  if (!*text)
    return -EINVAL;
  for (; *text; text++) {
    if (*text < '0' || *text > '9')
      return -EINVAL;
    value = value * 10 + (uint64_t)(*text - '0');
    if (value >= UINT32_MAX) /* the last one means "no id" to the kernel */
      return -ERANGE;
  }
  *ret_id = (uint32_t)value;
  return 0;
}

/* Absolute, and no component that leads back up: targets are joined to the new root without further thought.
 */
static bool
is_clean_path (const char *path)
{
  if (path[0] != '/' || path[1] == '\0')
    return false;
  for (const char *at = path; *at;) {
    at += strspn (at, "/");
    size_t length = strcspn (at, "/");
    if ((length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.'))
      return false;
    at += length;
  }
  return true;
}

static int
parse_step (struct plan_step *ret_step, char **words, struct fault *fault)
{
  for (size_t kind = 0; kind < PLAN_WORDS; kind++) {
    if (strcmp (plan_words[kind].word, words[0]) != 0)
      continue;
    if (plan_words[kind].needs_source && !words[1][0])
      return fault_set (fault, EINVAL, "a step %s needs a source", words[0]);
    if (!is_clean_path (words[2]))
      return fault_set (fault, EINVAL, "a step's target must be absolute and without dots: %.100s", words[2]);
    *ret_step = (struct plan_step){.kind = (enum plan_kind)kind, .source = words[1], .target = words[2]};
    return 0;
  }
  return fault_set (fault, EINVAL, "no such kind of step: %.100s", words[0]);
}

int
plan_from_arguments (struct plan *ret_plan, int argc, char **argv, struct fault *fault)
{
  struct plan plan = {0};
  size_t variables = 0;
  bool mapped = false;
  int r;

  /* No list can be longer than the arguments are. */
  plan.steps = calloc ((size_t)argc + 1, sizeof *plan.steps);
  plan.environment = calloc ((size_t)argc + 1, sizeof *plan.environment);
  if (!plan.steps || !plan.environment) {
    r = fault_set (fault, ENOMEM, "cannot read the plan");
    goto fail;
  }

  plan.isolation = ISOLATION_NAMESPACES;
  int i = 1;
  while (i < argc && strcmp (argv[i], "--") != 0) {
    int left = argc - i - 1;
    if (strcmp (argv[i], "--map") == 0 && left >= 2) {
      if (plan_parse_id (argv[i + 1], &plan.host_uid) < 0 ||
          plan_parse_id (argv[i + 2], &plan.host_gid) < 0) {
        r = fault_set (fault, EINVAL, "--map takes two ids, not %.40s %.40s", argv[i + 1], argv[i + 2]);
        goto fail;
      }
      mapped = true;
      i += 3;
    } else if (strcmp (argv[i], "--isolation") == 0 && left >= 1) {
      int kind = isolation_find (argv[i + 1]);
      if (kind < 0 || kind == ISOLATION_AUTO) {
        r = fault_set (fault, EINVAL, "--isolation takes a kind, not %.40s", argv[i + 1]);
        goto fail;
      }
      plan.isolation = (enum isolation)kind;
      i += 2;
    } else if (strcmp (argv[i], "--network") == 0 && left >= 1) {
      int network = network_find (argv[i + 1]);
      if (network < 0) {
        r = fault_set (fault, EINVAL, "--network takes a kind, not %.40s", argv[i + 1]);
        goto fail;
      }
      plan.network = (enum network)network;
      i += 2;
    } else if (strcmp (argv[i], "--step") == 0 && left >= 3) {
      r = parse_step (&plan.steps[plan.step_count], argv + i + 1, fault);
      if (r < 0)
        goto fail;
      plan.step_count++;
      i += 4;
    } else if (strcmp (argv[i], "--env") == 0 && left >= 1) {
      if (!strchr (argv[i + 1], '=') || argv[i + 1][0] == '=') {
        r = fault_set (fault, EINVAL, "--env takes NAME=VALUE, not %.100s", argv[i + 1]);
        goto fail;
      }
      plan.environment[variables++] = argv[i + 1];
      i += 2;
    } else {
      r = fault_set (fault, EINVAL, "cannot understand argument %d: %.100s", i, argv[i]);
      goto fail;
    }
  }
  if (!mapped) {
    r = fault_set (fault, EINVAL, "--map is missing");
    goto fail;
  }
  if (i + 1 >= argc || argv[i + 1][0] != '/') {
    r = fault_set (fault, EINVAL, "after -- comes the absolute path of a program");
    goto fail;
  }
  plan.program = (const char **)(argv + i + 1);
  *ret_plan = plan;
  return 0;

fail:
  plan_clear (&plan);
  return r;
}

void
plan_clear (struct plan *plan)
{
  free (plan->steps);
  free (plan->environment);
  *plan = (struct plan){0};
}
