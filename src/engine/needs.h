/* SPDX-License-Identifier: Apache-2.0 */
/* What a program needs to be executed: the loader and the libraries that its file names, and theirs. */
#pragma once

#include <glib.h>

struct needs {
  GHashTable *libraries;  /* paths at which the loader finds them; a set */
  GHashTable *loaders;    /* paths that programs name; a set */
  GPtrArray *directories; /* where libraries are looked for */
};

struct needs *needs_new (void);
void needs_free (struct needs *needs);

/* Adds what the program in the file PATH needs. FALSE when it cannot be executed with what there is: a
 * library is not there, or it is neither a program of this machine nor a script for /bin/sh; then nothing of
 * it may be relied on. */
gboolean needs_add (struct needs *needs, const char *path);

/* Adds the library NAME, which programs may load while they run, with what it needs, if it is there. */
void needs_add_library (struct needs *needs, const char *name);
