/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/surroundings.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "common/error.h"
#include "engine/lend.h"
#include "frontends/run_options.h"

void
surroundings_clear (struct surroundings *surroundings)
{
  fd_close (&surroundings->fd);
  g_clear_pointer (&surroundings->path, g_free);
  g_clear_pointer (&surroundings->variables, json_decref);
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
surroundings_take (struct surroundings *surroundings, const char *toolset, const char *tool, GError **error)
{
  const char *profile = directory_profile (toolset, tool);
  if (!profile)
    return TRUE;
  surroundings->fd = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (surroundings->fd < 0)
    return error_from_errno (error, errno, "cannot open the current directory");
  surroundings->path = lend_path (surroundings->fd);
  surroundings->variables = json_object ();
  run_options_pass_variables (surroundings->variables, profile);
  return TRUE;
}
