/* SPDX-License-Identifier: Apache-2.0 */
/* A shell's sandbox after it was parked: one command comes, is held against the lists, runs, and its end is
 * told. */
#pragma once

/* Waits for the WIRE_COMMAND and answers it. SHELL is the program that runs it. Returns when the daemon knows
 * the end, or is gone. */
void shell_answer (const char *shell);
