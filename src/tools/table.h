/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: what an agent can ask for, as data. Everything that is said of a tool elsewhere
 * (schemas, lists, prompts, documentation, the checking of arguments) is made from its row here. */
#pragma once

#include <glib.h>

#include "common/field.h"
#include "policy/roles.h"

enum tool_hint {
  TOOL_READ_ONLY = 1 << 0,   /* changes nothing anywhere */
  TOOL_DESTRUCTIVE = 1 << 1, /* may take away what cannot be had again */
  TOOL_IDEMPOTENT = 1 << 2,  /* the same call again changes nothing more */
  TOOL_OPEN_WORLD = 1 << 3,  /* may reach what is outside of Adder: the network, a directory of the user's */
  TOOL_EXECUTES = 1 << 4,    /* runs code: an agent that is marked read-only does not get it */
  TOOL_STARTS_OFF = 1 << 5,  /* has to be switched on first (tool_enablement.h) */
  TOOL_OWN_ENVIRONMENT = 1 << 6, /* its code runs in the caller's own environment (installed.h) */
  TOOL_LOCAL_FILES = 1 << 7,     /* its `files` may be paths, where the caller opens files (tools.h) */
};

/* A mark of a field: it is described only where the whole toolset is. A call may have it all the same. */
#define FIELD_IN_FULL 1

struct call;

struct tool {
  const char *name; /* ^[a-zA-Z0-9_-]{1,64}$ */
  const char *title;
  const char *description; /* one paragraph, for a model */
  const char *guidance;    /* for the system prompt, beside the title: when to use it, examples; or NULL */
  enum role role;          /* the lowest that may call it */
  guint hints;             /* of enum tool_hint */
  const struct field *parameters;
  /* What a reply may look like, beside the error that all tools share (schema.h); ends with NULL. */
  const struct field *const *replies;
  void (*handle) (struct call *call);
  /* In place of a handler: what it calls (operations/operation.h), with its arguments. */
  const char *operation;
};

/* A selection of tools with the names and contracts that one family of agents expects. */
struct toolset {
  const char *name;
  const char *alias; /* what a dotted name may begin with in place of NAME; NULL: nothing else */
  const char *title;
  const char *prompt; /* what a model is told of it as a whole, before its tools */
  /* The profile whose runs work in the caller's own directory, with the variables of theirs that it lets
   * pass; NULL: none do. */
  const char *directory_profile;
  /* The few tools that MCP offers where the toolset is not wanted whole; ends with NULL. NULL: all. */
  const char *const *basic;
  const char *ending; /* the tool that ends what a conversation keeps, called without arguments; NULL: none */
  const struct tool *tools;
  gsize count;
};

/* All of them; ends with NULL. The first is the one that is meant where none is named. */
extern const struct toolset *const toolsets[];

/* In place of a toolset's name: the first toolset, whole. */
#define TOOLSET_FULL "full"

/* Whether TOOL is described: where the toolset is not wanted whole, and has basic tools, only those are. */
gboolean toolset_shows (const struct toolset *toolset, const struct tool *tool, gboolean is_whole);

/* toolset_find, where NAME may be TOOLSET_FULL: then *RET_IS_WHOLE is TRUE. */
const struct toolset *toolset_find_view (const char *name, gboolean *ret_is_whole, GError **error);

/* The toolset NAME (NULL: the first). ADDER_ERROR_NOT_FOUND names those that there are. */
const struct toolset *toolset_find (const char *name, GError **error);

/* Finds the tool that NAME means in TOOLSET. NAME may begin with the toolset, or its alias, and a dot,
 * "compute.compute_with_python". TOOLSET NULL: the toolset of the dotted name, else the first that has it, if
 * no other has as well. ADDER_ERROR_NOT_FOUND says what was meant, or what there is. */
gboolean tool_find (const struct toolset *toolset, const char *name, const struct toolset **ret_toolset,
                    const struct tool **ret_tool, GError **error);

/* The toolsets, one file each. */
extern const struct toolset toolset_adder, toolset_workbench, toolset_compute, toolset_code_executor,
    toolset_assistant, toolset_analyst;
