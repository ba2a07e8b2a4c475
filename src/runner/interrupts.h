/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a session. While code runs they are Python's. Between cells, when what the last one left (an
 * alarm, a timer, a handler) could raise an exception within the loop, they are held: they wait for the next
 * cell.
 *
 * SIGINT comes from the daemon with the number of the cell that it is meant for. It may come late, when that
 * cell is over: then it must not meet the next. Or early, when the frame is on its way: then it must not be
 * lost. */
#pragma once

#include <stdbool.h>

/* To be called by the thread that runs the code, as are the others. From here on signals wait. Returns 0 or a
 * negative errno. */
int interrupts_hold (void);

/* Lets signals through, those that wait first. Returns whether CELL was interrupted before it began. */
bool interrupts_release (int cell);
