/* SPDX-License-Identifier: Apache-2.0 */
/* What a program needs to execute: the loader and libraries that its file names, and theirs. */
#pragma once

#include <glib.h>

struct elf_dependencies {
  GHashTable *libraries;  /* paths where the loader finds them; a set */
  GHashTable *loaders;    /* paths that programs name; a set */
  GPtrArray *directories; /* where libraries are looked for */
};

struct elf_dependencies *elf_dependencies_new (void);
void elf_dependencies_free (struct elf_dependencies *dependencies);

/* Adds what the program in the file PATH needs. FALSE when it cannot be executed here: a library is missing,
 * or it is neither a program of this machine nor a script for /bin/sh; then the result is unusable. */
gboolean elf_dependencies_add (struct elf_dependencies *dependencies, const char *path);

/* Adds the library NAME, which programs may load at run time, with its dependencies, if it exists. */
void elf_dependencies_add_library (struct elf_dependencies *dependencies, const char *name);
