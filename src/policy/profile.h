/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: named sets of limits and rules, one key file each (profiles/NAME.conf; a user's own in
 * paths_config_dir() wins). An error names file, line or group, and key. */
#pragma once

#include <glib.h>

#include "sandbox/limits.h"

struct profile {
  char *name;
  char *title;
  struct limits limits; /* what a run gets that asks for nothing */
  char *environment;    /* NULL: the configuration's */
  guint min_isolation;  /* 0 to 3 */
};

/* ADDER_ERROR_NOT_FOUND names the profiles there are. */
struct profile *profile_load (const char *name, GError **error);
/* The profile NAME as FILE says it. NULL without ERROR: there is no such file. */
struct profile *profile_load_file (const char *name, const char *file, GError **error);
void profile_free (struct profile *profile);
GStrv profile_names (void);
