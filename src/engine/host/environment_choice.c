/* SPDX-License-Identifier: Apache-2.0 */
/* What Adder uses where nobody names an environment or an interpreter. */
#include "common/paths.h"
#include "engine/host/environment_private.h"

#define PREFERRED   "science"
#define HOST_PYTHON "/usr/bin/python3"

const char *
environment_default (const struct config *config)
{
  if (config->environment)
    return config->environment;
  return environment_exists (PREFERRED, NULL) ? PREFERRED : ENVIRONMENT_SYSTEM;
}

/* Looked for once: the program does not move while it runs. */
const char *
environment_system_python (void)
{
  static gsize chosen;
  if (g_once_init_enter (&chosen)) {
    g_autofree char *own = paths_own_python ();
    autofacts struct facts *facts = own ? facts_by_names (own, NULL) : NULL;
    g_once_init_leave (&chosen, (gsize)(facts ? g_steal_pointer (&own) : g_strdup (HOST_PYTHON)));
  }
  return (const char *)chosen;
}
