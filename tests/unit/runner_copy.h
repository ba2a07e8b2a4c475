/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The path of a new directory with the runner's programs, as an ordinary user may not be able to reach the
 * build. */
char *runner_copy (void);

/* Removes it, and frees DIRECTORY. */
void runner_remove (char *directory);
