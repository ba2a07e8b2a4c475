/* SPDX-License-Identifier: Apache-2.0 */
/* `adder open`: the web interface of the daemon on this machine, in a browser that is signed in by a one-time
 * code. Others of this machine may see the address among the processes: the code works once, soon, and over
 * loopback only for programs of the user (interfaces/http/identify_sign_in.c). */
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/socket/client.h"

/* What opens an address in the user's browser. */
static const char *const openers[] = {"xdg-open", "wslview", "x-www-browser"};

/* Whether a browser could be seen. */
static gboolean
has_display (void)
{
  static const char *const signs[] = {"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"};
  for (gsize i = 0; i < G_N_ELEMENTS (signs); i++) {
    const char *value = g_getenv (signs[i]);
    if (value && *value)
      return TRUE;
  }
  return FALSE;
}

/* A browser may run as long as the user likes, and not end with this terminal. */
static void
leave_session (G_GNUC_UNUSED gpointer unused)
{
  (void)setsid ();
}

static gboolean
open_browser (const char *address)
{
  for (gsize i = 0; i < G_N_ELEMENTS (openers); i++) {
    g_autofree char *program = g_find_program_in_path (openers[i]);
    char *const argv[] = {program, (char *)address, NULL};
    if (program &&
        g_spawn_async (NULL, (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                       leave_session, NULL, NULL, NULL))
      return TRUE;
  }
  return FALSE;
}

static void
tell_opened (const char *address, gboolean opened, gboolean json, const json_t *answer)
{
  if (json) {
    g_autoptr (json_t) value = json_pack ("{s:s, s:O, s:b}", "url", address, "expires_ms",
                                          json_object_get (answer, "expires_ms"), "opened", opened);
    cli_print_json (value);
    return;
  }
  printf ("%s\n", address);
  fflush (stdout);
  if (isatty (STDERR_FILENO))
    fprintf (stderr, opened ? "A browser opens it. The address works once, within a minute.\n"
                            : "Open it in a browser of yours on this machine: it works once, within a "
                              "minute.\n");
}

int
cli_open (int argc, char **argv)
{
  gboolean print = FALSE, json = FALSE;
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"print", 0, 0, G_OPTION_ARG_NONE, &print, "Print the address alone, and open no browser", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
      {NULL},
  };
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer = client_call (NULL, "daemon.open", json_object (), &problem);
  if (!answer)
    return cli_fail (problem);
  g_autofree char *address =
      g_strconcat (json_member_text (answer, "url"), "#code=", json_member_text (answer, "code"), NULL);
  gboolean opened = !print && has_display () && open_browser (address);
  tell_opened (address, opened, json, answer);
  return 0;
}
