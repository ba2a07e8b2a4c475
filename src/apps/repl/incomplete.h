/* SPDX-License-Identifier: Apache-2.0 */
/* Whether code that is being typed wants another line. */
#pragma once

#include <glib.h>

/* CODE, lines without the last one's end, goes on: within brackets, a string of three quotes or after a
 * backslash; or it is a block (a line ends in ":", begins with "@" or "%%") that no blank line has ended. The
 * rule is one of words, not Python's grammar: what it takes for whole and is not, Python reports. */
gboolean incomplete_code (const char *code);
