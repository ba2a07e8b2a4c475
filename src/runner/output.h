/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the runner itself makes. For code these would be audit events, which a guard's rules may refuse.
 */
#pragma once

/* Makes an empty file at PATH, in the place of one that is there, and the directories that it lies in.
 * Returns a descriptor to write to, or a negative errno. */
int output_make (const char *path);

/* Gives the file FROM the name TO. Returns 0 or a negative errno. */
int output_move (const char *from, const char *to);

/* Removes the file PATH. Returns 0, also where there is none, or a negative errno. */
int output_drop (const char *path);
