/* SPDX-License-Identifier: Apache-2.0 */
/* A run or a cell at the command line, for commands that make several. */
#pragma once

#include "interfaces/cli/run_options.h"
#include "interfaces/cli/signal_handler.h"

/* Runs REQUEST, made from OPTIONS (run_options_fill), and shows its output. It gets the signals meanwhile.
 * Returns the exit code, or -1 with ERROR when there was no result. */
int cli_run_request (const struct run_options *options, const struct submission *request,
                     struct signal_handler *signals, GError **error);
