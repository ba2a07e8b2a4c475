/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are replaced whole or not at all. */
#pragma once

#include <glib.h>

/* Replaces PATH, which errors call SHOWN, by TEXT, with mode 0600. Once it returns, the change survives a
 * power cut: the text is on the disk before its name is, and the name before the return. */
gboolean replace_file (const char *path, const char *shown, const char *text, GError **error);
