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

/* Can be read from the first cancelling on, for what is no run: a question to a model. The canceller's. */
int canceller_fd (const struct canceller *canceller);

/* Cancels, as a signal would. */
void canceller_ask (struct canceller *canceller);

/* Nothing is under way any more, such as while a question is asked: the next signal ends the program. */
void canceller_rest (struct canceller *canceller);

/* What signals were for is over: the next one is a first one, for what canceller_set then names. FALSE: one
 * that came was no Ctrl-C, and wants the program to end. */
gboolean canceller_again (struct canceller *canceller);
