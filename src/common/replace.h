/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are replaced whole or not at all. */
#pragma once

#include <glib.h>

/* Replaces PATH, which errors call SHOWN, by TEXT, with mode 0600. When it returns, it holds also if the
 * machine loses its power: the text is on the disk before its name is, and the name before anybody is told.
 */
gboolean replace_file (const char *path, const char *shown, const char *text, GError **error);
