/* SPDX-License-Identifier: Apache-2.0 */
/* The 230 space groups by the symbols that databases write. */
#pragma once

#include <glib.h>

#define SPACE_GROUPS 230

/* The number of SYMBOL, a Hermann-Mauguin symbol in the standard setting: short ("P4_2/mnm", "P42/mnm"),
 * apart
 * ("R -3 c :H"), or long where it is monoclinic ("P 1 21/c 1"). 0 where it is none of these. */
int space_group_number (const char *symbol);
