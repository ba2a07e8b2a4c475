/* SPDX-License-Identifier: Apache-2.0 */
/* `adder mcp`: MCP on standard input and output, for clients that start their servers. A relay: the daemon
 * speaks, and this passes lines on both ways. Nothing but MCP ever comes on standard output; what is wrong
 * stands on standard error.
 *
 * Two threads, each with one direction, so that a client that does not read cannot keep what it says from
 * being heard. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "engine/files/bind_mount.h"
#include "interfaces/cli/caller_context.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/run_options.h"
#include "interfaces/mcp/stdio.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/server_mcp.h"

#define PART_BYTES (64 * 1024)

struct mcp_options {
  char *toolset, *role, *conversation;
  gboolean read_only, no_daemon;
};

/* ---- what the daemon is told ---- */

/* Where tools work that work in the caller's directory; nothing for a toolset that has none of them. */
static gboolean
add_caller_context (json_t *question, const struct mcp_options *options, int *ret_fd, GError **error)
{
  const struct toolset *toolset = toolset_find (options->toolset, error);
  if (!toolset || !toolset->directory_profile)
    return toolset != NULL;
  *ret_fd = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (*ret_fd < 0)
    return error_from_errno (error, errno, "cannot open the current directory");
  g_autofree char *path = bind_mount_path (*ret_fd);
  json_t *variables = json_object ();
  run_options_pass_variables (variables, toolset->directory_profile);
  json_object_set_new (question, "directory", json_text_or_null (path));
  json_object_set_new (question, "variables", variables);
  g_autofree char *python = caller_context_find_python ();
  if (python)
    json_object_set_new (question, "python", json_text_or_null (python));
  return TRUE;
}

/* NULL where a text is not UTF-8. */
static json_t *
cli_mcp_make_question (const struct mcp_options *options, int *ret_fd, GError **error)
{
  json_t *question = json_pack ("{s:s*, s:s*, s:s*, s:b}", "toolset", options->toolset, "role", options->role,
                                "conversation", options->conversation, "read_only", options->read_only);
  if (!question)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
  else if (!add_caller_context (question, options, ret_fd, error))
    g_clear_pointer (&question, json_decref);
  return question;
}

/* ---- the relay ---- */

/* Copies FROM to TO until one of them ends. Returns 0, or the errno of writing. */
static int
cli_mcp_copy (int from, int to)
{
  g_autofree char *part = g_malloc (PART_BYTES);
  for (;;) {
    ssize_t got = read (from, part, PART_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return 0;
    int r = fd_write_all (to, part, (gsize)got);
    if (r < 0)
      return -r;
  }
}

static gpointer
copy_answers (gpointer data)
{
  int socket = *(int *)data;
  /* A client that reads no more is gone: so is what it asked for. */
  if (cli_mcp_copy (socket, STDOUT_FILENO) != 0)
    shutdown (socket, SHUT_RDWR);
  return NULL;
}

/* Copies standard input to SOCKET. TRUE at its end; FALSE when the daemon's end came first. */
static gboolean
copy_questions (int socket)
{
  g_autofree char *part = g_malloc (PART_BYTES);
  for (;;) {
    struct pollfd ready[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = socket, .events = POLLRDHUP}};
    int n = poll (ready, G_N_ELEMENTS (ready), -1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 || ready[1].revents)
      return FALSE;
    ssize_t got = read (STDIN_FILENO, part, PART_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return TRUE;
    if (fd_write_all (socket, part, (gsize)got) < 0)
      return FALSE;
  }
}

static gboolean
cli_mcp_relay (int socket, GError **error)
{
  GThread *answers = g_thread_new ("answers", copy_answers, &socket);
  gboolean done = copy_questions (socket);
  shutdown (socket, SHUT_WR);
  g_thread_join (answers);
  if (!done)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the daemon ended, or nobody reads what it says");
  return done;
}

static gboolean
ask_to_speak (struct client *client, const json_t *question, int directory_fd, GError **error)
{
  json_t *answer =
      client_ask (client, PROTOCOL_MCP, question, &directory_fd, directory_fd >= 0 ? 1 : 0, error);
  json_decref (answer);
  return answer != NULL;
}

static gboolean
speak_to (const char *socket, const json_t *question, int directory_fd, GError **error)
{
  struct client client;
  if (!client_open (socket, &client, error))
    return FALSE;
  gboolean ok = ask_to_speak (&client, question, directory_fd, error) && cli_mcp_relay (client.fd, error);
  client_close (&client);
  return ok;
}

static gboolean
speak_by_daemon (const json_t *question, int directory_fd, GError **error)
{
  g_autofree char *socket = client_socket (error);
  return socket && speak_to (socket, question, directory_fd, error);
}

/* ---- in this process ---- */

static gboolean
speak_here (const json_t *question, int *directory_fd, GError **error)
{
  AdderEngine *engine = adder_engine_new (NULL, error);
  if (!engine)
    return FALSE;
  struct service *service = service_new (engine);
  service->mcp = mcp_server_new (service);
  g_autofree char *owner = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  struct mcp_caller *caller = server_mcp_caller (service->config, owner, question, directory_fd, error);
  if (caller)
    mcp_stdio_serve (service->mcp, caller, STDIN_FILENO, STDOUT_FILENO);
  gboolean ok = caller != NULL;
  mcp_caller_unref (caller);
  mcp_server_free (service->mcp);
  service_free (service);
  adder_engine_free (engine);
  return ok;
}

static gboolean
speak (const struct mcp_options *options, GError **error)
{
  autoclose int directory_fd = -1;
  g_autoptr (json_t) question = cli_mcp_make_question (options, &directory_fd, error);
  if (!question)
    return FALSE;
  if (isatty (STDIN_FILENO))
    fputs ("adder: this speaks MCP, for a client that starts it; Ctrl-D ends it\n", stderr);
  return options->no_daemon ? speak_here (question, &directory_fd, error)
                            : speak_by_daemon (question, directory_fd, error);
}

static const struct cli_command commands[] = {
    {"install", "--client NAME", "tell an MCP client of Adder, in its own configuration file",
     cli_mcp_install},
    {0},
};

int
cli_mcp (int argc, char **argv)
{
  int code = 0;
  if (cli_dispatch_optional ("adder mcp", commands->summary, commands, argc, argv, &code))
    return code;
  struct mcp_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "Whose tools are offered; adder unless it is said", "NAME"},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "Call as a guest, user or admin", "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "Call as an agent that may look but not act",
       NULL},
      {"conversation", 'c', 0, G_OPTION_ARG_FILENAME, &options.conversation,
       "The conversation that all calls belong to; otherwise each call may name one", "ID"},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon,
       "Serve in this process, with an engine of its own", NULL},
      {NULL},
  };
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!speak (&options, &problem))
    code = cli_fail (problem);
  g_free (options.toolset);
  g_free (options.role);
  g_free (options.conversation);
  return code;
}
