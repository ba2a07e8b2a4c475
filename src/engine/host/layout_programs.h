/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a shell's tree that differs from an interpreter's: chosen programs with their libraries, one by
 * one. */
#pragma once

#include <glib.h>

/* A host file in a shell's tree. */
struct layout_file {
  char *source;      /* on the host, links resolved */
  char *target;      /* in the tree */
  gboolean runnable; /* it is a program, or the loader */
};

/* The path of the host's shell that runs commands, links resolved: dash if available, which the parser in the
 * sandbox follows. The caller's; NULL: none. */
char *layout_find_shell (void);

/* All programs of sandbox/programs.h that the host has, the shell (as /usr/bin/sh), and the dependencies of
 * these and of the program ZYGOTE. GPtrArray of struct layout_file, freed with it. */
GPtrArray *layout_programs (const char *zygote);
