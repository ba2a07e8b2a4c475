/* SPDX-License-Identifier: Apache-2.0 */
/* What the files environment*.c share: what an interpreter needs, and the words of the manifest. */
#pragma once

#include "common/command.h"
#include "engine/host/environment.h"

/* The file that makes a folder an environment: written last, removed first. */
#define ENVIRONMENT_MANIFEST "environment.conf"
#define ENVIRONMENT_GROUP    "environment"
#define ENVIRONMENT_CACHE    "cache"
#define ENVIRONMENT_SYSTEM   "system" /* the environment that is always there */

/* [a-z0-9][a-z0-9_-]{0,63}: fit for a folder's name, a command line and a key. */
gboolean environment_name_is_clean (const char *name);

/* An environment without a folder. */
gboolean environment_is_built_in (const char *name);

/* A dotted Python name, as `import` takes it. */
gboolean environment_module_is_clean (const char *module);

/* The list KEY of FILE, or an empty one. The caller's. */
GStrv environment_key_list (GKeyFile *file, const char *key);

/* The directories of environments, in order of search; the last has those of environment_with.h. The
 * caller's. */
GStrv environment_directories (void);

/* The paths of all folders with a manifest, by name, each name once: the first found wins. Freed with its
 * strings. */
GPtrArray *environment_folders (void);

/* `PYTHON -m pip install`, without questions and terminal output; the packages follow, then NULL. Freed
 * without its strings, of which PYTHON must last. */
GPtrArray *environment_pip_install (const char *python);

/* ---- its folder (environment_folder.c) ---- */

/* Opens and locks the folder PATH, creating it if MAKE. The descriptor, the caller's; -1 with ERROR,
 * ADDER_ERROR_BUSY if another holds the lock. */
int environment_folder_claim (const char *path, gboolean make, GError **error);

/* Waits until nobody makes or removes the folder PATH. It does not wait for mere users. */
void environment_folder_wait (const char *path);

/* Removes all that is below DIRECTORY_FD. 0, or a negative errno. */
int environment_folder_clear (int directory_fd);

/* Removes the folder PATH, which FD has open and locked: manifest first, then the rest. */
gboolean environment_folder_remove (const char *path, int fd, GError **error);

/* Makes the folder PATH, open as FOLDER_FD, an environment by writing the manifest FILE. */
gboolean environment_folder_seal (const char *path, int folder_fd, GKeyFile *file, GError **error);

/* The environment of the interpreter PYTHON, an absolute path (environment_own.c). */
struct environment *environment_find_own (const char *python, GError **error);

/* ---- what an interpreter needs ---- */

struct facts {
  char *executable; /* as executed */
  char *version;    /* "3.11.2"; "3.11" if only read from names */
  GStrv roots;      /* as in struct environment */
  GStrv packages;   /* the existing directories that packages are installed into */
};

void facts_free (struct facts *facts);

#define autofacts __attribute__ ((cleanup (facts_cleanup)))
void facts_cleanup (struct facts **facts);

/* Asks PYTHON, an absolute path, by running it, unconfined: only for a user who makes an environment of it.
 * ADDER_ERROR_UNSUPPORTED when it does not answer or Adder cannot use it. */
struct facts *facts_ask (const char *python, GError **error);

/* Stores the answer in a manifest. */
void facts_write (const struct facts *facts, GKeyFile *file);

/* The answer that FILE stores, if it is about PYTHON as it is now; else NULL. */
struct facts *facts_recall (const char *python, GKeyFile *file);

/* Changes when the interpreter or the contents of its PACKAGES change; a few calls of stat. The caller's. */
char *facts_stamp (const char *python, const char *const *packages);

/* Whether PATH is TREE or inside it, by name. */
gboolean facts_is_below (const char *path, const char *tree);

/* Why the directory PATH must not be exposed to sandboxes, or NULL when it may. */
const char *facts_why_not_shown (const char *path);

/* The roots of PYTHON according to its needs: lists of paths "prefixes", "needed", "packages" and "wanted".
 * The caller's; ADDER_ERROR_UNSUPPORTED. */
GStrv facts_find_roots (const char *python, const json_t *answer, GError **error);

/* ---- an interpreter by names and links: nothing is run (environment_read.c) ---- */

struct interpreter {
  const char *python;  /* as called; not freed with it */
  char *real;          /* the file */
  char *name;          /* of the file: "python3.11" */
  char *prefix, *base; /* of the environment, and of the installation that its interpreter resolves to */
  char *library;       /* Python's own modules */
  GStrv packages;      /* the existing directories that packages are installed into */
  gboolean venv;
};

/* Two levels above a file: PREFIX for PREFIX/bin/python. The caller's. */
char *interpreter_prefix (const char *python);

/* Fills INTERPRETER for its PYTHON. Returns why it cannot be used, or NULL. */
const char *interpreter_locate (struct interpreter *interpreter);
void interpreter_clear (struct interpreter *interpreter);

struct facts *interpreter_facts (const struct interpreter *interpreter, GError **error);

/* Both for PYTHON. ADDER_ERROR_UNSUPPORTED. */
struct facts *facts_by_names (const char *python, GError **error);
