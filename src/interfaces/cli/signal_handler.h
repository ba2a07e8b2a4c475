/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of Ctrl-C and similar signals on a run: the first Ctrl-C interrupts a cell of a session, so that
 * its variables stay; other runs, and cells interrupted before, are cancelled; another signal ends the
 * program without waiting for the result. */
#pragma once

#include "interfaces/socket/event_source.h"

struct signal_handler;

/* Call it before any other thread is started, so that all of them leave these signals alone. The signal
 * handler lives as long as the program. */
struct signal_handler *signal_handler_start (void);

/* The target of signals from now on, or NULL. An earlier signal takes effect at once. */
void signal_handler_set_source (struct signal_handler *handler, struct event_source *source);

/* Readable from the first cancellation on, for work that is no run: a question to a model. The handler's. */
int signal_handler_fd (const struct signal_handler *handler);

/* Cancels, as a signal would. */
void signal_handler_cancel (struct signal_handler *handler);

/* Nothing is active, such as while a question is asked: the next signal ends the program. */
void signal_handler_set_idle (struct signal_handler *handler);

/* The target of earlier signals is done: the next signal is a first one, for the target that
 * signal_handler_set_source then names. FALSE: an earlier one was no Ctrl-C, and ends the program. */
gboolean signal_handler_reset (struct signal_handler *handler);
