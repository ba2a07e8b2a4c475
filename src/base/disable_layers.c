/* SPDX-License-Identifier: Apache-2.0 */
#include "base/disable_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const layer_names[LAYERS] = {
    [LAYER_ENVIRONMENT] = "environment",
    [LAYER_TREE] = "tree",
    [LAYER_READONLY] = "readonly",
    [LAYER_BIND] = "bind",
    [LAYER_NET] = "net",
    [LAYER_CGROUP_NAMESPACE] = "cgroup-namespace",
    [LAYER_ZYGOTE_PID] = "zygote-pid",
    [LAYER_ZYGOTE_IPC] = "zygote-ipc",
    [LAYER_UTS] = "uts",
    [LAYER_PID] = "pid",
    [LAYER_IPC] = "ipc",
    [LAYER_PROC] = "proc",
    [LAYER_WORKSPACE] = "workspace",
    [LAYER_DESCRIPTORS] = "descriptors",
    [LAYER_RLIMITS] = "rlimits",
    [LAYER_NEST] = "nest",
    [LAYER_SEAL] = "seal",
    [LAYER_CAPABILITIES] = "capabilities",
    [LAYER_DUMPABLE] = "dumpable",
    [LAYER_LANDLOCK] = "landlock",
    [LAYER_SECCOMP] = "seccomp",
    [LAYER_INIT] = "init",
    [LAYER_MEMORY] = "memory",
    [LAYER_PIDS] = "pids",
    [LAYER_CPU] = "cpu",
    [LAYER_DEADLINE] = "deadline",
    [LAYER_OUTPUT] = "output",
    [LAYER_CLEANUP] = "cleanup",
    [LAYER_LINKS] = "links",
    [LAYER_FRAMES] = "frames",
};

static const char *
value (void)
{
  const char *variable = disable_layers_variable ();
  return variable ? strchr (variable, '=') + 1 : "";
}

/* A name that is none would switch nothing off and let an attack look as if it could never succeed, or a test
 * pass that tests nothing. */
static bool
is_layer (const char *word, size_t length)
{
  for (int i = 0; i < LAYERS; i++)
    if (strlen (layer_names[i]) == length && strncmp (layer_names[i], word, length) == 0)
      return true;
  return false;
}

bool
layer_is_disabled (enum layer layer)
{
  bool found = false;
  for (const char *word = value (); *word;) {
    size_t length = strcspn (word, ",");
    if (!is_layer (word, length)) {
      fprintf (stderr, "ADDER_DISABLE_LAYERS: there is no layer %.*s\n", (int)length, word);
      abort ();
    }
    found |= strlen (layer_names[layer]) == length && strncmp (layer_names[layer], word, length) == 0;
    word += length;
    word += strspn (word, ",");
  }
  return found;
}

const char *
disable_layers_variable (void)
{
  static const char prefix[] = "ADDER_DISABLE_LAYERS=";
  extern char **environ;
  for (char **variable = environ; variable && *variable; variable++)
    if (strncmp (*variable, prefix, sizeof prefix - 1) == 0)
      return *variable;
  return NULL;
}
