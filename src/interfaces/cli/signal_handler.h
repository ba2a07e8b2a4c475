/* SPDX-License-Identifier: Apache-2.0 */
/* What Ctrl-C and its like do to a run: a cell of a session is interrupted by the first Ctrl-C, so that its
 * variables stay; what is no cell, or was interrupted before, is cancelled; and who asks once more does not
 * wait for the result: the program ends. */
#pragma once

#include "interfaces/socket/event_source.h"

struct signal_handler;

/* Call it before any other thread is started, so that all of them leave these signals alone. The signal
 * handler lives as long as the program. */
struct signal_handler *signal_handler_start (void);

/* What signals are for from now on, or NULL. One that came before meets it at once. */
void signal_handler_set_source (struct signal_handler *handler, struct event_source *source);

/* Can be read from the first cancelling on, for what is no run: a question to a model. The handler's. */
int signal_handler_fd (const struct signal_handler *handler);

/* Cancels, as a signal would. */
void signal_handler_cancel (struct signal_handler *handler);

/* Nothing is under way any more, such as while a question is asked: the next signal ends the program. */
void signal_handler_set_idle (struct signal_handler *handler);

/* What signals were for is over: the next one is a first one, for what signal_handler_set_source then names.
 * FALSE: one that came was no Ctrl-C, and wants the program to end. */
gboolean signal_handler_reset (struct signal_handler *handler);
