/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a shell's tree that differs from an interpreter's: chosen programs with their libraries, one by
 * one. */
#pragma once

#include <glib.h>

/* A file of the host's that is in a shell's tree. */
struct layout_file {
  char *source;      /* on the host, links resolved */
  char *target;      /* in the tree */
  gboolean runnable; /* it is a program, or the loader */
};

/* The path of the host's shell that commands are run by, links resolved: dash, which the parser in the
 * sandbox follows, where it is there. The caller's; NULL: there is none. */
char *layout_find_shell (void);

/* All programs of sandbox/programs.h that the host has, the shell (as /usr/bin/sh), and what they and the
 * program ZYGOTE need. GPtrArray of struct layout_file, freed with it. */
GPtrArray *layout_programs (const char *zygote);
