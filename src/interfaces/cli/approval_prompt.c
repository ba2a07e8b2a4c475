/* SPDX-License-Identifier: Apache-2.0 */
/* Asking at the terminal, and waiting. */
#include "interfaces/cli/approval_prompt.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/cli/view/approval_view.h"
#include "interfaces/cli/view/cli_terminal.h"

/* More rows than most code has and than most people scroll back. */
#define ROWS_AT_ONCE 200

#define ANSWER_BYTES 100

/* Interval between checks for signals. */
#define WAIT_SLICE_MS 1000

/* ---- signals ---- */

/* Represents a run while there is none. */
struct stand_in {
  struct event_source base;
  int fd;
};

static void
stand_in_cancel (struct event_source *base)
{
  (void)eventfd_write (((struct stand_in *)base)->fd, 1);
}

static gboolean
stand_in_interrupt (G_GNUC_UNUSED struct event_source *base)
{
  return FALSE;
}

static gboolean
approval_prompt_is_cancelled (const struct stand_in *stand_in)
{
  struct pollfd ready = {.fd = stand_in->fd, .events = POLLIN};
  return poll (&ready, 1, 0) > 0;
}

/* ---- the terminal ---- */

static gboolean
is_terminal (void)
{
  return isatty (STDIN_FILENO) && isatty (STDERR_FILENO);
}

enum word { WORD_NONE, WORD_YES, WORD_NO, WORD_ALWAYS, WORD_VIEW, WORD_CANCEL };

/* One line of the terminal, cut to the buffer; FALSE at its end or on a signal. */
static gboolean
approval_prompt_read_line (const struct stand_in *stand_in, char line[ANSWER_BYTES])
{
  gsize length = 0;
  for (;;) {
    char c;
    struct pollfd ready[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = stand_in->fd, .events = POLLIN}};
    if (poll (ready, G_N_ELEMENTS (ready), -1) < 0 && errno == EINTR)
      continue;
    if (ready[1].revents)
      return FALSE;
    gssize got = read (STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return FALSE;
    if (c == '\n')
      break;
    if (length < ANSWER_BYTES - 1)
      line[length++] = c;
  }
  line[length] = '\0';
  return TRUE;
}

static enum word
word_of (const char *line, gboolean always, gboolean more)
{
  const struct {
    const char *text;
    enum word word;
    gboolean offered;
  } words[] = {
      {"y", WORD_YES, TRUE},  {"yes", WORD_YES, TRUE},    {"n", WORD_NO, TRUE},
      {"no", WORD_NO, TRUE},  {"a", WORD_ALWAYS, always}, {"always", WORD_ALWAYS, always},
      {"v", WORD_VIEW, more}, {"view", WORD_VIEW, more},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].offered && g_ascii_strcasecmp (words[i].text, line) == 0)
      return words[i].word;
  return WORD_NONE;
}

/* Input typed before the question is no answer to it. */
static enum word
approval_prompt_ask_once (const struct stand_in *stand_in, gboolean always, gboolean more)
{
  char line[ANSWER_BYTES];
  fflush (stderr);
  (void)tcflush (STDIN_FILENO, TCIFLUSH);
  fprintf (stderr, "Run it? [y]es / [n]o%s%s ", always ? " / [a]lways for this conversation" : "",
           more ? " / [v]iew all of it" : "");
  fflush (stderr);
  if (!approval_prompt_read_line (stand_in, line)) {
    fprintf (stderr, "\n");
    return approval_prompt_is_cancelled (stand_in) ? WORD_CANCEL : WORD_NO;
  }
  return word_of (g_strstrip (line), always, more);
}

static enum word
ask_person (const struct stand_in *stand_in, const json_t *approval)
{
  gboolean always = json_is_string (json_object_get (approval, "conversation"));
  /* A previous program may have left the terminal coloured. */
  fprintf (stderr, "%sThis code needs your approval:\n\n", cli_colour (stderr, CLI_PLAIN));
  gboolean more = approval_view_one (approval, ROWS_AT_ONCE, stderr);
  fprintf (stderr, "\n");
  for (;;) {
    enum word word = approval_prompt_ask_once (stand_in, always, more);
    if (word == WORD_VIEW)
      more = approval_view_one (approval, 0, stderr);
    else if (word != WORD_NONE)
      return word;
  }
}

/* ---- deciding ---- */

static enum approval_end
prompt (const struct approval_way *way, const struct stand_in *stand_in, const char *id, GError **error)
{
  g_autoptr (json_t) approval =
      way->call (way->data, "approval.show", json_pack ("{s:s}", "approval", id), error);
  if (!approval)
    return APPROVAL_END_UNDECIDED;
  enum word word = ask_person (stand_in, approval);
  gboolean yes = word == WORD_YES || word == WORD_ALWAYS;
  json_t *params = yes ? json_pack ("{s:s, s:b}", "approval", id, "always", word == WORD_ALWAYS)
                       : json_pack ("{s:s, s:s}", "approval", id, "reason", "the user said no");
  g_autoptr (json_t) decided =
      way->call (way->data, yes ? "approval.approve" : "approval.deny", params, error);
  if (word == WORD_CANCEL)
    return APPROVAL_END_CANCELLED;
  return decided ? APPROVAL_END_DECIDED : APPROVAL_END_UNDECIDED;
}

static enum approval_end
wait_for_decision (const struct approval_way *way, const struct stand_in *stand_in, const char *id,
                   GError **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64)way->wait_ms * 1000;
  if (!way->quiet)
    cli_write_line (stderr, "adder: waiting for an approval: adder approval show %s, then approve or deny",
                    id);
  for (;;) {
    gint64 left_ms = (deadline_us - g_get_monotonic_time ()) / 1000;
    json_int_t slice_ms = (json_int_t)CLAMP (left_ms, 0, WAIT_SLICE_MS);
    json_t *params = json_pack ("{s:s, s:I}", "approval", id, "wait_ms", slice_ms);
    g_autoptr (json_t) approval = way->call (way->data, "approval.show", params, error);
    if (!approval)
      return APPROVAL_END_UNDECIDED;
    if (approval_prompt_is_cancelled (stand_in))
      return APPROVAL_END_CANCELLED;
    if (g_strcmp0 (json_string_value (json_object_get (approval, "state")), "pending") != 0)
      return APPROVAL_END_DECIDED;
    if (left_ms <= 0)
      return APPROVAL_END_UNDECIDED;
  }
}

enum approval_end
approval_seek (const struct approval_way *way, const char *id, GError **error)
{
  gboolean prompts = way->prompt && !way->waits && is_terminal ();
  if (!prompts && !way->waits)
    return APPROVAL_END_UNDECIDED;
  autoclose int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make an eventfd");
    return APPROVAL_END_UNDECIDED;
  }
  struct stand_in stand_in = {{.cancel = stand_in_cancel, .interrupt = stand_in_interrupt}, fd};
  signal_handler_set_source (way->signals, &stand_in.base);
  enum approval_end end =
      prompts ? prompt (way, &stand_in, id, error) : wait_for_decision (way, &stand_in, id, error);
  signal_handler_set_source (way->signals, NULL);
  return end;
}
