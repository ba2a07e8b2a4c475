/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, one for each direction, so that a client that does not read can still send. When poll reports
 * that the daemon hung up, one of them waits for the other, which passes on everything sent before that; then
 * it answers the pending requests, and connects again when the client sends something more. So a stopped
 * daemon is not restarted before it is needed. */
#include "interfaces/cli/mcp/cli_mcp_relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/json.h"
#include "interfaces/cli/mcp/cli_mcp_talk.h"
#include "interfaces/mcp/server.h"

#define PART_BYTES (64 * 1024)
#define LINE_MOST  (64 * 1024 * 1024) /* the greatest [mcp] message_bytes: no daemon takes a longer line */

struct relay {
  cli_mcp_connect connect;
  gpointer data;
  struct cli_mcp_files *files;
  struct cli_mcp_talk *talk;
  int socket; /* -1: hung up */
  GThread *answers;
  GString *line;    /* the client's current line so far */
  gboolean is_long; /* it exceeds LINE_MOST bytes: its content is unknown */
  gboolean unread;  /* nobody reads standard output any more */
};

static gboolean
relay_write (const char *data, gsize length)
{
  return fd_write_all (STDOUT_FILENO, data, length) == 0;
}

/* ---- from the daemon ---- */

/* Takes the whole lines off HELD and passes them on. FALSE: nobody reads. */
static gboolean
relay_pass_on (struct relay *relay, GString *held)
{
  const char *line = held->str, *end;
  gboolean reads = TRUE;
  while (reads && (end = memchr (line, '\n', held->len - (gsize)(line - held->str)))) {
    if (cli_mcp_talk_hear (relay->talk, line, (gsize)(end - line)))
      reads = relay_write (line, (gsize)(end - line) + 1);
    line = end + 1;
  }
  g_string_erase (held, 0, line - held->str);
  return reads;
}

/* Returns NULL; the relay where nobody reads. */
static gpointer
relay_pass_answers (gpointer data)
{
  struct relay *relay = data;
  GString *held = g_string_new (NULL);
  g_autofree char *part = g_malloc (PART_BYTES);
  gboolean reads = TRUE;
  while (reads) {
    ssize_t got = read (relay->socket, part, PART_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    g_string_append_len (held, part, got);
    if (memchr (part, '\n', (gsize)got))
      reads = relay_pass_on (relay, held);
  }
  /* A client that stops reading is gone: cancel its requests. */
  if (!reads)
    shutdown (relay->socket, SHUT_RDWR);
  g_string_free (held, TRUE);
  return reads ? NULL : relay;
}

/* ---- connections ---- */

/* Answers the pending requests with REASON. */
static void
relay_give_up (struct relay *relay, const char *reason)
{
  g_autofree char *answers = cli_mcp_talk_give_up (relay->talk, reason);
  if (!relay->unread && !relay_write (answers, strlen (answers)))
    relay->unread = TRUE;
}

/* Once the daemon has hung up. */
static void
relay_hang_up (struct relay *relay)
{
  relay->unread |= g_thread_join (g_steal_pointer (&relay->answers)) != NULL;
  fd_close (&relay->socket);
  relay_give_up (relay, "the daemon ended before it answered, and its sessions with it: whether the code ran "
                        "to its end is unknown. Call again; recreate what a session held");
}

static gboolean
relay_connect (struct relay *relay, GError **error)
{
  relay->socket = relay->connect (relay->data, error);
  if (relay->socket < 0)
    return FALSE;
  relay->answers = g_thread_new ("answers", relay_pass_answers, relay);
  g_autofree char *again = cli_mcp_talk_again (relay->talk);
  (void)fd_write_all (relay->socket, again, strlen (again));
  return TRUE;
}

/* ---- from the client ---- */

/* Takes a complete line, of which the last LENGTH bytes are not yet sent, and sends them. */
static void
relay_end_line (struct relay *relay, gsize length)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) message =
      relay->is_long ? NULL : json_loadb (relay->line->str, relay->line->len, JSON_REJECT_DUPLICATES, NULL);
  gboolean is_new = relay->socket < 0;
  /* A notification needs no daemon, and the next daemon hears what it must of it. */
  gboolean is_needed =
      !is_new || !message || (json_object_get (message, "method") && json_object_get (message, "id"));
  gboolean connected = !is_new || (is_needed && relay_connect (relay, &problem));
  cli_mcp_files_hear (relay->files, message);
  cli_mcp_talk_say (relay->talk, message);
  if (!is_needed)
    return;
  gsize unsent = is_new ? relay->line->len : MIN (length, relay->line->len);
  if (connected)
    (void)fd_write_all (relay->socket, relay->line->str + relay->line->len - unsent, unsent);
  else {
    g_autofree char *reason = g_strdup_printf ("no daemon could be reached: %s", problem->message);
    relay_give_up (relay, reason);
  }
}

/* The end of a line with is_long, without a daemon to report it. */
static void
answer_long_line (struct relay *relay)
{
  g_autofree char *reason = g_strdup_printf ("a message is longer than %d bytes", LINE_MOST);
  g_autoptr (json_t) answer = mcp_error_message (NULL, MCP_PARSE_ERROR, reason, NULL);
  g_autofree char *text = json_to_text (answer);
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  if (!relay_write (line, strlen (line)))
    relay->unread = TRUE;
}

/* Takes LENGTH bytes from the client, and sends them. What cannot be sent is answered when the hang-up is
 * noticed. */
static void
relay_take (struct relay *relay, const char *data, gsize length)
{
  while (length > 0) {
    const char *end = memchr (data, '\n', length);
    gsize part = end ? (gsize)(end - data) + 1 : length;
    relay->is_long |= relay->line->len + part > LINE_MOST;
    if (!relay->is_long)
      g_string_append_len (relay->line, data, (gssize)part);
    if (end && !relay->is_long)
      relay_end_line (relay, part);
    else if (relay->socket >= 0)
      (void)fd_write_all (relay->socket, data, part);
    else if (end)
      answer_long_line (relay);
    if (end) {
      g_string_truncate (relay->line, 0);
      relay->is_long = FALSE;
    }
    data += part;
    length -= part;
  }
}

/* FALSE at the end of the input. */
static gboolean
relay_read (struct relay *relay, char *part)
{
  ssize_t got = read (STDIN_FILENO, part, PART_BYTES);
  if (got > 0)
    relay_take (relay, part, (gsize)got);
  return got > 0 || (got < 0 && errno == EINTR);
}

/* Until there is neither input nor a pending answer, or no reader. */
static void
relay_run (struct relay *relay)
{
  g_autofree char *part = g_malloc (PART_BYTES);
  gboolean listens = TRUE;
  while (!relay->unread && (listens || relay->socket >= 0)) {
    struct pollfd ready[] = {{.fd = STDOUT_FILENO}, /* hangs up where nobody reads */
                             {.fd = relay->socket, .events = POLLRDHUP},
                             {.fd = listens ? STDIN_FILENO : -1, .events = POLLIN}};
    if (poll (ready, G_N_ELEMENTS (ready), -1) <= 0)
      continue;
    if (ready[0].revents)
      relay->unread = TRUE;
    else if (ready[1].revents)
      relay_hang_up (relay);
    else if (ready[2].revents && !relay_read (relay, part)) {
      listens = FALSE;
      shutdown (relay->socket, SHUT_WR);
    }
  }
}

gboolean
cli_mcp_relay (cli_mcp_connect connect, gpointer data, struct cli_mcp_files *files, GError **error)
{
  struct relay relay = {.connect = connect, .data = data, .files = files, .socket = -1};
  relay.talk = cli_mcp_talk_new ();
  relay.line = g_string_new (NULL);
  gboolean ok = relay_connect (&relay, error);
  if (ok)
    relay_run (&relay);
  if (relay.socket >= 0) {
    shutdown (relay.socket, SHUT_RDWR);
    relay_hang_up (&relay);
  }
  if (ok && relay.unread) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "nobody reads what the daemon says");
    ok = FALSE;
  }
  g_string_free (relay.line, TRUE);
  cli_mcp_talk_free (relay.talk);
  return ok;
}
