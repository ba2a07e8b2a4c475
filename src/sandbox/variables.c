/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/variables.h"

#include <stddef.h>

const char *const variables_common[] = {
    "USER=sandbox", "LOGNAME=sandbox", "SHELL=/bin/sh", "LANG=C.UTF-8", NULL,
};

const char *const variables_interpreter[] = {
    "MPLBACKEND=Agg",
    /* A zygote must have one thread when it forks, and a run has the processors that it is given. */
    "OPENBLAS_NUM_THREADS=1",
    "OMP_NUM_THREADS=1",
    "MKL_NUM_THREADS=1",
    "NUMEXPR_NUM_THREADS=1",
    "NUMEXPR_MAX_THREADS=1",
    "ARROW_IO_THREADS=1",
    "POLARS_MAX_THREADS=1",
    /* The allocators of pyarrow: one starts a thread when it is loaded, the default one reserves 1 GiB of
     * address space at first use, which counts in full where RLIMIT_DATA is the memory limit. */
    "ARROW_DEFAULT_MEMORY_POOL=system",
    "JE_ARROW_MALLOC_CONF=background_thread:false",
    /* Installers ask no index, and so fail at once, where they would try for ten seconds. What is there
     * already they find, and are content. A run with a network does without these
     * (runner/python/installs.py). */
    "PIP_NO_INDEX=1",
    "PIP_RETRIES=0",
    "PIP_NO_INPUT=1",
    "PIP_DISABLE_PIP_VERSION_CHECK=1",
    "UV_OFFLINE=1",
    "CONDA_OFFLINE=1",
    NULL,
};
