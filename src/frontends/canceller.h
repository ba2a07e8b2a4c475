/* SPDX-License-Identifier: Apache-2.0 */
/* What Ctrl-C and its like do to a run: a cell of a session is interrupted by the first Ctrl-C, so that its
 * variables stay; what is no cell, or was interrupted before, is cancelled; and who asks once more does not
 * wait for the result: the program ends. */
#pragma once

#include "frontends/run_source.h"

struct canceller;

/* Call it before any other thread is started, so that all of them leave these signals alone. The canceller
 * lives as long as the program. */
struct canceller *canceller_start (void);

/* What signals are for from now on, or NULL. One that came before meets it at once. */
void canceller_set (struct canceller *canceller, struct run_source *source);

/* Cancels, as a signal would. */
void canceller_ask (struct canceller *canceller);

/* Nothing is under way any more, such as while a question is asked: the next signal ends the program. */
void canceller_rest (struct canceller *canceller);
