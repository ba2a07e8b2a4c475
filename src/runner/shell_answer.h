/* SPDX-License-Identifier: Apache-2.0 */
/* A shell's sandbox after parking: it receives one command, checks it against the lists, runs it, and reports
 * its end. */
#pragma once

/* Waits for the WIRE_COMMAND and answers it. SHELL is the program that runs it. Returns when the daemon knows
 * the end, or is gone. */
void shell_answer (const char *shell);
