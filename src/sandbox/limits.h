/* SPDX-License-Identifier: Apache-2.0 */
/* All bounded settings of a run that a user controls: one table, with unit, default and maximum. Profiles,
 * the command line, requests, results and docs/configuration.md all use it; no number is stated elsewhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum limit {
  LIMIT_WALL,        /* ms from acquisition to the end */
  LIMIT_CPU,         /* ms of processor time, all processes of the run together */
  LIMIT_CPU_PERCENT, /* of one processor, all processes of the run together; 0: as much as there is. Needs a
                        control group */
  LIMIT_MEMORY,      /* bytes, all processes of the run together, beyond what the warm interpreter shares */
  LIMIT_PIDS,        /* processes and threads at once */
  LIMIT_FILE_SIZE,   /* bytes, one file (RLIMIT_FSIZE) */
  LIMIT_OPEN_FILES,  /* descriptors of one process */
  LIMIT_WORKSPACE,   /* bytes of the workspace: /work and /tmp together */
  LIMIT_WORKSPACE_FILES,     /* inodes of the workspace */
  LIMIT_SHM,                 /* bytes of /dev/shm */
  LIMIT_OUTPUT,              /* bytes drained from stdout and stderr together before the run is ended */
  LIMIT_REPLY,               /* bytes of each stream kept for the reply, as head and tail */
  LIMIT_SPILL,               /* bytes of each stream kept whole, beside the reply that was cut */
  LIMIT_VALUE,               /* bytes of one representation of the value or of a traceback */
  LIMIT_FILES,               /* files taken out of the workspace */
  LIMIT_FILES_BYTES,         /* bytes of all of them together */
  LIMIT_FILES_DEPTH,         /* directory levels below the workspace that are looked at */
  LIMIT_TABLES,              /* tables that are written to files, where the request asks for it */
  LIMIT_TABLE,               /* bytes of each of these files */
  LIMIT_STDIN,               /* bytes of standard input */
  LIMIT_CODE,                /* bytes of code */
  LIMIT_NETWORK_CONNECTIONS, /* at once, through the proxy */
  LIMIT_NETWORK_IN,          /* bytes from all hosts together; of a session, in one cell */
  LIMIT_NETWORK_OUT,         /* bytes to them */
  LIMIT_NETWORK_TIME,        /* ms that one connection may last */
  LIMIT_COUNT,
};

/* The least limit of memory: more than a sandbox holds by itself (memory.c). */
#define LIMIT_MEMORY_LEAST (UINT64_C (16) << 20)

enum limit_unit { UNIT_COUNT, UNIT_BYTES, UNIT_MS };

struct limit_row {
  const char *name; /* as in results, profiles and requests: "wall_ms", "memory_bytes", "pids" */
  enum limit_unit unit;
  bool in_spec; /* fixed when a sandbox is parked, so it selects the pool; others are set at acquisition */
  bool inside;  /* enforced by the sandbox's own resource limits: part of the spec where these cannot be set
                   from outside (isolation without namespaces) */
  uint64_t minimum, standard, maximum;
  const char *text; /* one line for people */
};

extern const struct limit_row limit_table[LIMIT_COUNT];

struct limits {
  uint64_t value[LIMIT_COUNT];
};

/* All limits at their default, and all at their maximum. */
struct limits limits_default (void);
struct limits limits_maximum (void);

/* The index of the limit called NAME, or -1. */
int limit_find (const char *name);
