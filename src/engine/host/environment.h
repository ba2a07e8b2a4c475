/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: a Python interpreter with its packages and the modules to preload. Each is a folder NAME in
 * one of paths_environment_dirs(), holding environment.conf (a key file) and, where Adder made it, venv/ and
 * cache/. The name "system" always exists: environment_system_python() with nothing preloaded. So does
 * "shell", which has no Python: its code is command lines (runner/shell.c). */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

#include "common/config.h"

#define ENVIRONMENT_SHELL "shell"

struct environment {
  char *name;
  char *directory; /* NULL for "system" */
  char *python; /* absolute path to execute: for a venv its own bin/python, links unresolved; for "shell" the
                   shell */
  gboolean shell; /* it is "shell" */
  GStrv modules;  /* to preload, in order */
  char *cache;    /* directory with a matplotlib font cache, or NULL */
  char *version;  /* "3.11.2" */
  GStrv roots;    /* host directories that the interpreter needs, absolute, none below another: /usr, the
                     venv, a prefix */
  GStrv trees;    /* directories that must contain what its roots resolve to; NULL: there are no roots */
  GStrv packages; /* directories that packages are installed into */
  char *base;     /* with added packages (environment_with.h): the environment it was made from; else NULL */
  GStrv with;     /* and the added packages: requirements; NULL or none */
};

/* A caller's own environment has the absolute path of its interpreter as its name: */
gboolean environment_is_own (const char *name);

/* The environment of runs that name none: that of [environment] default; where it is not set, "science", or
 * "system" if there is none. Owned by CONFIG or static. */
const char *environment_default (const struct config *config);

/* The interpreter of "system", from which environments are also made: /usr/bin/python3. For a program that
 * was installed as a wheel it is the one beside it, if Adder can use that. */
const char *environment_system_python (void);

/* Reads names, links and the manifest; this and all functions below run nothing of the environment unless
 * they say so. ADDER_ERROR_NOT_FOUND names the existing ones. A broken interpreter, or one that Adder cannot
 * use (older than 3.9, free-threaded, not CPython), is ADDER_ERROR_UNSUPPORTED and says why. NAME NULL is the
 * caller's error. */
struct environment *environment_find (const char *name, GError **error);

/* Whether one called NAME exists, without checking it further; else ADDER_ERROR_NOT_FOUND as above. */
gboolean environment_exists (const char *name, GError **error);
void environment_free (struct environment *environment);

/* All Python environments by name, "system" last, without broken ones. GPtrArray of struct environment, freed
 * with it. */
GPtrArray *environment_list (void);

/* A short text that changes when packages are installed into or removed from the environment, or its manifest
 * or interpreter changes: cheap enough for each run (a handful of stat calls). g_free. */
char *environment_fingerprint (const struct environment *environment);

/* Name, python, version, modules, directory, packages (name and version), whether it has IPython. The
 * caller's. */
json_t *environment_describe (const struct environment *environment, GError **error);

struct environment_package {
  char *name, *version; /* as pip compares names: lower-case, with single hyphens; few and plain characters */
};

/* The packages of ENVIRONMENT by name, according to the names of their folders: nothing is run. GPtrArray of
 * struct environment_package, freed with it. */
GPtrArray *environment_installed (const struct environment *environment);

/* A directory that environments load code from, or are kept in. */
struct environment_place {
  char *environment; /* its name; NULL: a place of all environments kept there */
  char *path;        /* absolute; it may be missing */
};

/* All of them, without those below an earlier one; also of environments that are unusable now. GPtrArray of
 * struct environment_place, freed with it. */
GPtrArray *environment_places (void);

struct environment_recipe {
  const char *name;           /* [a-z0-9][a-z0-9_-]{0,63} */
  const char *python;         /* interpreter to make the venv from, or, without requirements, of a ready venv
                                 or prefix to adopt; NULL: python3 */
  const char *requirements;   /* requirements file, or NULL */
  const char *const *modules; /* NULL: those of the shipped environment of that name, else none */
};
/* Makes an environment: whole or not at all. It is built in place, because a venv holds its own path; the
 * manifest, written last, makes it one. Progress, one line a step, goes to PROGRESS (or NULL). */
gboolean environment_create (const struct environment_recipe *recipe, FILE *progress, GError **error);
gboolean environment_remove (const char *name, GError **error);
