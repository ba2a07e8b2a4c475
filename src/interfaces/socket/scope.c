/* SPDX-License-Identifier: Apache-2.0 */
/* With control groups v2, only a group without processes of its own gives controllers to groups below it, so
 * a daemon that shares its group with the shell and the command that started it cannot limit its runs, not
 * even as root. systemd gives everybody a group of their own: a scope, from its own manager to root, from the
 * user's to others. */
#include "interfaces/socket/scope.h"

#include <unistd.h>

#include "common/command.h"

#define BOOTED  "/run/systemd/system"               /* what sd_booted(3) looks for */
#define UNIFIED "/sys/fs/cgroup/cgroup.controllers" /* there is no v1 */
#define TRIAL_S 5

static const char *const ours[] = {
    "--scope", "--quiet", "--collect", "--no-ask-password", "--property=Delegate=memory pids cpu",
};

static void
add_words (GPtrArray *words, const char *const *added, gsize count)
{
  for (gsize i = 0; i < count; i++)
    g_ptr_array_add (words, g_strdup (added[i]));
}

/* Whether `true` runs in a scope: there may be no user's manager, or one without these controllers. */
static gboolean
scope_works (const GPtrArray *words, const char *runtime_dir)
{
  g_autoptr (GPtrArray) trial = g_ptr_array_new_with_free_func (g_free);
  add_words (trial, (const char *const *)words->pdata, words->len);
  add_words (trial, (const char *const[]){"true", NULL}, 1);
  g_ptr_array_add (trial, NULL);
  g_autofree char *setting = g_strconcat ("XDG_RUNTIME_DIR=", runtime_dir, NULL);
  const char *const settings[] = {setting, NULL};
  int status = -1;
  return command_run (&(struct command){.argv = (const char *const *)trial->pdata,
                                        .settings = settings,
                                        .timeout_ms = TRIAL_S * 1000},
                      &status, NULL) &&
         status == 0;
}

char **
scope_command (const char *program, const char *const *arguments)
{
  const char *runtime_dir = g_getenv ("XDG_RUNTIME_DIR");
  g_autofree char *systemd_run = g_find_program_in_path ("systemd-run");
  gboolean is_root = geteuid () == 0;
  if (!systemd_run || access (BOOTED, F_OK) < 0 || access (UNIFIED, F_OK) < 0 || (!is_root && !runtime_dir))
    return NULL;

  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (words, g_steal_pointer (&systemd_run));
  add_words (words, (const char *const[]){"--user"}, is_root ? 0 : 1);
  add_words (words, ours, G_N_ELEMENTS (ours));
  if (!scope_works (words, runtime_dir ? runtime_dir : ""))
    return NULL;
  add_words (words, &program, 1);
  add_words (words, arguments, g_strv_length ((char **)arguments));
  g_ptr_array_add (words, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&words), FALSE);
}
