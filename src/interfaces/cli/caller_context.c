/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/caller_context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "common/error.h"
#include "engine/files/bind_mount.h"
#include "interfaces/cli/run_options.h"

void
caller_context_clear (struct caller_context *context)
{
  fd_close (&context->fd);
  g_clear_pointer (&context->path, g_free);
  g_clear_pointer (&context->python, g_free);
  g_clear_pointer (&context->variables, json_decref);
}

/* PATH without links in the directories above it, so that nobody can redirect it later. */
static char *
caller_context_settle (const char *path)
{
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  char *real = realpath (directory, NULL);
  char *settled = real ? g_build_filename (real, name, NULL) : g_canonicalize_filename (path, NULL);
  free (real);
  return settled;
}

/* Excludes the environment "system" and a version manager's shim, which is a script. */
static gboolean
is_chosen (const char *path)
{
  char *real = realpath (path, NULL);
  g_autofree char *name = real ? g_path_get_basename (real) : NULL;
  gboolean chosen = real && !g_str_has_prefix (path, "/usr/bin/") && g_str_has_prefix (name, "python3.");
  free (real);
  return chosen;
}

char *
caller_context_find_python (void)
{
  static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++) {
    const char *prefix = g_getenv (variables[i]);
    g_autofree char *python = prefix && prefix[0] ? g_build_filename (prefix, "bin", "python", NULL) : NULL;
    if (python)
      return caller_context_settle (python);
  }
  g_autofree char *found = g_find_program_in_path ("python");
  if (!found)
    found = g_find_program_in_path ("python3");
  g_autofree char *settled = found ? caller_context_settle (found) : NULL;
  return settled && is_chosen (settled) ? g_steal_pointer (&settled) : NULL;
}

static const char *
directory_profile (const char *toolset_name, const char *name)
{
  const struct toolset *toolset = toolset_name ? toolset_find (toolset_name, NULL) : NULL;
  const struct tool *tool;
  if (name && !tool_find (toolset, name, &toolset, &tool, NULL))
    return NULL;
  return toolset ? toolset->directory_profile : NULL;
}

gboolean
caller_context_take (struct caller_context *context, const char *toolset, const char *tool, GError **error)
{
  const char *profile = directory_profile (toolset, tool);
  if (!profile)
    return TRUE;
  context->fd = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (context->fd < 0)
    return error_from_errno (error, errno, "cannot open the current directory");
  context->path = bind_mount_path (context->fd);
  context->python = caller_context_find_python ();
  context->variables = json_object ();
  run_options_pass_variables (context->variables, profile);
  return TRUE;
}
