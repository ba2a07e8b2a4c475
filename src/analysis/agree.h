/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a paragraph agrees with the result that it is about. */
#pragma once

#include "analysis/state.h"

/* What in PARAGRAPH contradicts the result of ANALYSIS, as a sentence; NULL: nothing that can be seen. The
 * caller's.
 *
 * - a number that is none of the result's, rounded as it may be or as a percentage, and neither the
 * difference, ratio or relative change of two of them in a column, nor their sum or mean, nor in the
 * question, the code or what was printed;
 * - behind the name of a row, numbers of other rows and none of its own;
 * - a name of the sample rows that is not in the result, the question, the code or what was printed;
 * - three or more rows in an order that is neither theirs nor the reverse, where the plan says that they have
 *   one.
 *
 * Numbers that are a part of a word or a date, and those with a unit written to them, are not looked at. */
char *analysis_disagreement (const struct analysis *analysis, const char *paragraph);
