/* SPDX-License-Identifier: Apache-2.0 */
/* The elements and what they weigh. */
#pragma once

#include <glib.h>

#define WEIGHTS_ELEMENTS 118

/* The standard atomic weight of the element of SYMBOL, written as it is written ("Ti"), in unified atomic
 * mass units: the abridged values of IUPAC's commission (CIAAW, 2021); where there is none, the mass number
 * of the isotope that lives longest. 0 where SYMBOL is no element. */
double materials_weight (const char *symbol);

/* The symbol of the element of NUMBER, 1 to WEIGHTS_ELEMENTS. Static. */
const char *materials_symbol (guint number);
