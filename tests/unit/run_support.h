/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of whole runs share: engines on this host's own Python, requests, results taken apart. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "common/json.h"

#define ENVIRONMENT "system"
#define MIB         ((guint64)1 << 20)

/* A directory for configuration files and environments; outside /tmp, which sandboxes have for themselves. */
extern char *scratch;

/* Makes the directory, or says in TAP why there is nothing to test on this host (FALSE). */
gboolean support_begin (void);
void support_end (void);

/* SETTINGS are the text of adder.conf; NULL: three parked sandboxes. */
AdderEngine *new_engine (const char *settings);
AdderRequest *new_request (const char *code);
void set_limit (AdderRequest *request, const char *name, guint64 value);

json_t *parse (const AdderResult *result);
const char *string_at (const json_t *object, const char *key);
const char *error_at (const json_t *result, const char *key);
double usage_of (const json_t *result, const char *key);
gboolean has_cgroups (const json_t *result);

/* Runs REQUEST, which it frees, and checks how it ended. Returns the result as JSON, the caller's. */
json_t *run (AdderEngine *engine, AdderRequest *request, const char *outcome, int exit_code);

/* The same for a result of which nothing else is asked. */
void expect (AdderEngine *engine, AdderRequest *request, const char *outcome, int exit_code);

/* Pulls RUN to its result. */
AdderResult *pull (AdderRun *run);

/* One outcome of one piece of code. */
struct row {
  const char *name;
  const char *code;
  const char *limit;
  guint64 value;
  const char *outcome; /* NULL: whatever it does, it ends */
  int exit_code;
  const char *type; /* of the error, or NULL */
};
void check_row (AdderEngine *engine, const struct row *row);

/* A member of the engine's status. */
json_int_t status_number (AdderEngine *engine, const char *key);

/* Of the engine's only pool: a member of its status. */
json_int_t pool_number (AdderEngine *engine, const char *key);
gboolean pool_flag (AdderEngine *engine, const char *key);

/* An environment of its own kind: a venv with MODULE in it, which the zygote loads ahead. Returns the path of
 * the module, the caller's. */
char *make_environment (const char *name, const char *module, const char *content);
json_t *run_in (AdderEngine *engine, const char *environment, const char *code, const char *outcome,
                int exit_code);

/* A module "slow" that is not loaded before the file "go" is in its venv, and how many of it a run finds
 * loaded. */
#define SLOW                                                                                                 \
  "import os, sys, time\n"                                                                                   \
  "while not os.path.exists(os.path.join(sys.prefix, 'go')): time.sleep(0.01)\n"
#define COUNT_SLOW "import sys; sum(name == 'sl' 'ow' for name in sys.modules)"

/* Puts the file MARK into the venv of NAME, or takes it away. */
void set_mark (const char *name, const char *mark, gboolean present);
