/* SPDX-License-Identifier: Apache-2.0 */
/* The table of limits. Defaults suit one data analysis on a laptop; maxima keep one caller from taking over a
 * host. */
#include "sandbox/limits.h"

#include <string.h>

#define KIB    ((uint64_t)1024)
#define MIB    (1024 * KIB)
#define GIB    (1024 * MIB)
#define SECOND ((uint64_t)1000)

const struct limit_row limit_table[LIMIT_COUNT] = {
    [LIMIT_WALL] = {"wall_ms", UNIT_MS, false, false, 1, 30 * SECOND, 3600 * SECOND,
                    "time from start to end"},
    [LIMIT_CPU] = {"cpu_ms", UNIT_MS, false, true, 1, 30 * SECOND, 3600 * SECOND,
                   "processor time of all processes of the run"},
    [LIMIT_CPU_PERCENT] =
        {"cpu_percent", UNIT_COUNT, true, false, 0, 0, 100 * 1024,
         "share of the processors, in percent of one (250: two and a half); 0: all that is free. "
         "Needs control groups"},
    [LIMIT_MEMORY] = {"memory_bytes", UNIT_BYTES, false, true, LIMIT_MEMORY_LEAST, 1 * GIB, 64 * GIB,
                      "memory of all processes of the run, beyond what the warm interpreter shares"},
    [LIMIT_PIDS] = {"pids", UNIT_COUNT, false, true, 1, 64, 4096, "processes and threads at once"},
    [LIMIT_FILE_SIZE] = {"file_bytes", UNIT_BYTES, false, true, 0, 256 * MIB, 16 * GIB, "size of one file"},
    [LIMIT_OPEN_FILES] = {"open_files", UNIT_COUNT, false, true, 16, 256, 4096,
                          "open descriptors of one process"},
    [LIMIT_WORKSPACE] = {"workspace_bytes", UNIT_BYTES, true, false, 1 * MIB, 256 * MIB, 16 * GIB,
                         "space in /work and /tmp together"},
    [LIMIT_WORKSPACE_FILES] = {"workspace_files", UNIT_COUNT, true, false, 16, 16384, 1 << 20,
                               "files and directories in /work and /tmp together"},
    [LIMIT_SHM] = {"shm_bytes", UNIT_BYTES, true, false, 4 * KIB, 64 * MIB, 4 * GIB, "space in /dev/shm"},
    [LIMIT_OUTPUT] = {"output_bytes", UNIT_BYTES, false, false, 0, 64 * MIB, 4 * GIB,
                      "stdout and stderr together, after which the run is ended"},
    [LIMIT_REPLY] = {"reply_bytes", UNIT_BYTES, false, false, 256, 64 * KIB, 4 * MIB,
                     "each of stdout and stderr in the reply, as head and tail"},
    [LIMIT_SPILL] = {"spill_bytes", UNIT_BYTES, false, false, 0, 64 * MIB, 4 * GIB,
                     "each of stdout and stderr that is kept whole where the reply is cut"},
    [LIMIT_VALUE] = {"value_bytes", UNIT_BYTES, false, false, 64, 64 * KIB, 4 * MIB,
                     "one representation of the value, and a traceback"},
    [LIMIT_FILES] = {"files", UNIT_COUNT, false, false, 0, 64, 4096, "files that come back"},
    [LIMIT_FILES_BYTES] = {"files_bytes", UNIT_BYTES, false, false, 0, 256 * MIB, 16 * GIB,
                           "size of all files that come back"},
    [LIMIT_FILES_DEPTH] = {"files_depth", UNIT_COUNT, false, false, 1, 16, 64,
                           "directory levels in which files are looked for"},
    [LIMIT_TABLES] = {"tables", UNIT_COUNT, false, false, 0, 16, 256,
                      "tables that are written to files, where that is asked for"},
    [LIMIT_TABLE] = {"table_bytes", UNIT_BYTES, false, false, 0, 64 * MIB, 4 * GIB, "each of these files"},
    [LIMIT_STDIN] = {"stdin_bytes", UNIT_BYTES, false, false, 0, 64 * MIB, 1 * GIB, "standard input"},
    [LIMIT_CODE] = {"code_bytes", UNIT_BYTES, false, false, 1, 1 * MIB, 1 * MIB, "the code itself"},
    [LIMIT_NETWORK_CONNECTIONS] = {"network_connections", UNIT_COUNT, false, false, 1, 32, 256,
                                   "connections through the proxy at once"},
    [LIMIT_NETWORK_IN] = {"network_in_bytes", UNIT_BYTES, false, false, 0, 256 * MIB, 64 * GIB,
                          "what comes through the proxy from all hosts together"},
    [LIMIT_NETWORK_OUT] = {"network_out_bytes", UNIT_BYTES, false, false, 0, 16 * MIB, 16 * GIB,
                           "what goes through the proxy to all hosts together"},
    [LIMIT_NETWORK_TIME] = {"network_ms", UNIT_MS, false, false, 1, 300 * SECOND, 24 * 3600 * SECOND,
                            "time that one connection through the proxy may last"},
};

struct limits
limits_default (void)
{
  struct limits limits;
  for (int i = 0; i < LIMIT_COUNT; i++)
    limits.value[i] = limit_table[i].standard;
  return limits;
}

struct limits
limits_maximum (void)
{
  struct limits limits;
  for (int i = 0; i < LIMIT_COUNT; i++)
    limits.value[i] = limit_table[i].maximum;
  return limits;
}

int
limit_find (const char *name)
{
  for (int i = 0; i < LIMIT_COUNT; i++)
    if (strcmp (limit_table[i].name, name) == 0)
      return i;
  return -1;
}
