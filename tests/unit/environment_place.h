/* SPDX-License-Identifier: Apache-2.0 */
/* A place for environments of a test's own, in place of those of the host. */
#pragma once

#include <glib.h>

/* Not below /tmp: every sandbox has that for itself, so environments there are refused. */
struct place {
  char *root;
  char *environments;
};

/* For g_test_add. */
void place_set_up (struct place *place, gconstpointer data);
void place_tear_down (struct place *place, gconstpointer data);

/* A file with folders to it; its path is the caller's. */
char *write_file (const char *directory, const char *name, const char *text, int mode);

/* ERROR is of ADDER_ERROR with CODE and says PART; it is cleared. */
void assert_error (GError **error, int code, const char *part);
