/* SPDX-License-Identifier: Apache-2.0 */
/* What the files environment*.c share: what an interpreter says of itself, and the words of the manifest. */
#pragma once

#include "common/command.h"
#include "engine/environment.h"

/* The file that makes a folder an environment: written last, removed first. */
#define ENVIRONMENT_MANIFEST "environment.conf"
#define ENVIRONMENT_GROUP    "environment"
#define ENVIRONMENT_CACHE    "cache"
/* The environment that is always there, and the interpreter that Adder prefers. */
#define ENVIRONMENT_SYSTEM        "system"
#define ENVIRONMENT_SYSTEM_PYTHON "/usr/bin/python3"

/* [a-z0-9][a-z0-9_-]{0,63}: fit for a folder's name, a command line and a key. */
gboolean environment_name_is_clean (const char *name);

/* One that is there without a folder. */
gboolean environment_is_built_in (const char *name);

/* A dotted Python name, as `import` takes it. */
gboolean environment_module_is_clean (const char *module);

/* The list KEY of FILE, or an empty one. The caller's. */
GStrv environment_key_list (GKeyFile *file, const char *key);

/* The environment of the interpreter PYTHON, an absolute path (environment_own.c). */
struct environment *environment_find_own (const char *python, GError **error);

/* ---- what an interpreter says of itself ---- */

struct facts {
  gatomicrefcount references;
  char *executable; /* as it is to be executed */
  char *version;
  GStrv roots;    /* as in struct environment */
  GStrv packages; /* the directories that packages are installed into, those that exist */
  char *stamp;    /* facts_stamp() when it was asked */
};

/* The facts of PYTHON, an absolute path: remembered while nothing changed on disk, else asked of it.
 * ADDER_ERROR_UNSUPPORTED when it does not answer or is none that Adder can use. Released with facts_unref.
 */
struct facts *facts_of (const char *python, GError **error);
void facts_unref (struct facts *facts);

#define autofacts __attribute__ ((cleanup (facts_cleanup)))
void facts_cleanup (struct facts **facts);

/* Changes when the interpreter or what is in its PACKAGES does; a few calls of stat. The caller's. */
char *facts_stamp (const char *python, const char *const *packages);

/* The package directories remembered for PYTHON; NULL when it was never asked. The caller's. */
GStrv facts_packages (const char *python);

/* The same for ENVIRONMENT, whose own are known without asking. The caller's. */
GStrv environment_packages (const struct environment *environment);

/* Why the directory PATH cannot be shown to sandboxes, or NULL when it can. */
const char *facts_why_not_shown (const char *path);

/* The roots of PYTHON by what it needs: lists of paths "prefixes", "needed", "packages" and "wanted". The
 * caller's; ADDER_ERROR_UNSUPPORTED. */
GStrv facts_find_roots (const char *python, const json_t *answer, GError **error);

/* Keeps an earlier answer in a manifest, and takes it from there when its stamp still fits. */
void facts_write (const struct facts *facts, GKeyFile *file);
void facts_recall (const char *python, GKeyFile *file);
