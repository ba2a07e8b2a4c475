/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/progress_view.h"

#include <stdio.h>

#include "interfaces/cli/view/cli_terminal.h"
#include "interfaces/cli/view/terminal_text.h"

#define COLUMNS_STANDARD 80

/* A line wider than the terminal would wrap and could not be removed. */
static gsize
fitting_bytes (const char *text)
{
  guint columns = cli_width (stderr) > 0 ? cli_width (stderr) : COLUMNS_STANDARD;
  return cli_text_fit (text, columns - 1);
}

void
progress_view_saw (gpointer data, const struct tool_progress *progress)
{
  struct progress_view *view = data;
  if (!cli_is_screen (stderr))
    return;
  view->shown = TRUE;
  fprintf (stderr, "\r\033[K%s", cli_colour (stderr, CLI_DIM));
  terminal_text_write (progress->text, (gssize)fitting_bytes (progress->text), stderr);
  fprintf (stderr, "%s", cli_colour (stderr, CLI_PLAIN));
  fflush (stderr);
}

void
progress_view_end (struct progress_view *view)
{
  if (view->shown)
    fprintf (stderr, "\r\033[K");
  view->shown = FALSE;
}
