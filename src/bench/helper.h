/* SPDX-License-Identifier: Apache-2.0 */
/* A Python process that stays: one end of a pair of pipes, to which code goes and from which times come. */
#pragma once

#include "bench/bench.h"

struct bench_helper;

/* Starts the environment's interpreter, which runs what it is given in one set of variables. NULL on error.
 */
struct bench_helper *bench_helper_python (struct bench *bench, GError **error);

/* Starts a Jupyter kernel in the environment's interpreter, and a client that drives it as a notebook would.
 * ADDER_ERROR_UNSUPPORTED where Debian's python3-jupyter-client and python3-ipykernel are not installed. */
struct bench_helper *bench_helper_kernel (struct bench *bench, GError **error);

/* Milliseconds that CODE took, by the helper's own clock: its pipes are not counted. *RET_STDOUT, which may
 * be NULL, is the caller's; empty unless the helper is a kernel. */
gboolean bench_helper_run (struct bench_helper *helper, const char *code, double *ret_ms, char **ret_stdout,
                           GError **error);

/* Ends it, and the kernel. NULL is allowed. */
void bench_helper_free (struct bench_helper *helper);
