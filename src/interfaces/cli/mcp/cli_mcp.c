/* SPDX-License-Identifier: Apache-2.0 */
/* `adder mcp`: MCP on standard input and output, for clients that start their servers. A relay: the daemon
 * speaks, and this passes lines on both ways (cli_mcp_relay.c). Standard output carries only MCP; errors go
 * to standard error. */
#include <errno.h>
#include <fcntl.h>
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
#include "interfaces/cli/mcp/cli_mcp_files.h"
#include "interfaces/cli/mcp/cli_mcp_relay.h"
#include "interfaces/cli/run_options.h"
#include "interfaces/mcp/stdio.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/server_mcp.h"

struct mcp_options {
  char *toolset, *role, *conversation, *links, *structured, *output_schema;
  gboolean read_only, no_daemon;
};

/* ---- what the daemon is told ---- */

/* The directory for tools that work in the caller's directory; nothing for a toolset without such tools. */
static gboolean
add_caller_context (json_t *question, const struct mcp_options *options, int *ret_fd, GError **error)
{
  gboolean is_whole;
  const struct toolset *toolset = toolset_find_view (options->toolset, &is_whole, error);
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
  json_t *question = json_pack ("{s:s*, s:s*, s:s*, s:b, s:s*, s:s*, s:s*}", "toolset", options->toolset,
                                "role", options->role, "conversation", options->conversation, "read_only",
                                options->read_only, "links", options->links, "structured",
                                options->structured, "output_schema", options->output_schema);
  if (!question)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
  else if (!add_caller_context (question, options, ret_fd, error))
    g_clear_pointer (&question, json_decref);
  return question;
}

/* ---- connecting ---- */

/* The beginning of each connection. */
struct beginning {
  const json_t *question;
  int directory_fd; /* the current directory, if a toolset works there; or -1 */
  struct cli_mcp_files *files;
};

/* The descriptors sent with a request: the current directory, if any, and the channel for files. */
struct taken_along {
  int fds[2];
  gsize count;
};

static void
taken_along_close (struct taken_along *along)
{
  for (gsize i = 0; i < along->count; i++)
    fd_close (&along->fds[i]);
}

/* The caller closes *RET_ALONG, in any case. */
static gboolean
beginning_take_along (const struct beginning *beginning, struct taken_along *ret_along, GError **error)
{
  *ret_along = (struct taken_along){{-1, -1}, 0};
  if (beginning->directory_fd >= 0) {
    int fd = fcntl (beginning->directory_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
      return error_from_errno (error, errno, "cannot pass on the current directory");
    ret_along->fds[ret_along->count++] = fd;
  }
  int channel = cli_mcp_files_connect (beginning->files, error);
  if (channel >= 0)
    ret_along->fds[ret_along->count++] = channel;
  return channel >= 0;
}

/* A connection to the daemon, which is started if there is none. */
static int
connect_daemon (gpointer data, GError **error)
{
  const struct beginning *beginning = data;
  struct client client;
  struct taken_along along;
  int connection = -1;
  g_autofree char *socket = client_socket (error);
  if (!socket || !client_open (socket, &client, error))
    return -1;
  if (beginning_take_along (beginning, &along, error)) {
    g_autoptr (json_t) answer =
        client_ask (&client, PROTOCOL_MCP, beginning->question, along.fds, along.count, error);
    if (answer)
      connection = fd_steal (&client.fd);
  }
  taken_along_close (&along);
  client_close (&client);
  return connection;
}

/* ---- in this process ---- */

struct speaker {
  const struct beginning *beginning;
  struct service *service;
  struct mcp_caller *caller;
  int socket;
  GThread *thread; /* NULL: not yet started */
};

static gpointer
cli_mcp_speak (gpointer data)
{
  struct speaker *speaker = data;
  mcp_stdio_serve (speaker->service->mcp, speaker->caller, speaker->socket, speaker->socket);
  fd_close (&speaker->socket);
  return NULL;
}

static struct mcp_caller *
speaker_caller (const struct speaker *speaker, GError **error)
{
  struct taken_along along;
  struct mcp_caller *caller = NULL;
  g_autofree char *owner = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  if (beginning_take_along (speaker->beginning, &along, error))
    caller = server_mcp_caller (speaker->service->config, owner, speaker->beginning->question, along.fds,
                                along.count, error);
  taken_along_close (&along);
  return caller;
}

/* As the daemon would, on the other end of a socket; once. */
static int
connect_here (gpointer data, GError **error)
{
  struct speaker *speaker = data;
  int ends[2];
  if (speaker->thread) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_ENDED, "the engine of this process has ended");
    return -1;
  }
  speaker->caller = speaker_caller (speaker, error);
  if (!speaker->caller)
    return -1;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return -1;
  }
  speaker->socket = ends[1];
  speaker->thread = g_thread_new ("mcp", cli_mcp_speak, speaker);
  return ends[0];
}

static gboolean
speak_here (const struct beginning *beginning, GError **error)
{
  AdderEngine *engine = adder_engine_new (NULL, error);
  if (!engine)
    return FALSE;
  struct speaker speaker = {.beginning = beginning, .service = service_new (engine), .socket = -1};
  speaker.service->mcp = mcp_server_new (speaker.service);
  gboolean ok = cli_mcp_relay (connect_here, &speaker, beginning->files, error);
  if (speaker.thread)
    g_thread_join (speaker.thread);
  mcp_caller_unref (speaker.caller);
  mcp_server_free (speaker.service->mcp);
  service_free (speaker.service);
  adder_engine_free (engine);
  return ok;
}

static gboolean
speak (const struct mcp_options *options, GError **error)
{
  struct beginning beginning = {.directory_fd = -1};
  g_autoptr (json_t) question = cli_mcp_make_question (options, &beginning.directory_fd, error);
  if (!question)
    return FALSE;
  json_object_set_new (question, "files", json_true ());
  beginning.question = question;
  beginning.files = cli_mcp_files_new ();
  if (isatty (STDIN_FILENO))
    fputs ("adder: this speaks MCP, for a client that starts it; Ctrl-D ends it\n", stderr);
  gboolean ok = options->no_daemon ? speak_here (&beginning, error)
                                   : cli_mcp_relay (connect_daemon, &beginning, beginning.files, error);
  cli_mcp_files_free (beginning.files);
  fd_close (&beginning.directory_fd);
  return ok;
}

static const struct cli_command commands[] = {
    {"install", "--client NAME", "register Adder in an MCP client's configuration file", cli_mcp_install,
     .examples = "adder mcp install --client claude-code"},
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
       "The toolset (default: the basic tools of adder; full: all of adder)", "NAME"},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "Call as a guest, user or admin", "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "Call as a read-only agent", NULL},
      {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options.conversation,
       "The conversation of all calls; otherwise each call may name one", "ID"},
      {"links", 0, 0, G_OPTION_ARG_FILENAME, &options.links,
       "How replies name files: resources, http, text or none (default: as the client supports it)", "WORD"},
      {"structured", 0, 0, G_OPTION_ARG_FILENAME, &options.structured,
       "Whether replies have structuredContent, and tools an outputSchema: on or off", "WORD"},
      {"output-schema", 0, 0, G_OPTION_ARG_FILENAME, &options.output_schema,
       "Whether tools have an outputSchema: on or off", "WORD"},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Serve in this process, without a daemon",
       NULL},
      {NULL},
  };
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!speak (&options, &problem))
    code = cli_fail (problem);
  g_free (options.toolset);
  g_free (options.role);
  g_free (options.conversation);
  g_free (options.links);
  g_free (options.structured);
  g_free (options.output_schema);
  return code;
}
