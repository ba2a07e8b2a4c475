/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: a Python interpreter with its packages and the modules to load ahead. Each is a folder NAME
 * in one of paths_environment_dirs(), holding environment.conf (a key file) and, where Adder made it, venv/
 * and cache/. The name "system" always exists: /usr/bin/python3 with nothing loaded ahead. So does "shell",
 * in which there is no Python: its code are command lines (runner/shell.c). */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

#define ENVIRONMENT_SHELL "shell"

struct environment {
  char *name;
  char *directory; /* NULL for "system" */
  char *python; /* absolute path as it is to be executed: for a venv its own bin/python, links unresolved; of
                   "shell" the shell */
  gboolean shell; /* it is "shell" */
  GStrv modules;  /* to load ahead, in order */
  char *cache;    /* directory with a matplotlib font cache, or NULL */
  char *version;  /* "3.11.2" */
  GStrv roots;    /* host directories the interpreter needs, absolute, none below another: /usr, the venv, a
                     prefix */
  GStrv trees;    /* those in which what its roots lead to must lie; NULL: there are no roots */
  GStrv packages; /* directories that packages are installed into */
  char *base;     /* of one with packages more (environment_with.h): the one that it was made of; else NULL */
  GStrv with;     /* and the packages: requirements; NULL or none */
};

/* A caller's own environment has the absolute path of its interpreter as its name: */
gboolean environment_is_own (const char *name);

/* Reads names, links and the manifest; nothing of the environment is run, here and wherever it is not said.
 * ADDER_ERROR_NOT_FOUND names those that exist. A broken interpreter, or one that Adder cannot use (older
 * than 3.9, free-threaded, not CPython), is ADDER_ERROR_UNSUPPORTED and says why. NAME NULL is an error of
 * the caller's. */
struct environment *environment_find (const char *name, GError **error);

/* Whether there is one called NAME, which is all that is looked at; else ADDER_ERROR_NOT_FOUND as above. */
gboolean environment_exists (const char *name, GError **error);
void environment_free (struct environment *environment);

/* All environments of Python by name, "system" last; broken ones are left out. GPtrArray of struct
 * environment, freed with it. */
GPtrArray *environment_list (void);

/* A short text that changes when packages are installed into or removed from the environment, or its manifest
 * or interpreter changes: cheap enough for each run (a handful of stat calls). g_free. */
char *environment_fingerprint (const struct environment *environment);

/* Name, python, version, modules, directory, packages (name and version), whether IPython is there. The
 * caller's. */
json_t *environment_describe (const struct environment *environment, GError **error);

struct environment_package {
  char *name, *version; /* as pip compares names: lower-case, with single hyphens; few and plain characters */
};

/* The packages of ENVIRONMENT by name, as the names of their folders tell: nothing is run. GPtrArray of
 * struct environment_package, freed with it. */
GPtrArray *environment_installed (const struct environment *environment);

/* A directory that environments load code from, or are kept in. */
struct environment_place {
  char *environment; /* its name; NULL: of all that are kept there */
  char *path;        /* absolute; it may not be there */
};

/* All of them, but for those below one that comes before; also of environments that cannot be used now.
 * GPtrArray of struct environment_place, freed with it. */
GPtrArray *environment_places (void);

struct environment_recipe {
  const char *name;           /* [a-z0-9][a-z0-9_-]{0,63} */
  const char *python;         /* interpreter to make the venv from, or a ready venv/prefix's to adopt when no
                                 requirements; NULL: python3 */
  const char *requirements;   /* requirements file, or NULL */
  const char *const *modules; /* NULL: those of the shipped environment of that name, else none */
};
/* Makes an environment: whole or not at all. It is built in place, because a venv holds its own path; what
 * makes it one is its manifest, which comes last. Progress, one line a step, goes to PROGRESS (or NULL). */
gboolean environment_create (const struct environment_recipe *recipe, FILE *progress, GError **error);
gboolean environment_remove (const char *name, GError **error);
