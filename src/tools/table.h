/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: what an agent can ask for, as data. All other descriptions of a tool (schemas, lists,
 * prompts, documentation, the checking of arguments) are made from its row here. */
#pragma once

#include <glib.h>

#include "common/field.h"
#include "policy/roles.h"

enum tool_hint {
  TOOL_READ_ONLY = 1 << 0,       /* changes nothing */
  TOOL_DESTRUCTIVE = 1 << 1,     /* may destroy something irrecoverably */
  TOOL_IDEMPOTENT = 1 << 2,      /* repeating the call changes nothing more */
  TOOL_OPEN_WORLD = 1 << 3,      /* may reach outside of Adder: the network, a directory of the user's */
  TOOL_EXECUTES = 1 << 4,        /* runs code: read-only agents do not get it */
  TOOL_STARTS_OFF = 1 << 5,      /* must be switched on first (tool_enablement.h) */
  TOOL_OWN_ENVIRONMENT = 1 << 6, /* its code runs in the caller's own environment (installed.h) */
  TOOL_LOCAL_FILES = 1 << 7,     /* its `files` may be paths, if the caller opens files (tools.h) */
};

/* A mark of a field: described only in the whole toolset. A call may use it anyway. */
#define FIELD_IN_FULL 1

struct call;

struct tool {
  const char *name; /* ^[a-zA-Z0-9_-]{1,64}$ */
  const char *title;
  const char *description; /* one paragraph, for a model */
  const char *guidance;    /* for the system prompt, beside the title: when to use it, examples; or NULL */
  enum role role;          /* the lowest role allowed */
  guint hints;             /* of enum tool_hint */
  const struct field *parameters;
  /* The possible replies, beside the error that all tools share (schema.h); ends with NULL. */
  const struct field *const *replies;
  void (*handle) (struct call *call);
  /* Instead of a handler: the operation to call (operations/operation.h) with its arguments. */
  const char *operation;
};

/* A selection of tools with the names and contracts that one family of agents expects. */
struct toolset {
  const char *name;
  const char *alias; /* an alternative to NAME in dotted names; NULL: none */
  const char *title;
  const char *prompt; /* its description as a whole for a model, before its tools */
  /* The profile whose runs work in the caller's own directory, with those of their variables that it allows;
   * NULL: none. */
  const char *directory_profile;
  /* The few tools that MCP offers unless the whole toolset is requested; ends with NULL. NULL: all. */
  const char *const *basic;
  const char *ending; /* the tool that ends a conversation's state, called without arguments; NULL: none */
  const struct tool *tools;
  gsize count;
};

/* All of them; ends with NULL. The first is the default. */
extern const struct toolset *const toolsets[];

/* As a toolset's name: the first toolset, whole. */
#define TOOLSET_FULL "full"

/* Whether TOOL is described: if the toolset has basic tools and is not requested whole, only those are. */
gboolean toolset_shows (const struct toolset *toolset, const struct tool *tool, gboolean is_whole);

/* toolset_find, where NAME may be TOOLSET_FULL: then *RET_IS_WHOLE is TRUE. */
const struct toolset *toolset_find_view (const char *name, gboolean *ret_is_whole, GError **error);

/* The toolset NAME (NULL: the first). ADDER_ERROR_NOT_FOUND lists the existing ones. */
const struct toolset *toolset_find (const char *name, GError **error);

/* Finds the tool that NAME means in TOOLSET. NAME may begin with the toolset, or its alias, and a dot,
 * "compute.compute_with_python". TOOLSET NULL: the toolset of the dotted name, else the first one, or the
 * only one that has it. ADDER_ERROR_NOT_FOUND suggests the intended tool, or lists the existing ones. */
gboolean tool_find (const struct toolset *toolset, const char *name, const struct toolset **ret_toolset,
                    const struct tool **ret_tool, GError **error);

/* The toolsets, one file each. */
extern const struct toolset toolset_adder, toolset_workbench, toolset_compute, toolset_code_executor,
    toolset_assistant, toolset_analyst;
