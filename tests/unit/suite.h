/* SPDX-License-Identifier: Apache-2.0 */
/* A file's main function, under a name: several files make one program, which runs the suite that is its
 * first argument. A suite has the process to itself. */
#pragma once

struct suite {
  const char *name;
  int (*run) (int argc, char **argv);
  struct suite *next;
};
void suite_add (struct suite *suite);

/* Removes FOLDER and what is in it, as far as this user may. Links are not followed. */
void suite_remove (const char *folder);

/* How many descriptors this process has open. */
int suite_descriptors (void);

#define UNIT_SUITE(suite_name)                                                                               \
  static int run_##suite_name (int argc, char **argv);                                                       \
  __attribute__ ((constructor)) static void add_##suite_name (void)                                          \
  {                                                                                                          \
    static struct suite suite = {.name = #suite_name, .run = run_##suite_name};                              \
    suite_add (&suite);                                                                                      \
  }                                                                                                          \
  static int run_##suite_name (int argc, char **argv)
