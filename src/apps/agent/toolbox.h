/* SPDX-License-Identifier: Apache-2.0 */
/* All that a model can call: the tools of a toolset as far as they are on and the caller may use them, tools
 * of the user's own, and report_completion. What is off meanwhile is gone from the next list. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "apps/agent/reply.h"
#include "common/config.h"
#include "interfaces/cli/approval_prompt.h"
#include "interfaces/cli/caller_context.h"
#include "interfaces/socket/call_backend.h"
#include "tools/tools.h"

#define TOOLBOX_COMPLETION "report_completion"
#define TOOLBOX_FAULTS     3 /* running, of Adder's own: a tool is then left out */

struct toolbox_settings {
  const struct config *config;
  struct call_backend *backend;
  const struct toolset *toolset; /* NULL: none of Adder's tools */
  const GPtrArray *external;     /* struct external; NULL: none */
  const char *conversation;
  const char *role; /* NULL: the configuration's */
  gboolean read_only, accept_all;
  gboolean reports; /* there is report_completion */
  const struct caller_context *context;
  struct reply_place place; /* but for reads_on */
  int cancel_fd;
  /* Seeks a decision about the approval ID (approval_prompt.h); NULL: there is nobody to ask. */
  enum approval_end (*approve) (gpointer data, const char *id, GError **error);
  gpointer approve_data;
};

struct toolbox;

/* What SETTINGS point to must outlive it. ADDER_ERROR_INVALID where two tools have one name. */
struct toolbox *toolbox_new (const struct toolbox_settings *settings, GError **error);
/* NULL is allowed. */
void toolbox_free (struct toolbox *toolbox);

/* Looks again which tools are on. */
void toolbox_refresh (struct toolbox *toolbox);

/* Whether pictures go to the model from now on. */
void toolbox_let_see (struct toolbox *toolbox, gboolean sees);

/* [{"name", "description", "parameters"}]. The caller's. */
json_t *toolbox_list (const struct toolbox *toolbox);
/* The paragraphs that tell a model when to use them; may be empty. The caller's. */
char *toolbox_prompt (const struct toolbox *toolbox);

struct called {
  struct reply reply;
  gboolean is_error;
  gboolean is_completion; /* arguments as they should be: what was reported is in them */
  char *note;             /* for the user: something besides; or NULL */
  char *left_out;         /* for the model as well: a tool that is not offered any more; or NULL */
};
void called_clear (struct called *called);

/* Calls NAME with ARGUMENTS. Never fails: what is wrong is the reply. */
void toolbox_call (struct toolbox *toolbox, const char *name, const json_t *arguments,
                   struct called *ret_called);

/* Ends what the conversation keeps: nobody will name it again. */
void toolbox_end_conversation (struct toolbox *toolbox);

/* A reply of words. */
void called_refuse (struct called *ret_called, const char *text);
