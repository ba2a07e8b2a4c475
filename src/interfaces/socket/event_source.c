/* SPDX-License-Identifier: Apache-2.0 */
/* The two places where a run's events come from. */
#include "interfaces/socket/event_source.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/guarded.h"
#include "common/json.h"
#include "interfaces/remote/remote.h"
#include "interfaces/socket/client.h"
#include "library/library.h"
#include "operations/operation.h"
#include "tools/tools.h"

LOCK_CLASS (daemon_event_source);

/* ---- a daemon ---- */

struct daemon_event_source {
  struct event_source base;
  const struct submission *request; /* NULL: a replay, whose runs nobody here asks for */
  char *socket;
  char *session; /* whose cells the runs are, or NULL */
  struct client client;
  MUTEX (daemon_event_source) lock; /* of cancel and interrupt against going to another daemon */
  GUARDED_BY (daemon_event_source) gboolean cancelled, started;
  gboolean begun;                  /* its reader's own */
  struct protocol_message message; /* the event that was given last */
  json_t *result;                  /* of the run that ended last */
  json_t *saved;                   /* what became of the files */
  json_t *told;                    /* the progress that was told last */
};

static gboolean
event_source_ask (struct daemon_event_source *source, GError **error)
{
  const struct submission *request = source->request;
  g_autofree char *body = json_to_text (request->body);
  return protocol_send (source->client.fd, PROTOCOL_RUN, body, strlen (body), request->fds, request->fd_count,
                        error) &&
         protocol_send (source->client.fd, PROTOCOL_CODE, request->code, request->code_length, NULL, 0,
                        error);
}

/* The daemon was about to end and has read nothing of ours: the next one is asked, once. */
static gboolean
ask_next (struct daemon_event_source *source, GError **error)
{
  struct client client;
  source->begun = TRUE;
  if (!client_open (source->socket, &client, error))
    return FALSE;
  g_mutex_lock (&source->lock);
  client_close (&source->client);
  source->client = client;
  g_mutex_unlock (&source->lock);
  gboolean ok = event_source_ask (source, error);
  g_mutex_lock (&source->lock);
  if (source->cancelled)
    shutdown (source->client.fd, SHUT_WR);
  g_mutex_unlock (&source->lock);
  return ok;
}

static void
note_saved (struct daemon_event_source *source)
{
  g_clear_pointer (&source->saved, json_decref);
  source->saved =
      json_parse_object (source->message.data, source->message.length, "the daemon's answer", NULL);
}

static gboolean
event_source_take_result (struct daemon_event_source *source, struct run_event *ret_event, GError **error)
{
  json_decref (source->result);
  source->result = NULL;
  const struct protocol_message *message = &source->message;
  struct protocol_result head;
  if (message->length < sizeof head) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon's result is cut");
    return FALSE;
  }
  memcpy (&head, message->data, sizeof head);
  source->result =
      json_parse_object (message->data + sizeof head, message->length - sizeof head, "the result", error);
  *ret_event = (struct run_event){
      .kind = ADDER_EVENT_RESULT,
      .data = message->data + sizeof head,
      .length = message->length - sizeof head,
      .result = source->result,
      .outcome = (AdderOutcome)head.outcome,
      .exit_code = head.exit_code,
  };
  return source->result != NULL;
}

static gboolean
event_source_take_progress (struct daemon_event_source *source, struct run_event *ret_event, GError **error)
{
  const struct protocol_message *message = &source->message;
  g_clear_pointer (&source->told, json_decref);
  source->told = json_parse_object (message->data, message->length, "the daemon's progress", error);
  const struct tool_progress progress = tool_progress_from_json (source->told);
  *ret_event = (struct run_event){.kind = ADDER_EVENT_PROGRESS,
                                  .data = progress.text,
                                  .length = strlen (progress.text),
                                  .done = (guint64)progress.done,
                                  .of = (guint64)progress.of};
  return source->told != NULL;
}

/* Fills RET_EVENT from the message; FALSE without ERROR when it is no event. */
static gboolean
event_source_take_event (struct daemon_event_source *source, struct run_event *ret_event, GError **error)
{
  const struct protocol_message *message = &source->message;
  AdderEventKind kind;
  switch (message->kind) {
  case PROTOCOL_RESULT:
    return event_source_take_result (source, ret_event, error);
  case PROTOCOL_SAVED:
    note_saved (source);
    return FALSE;
  case PROTOCOL_PROGRESS:
    return event_source_take_progress (source, ret_event, error);
  case PROTOCOL_STDOUT:
    kind = ADDER_EVENT_STDOUT;
    break;
  case PROTOCOL_STDERR:
    kind = ADDER_EVENT_STDERR;
    break;
  case PROTOCOL_DISPLAY:
    kind = ADDER_EVENT_DISPLAY;
    break;
  default:
    kind = ADDER_EVENT_STARTED;
    g_mutex_lock (&source->lock);
    source->started = TRUE;
    g_mutex_unlock (&source->lock);
    break;
  }
  *ret_event = (struct run_event){.kind = kind, .data = message->data, .length = message->length};
  return TRUE;
}

static gboolean
daemon_next (struct event_source *base, struct run_event *ret_event, GError **error)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  for (;;) {
    g_autoptr (GError) problem = NULL;
    protocol_message_clear (&source->message);
    if (!protocol_receive (source->client.fd, PROTOCOL_AWAIT_EVENT, -1, &source->message, &problem)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon went away during the run (%s)",
                   problem->message);
      return FALSE;
    }
    if (source->message.kind == PROTOCOL_REFUSED) {
      protocol_take_refusal (&source->message, &problem);
      if (!source->begun && g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY)) {
        if (!ask_next (source, error))
          return FALSE;
        continue;
      }
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
    source->begun = TRUE;
    if (event_source_take_event (source, ret_event, &problem))
      return TRUE;
    if (problem) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  }
}

/* The daemon takes a half closed connection for a client that went away, and can still send the result. */
static void
daemon_cancel (struct event_source *base)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  g_mutex_lock (&source->lock);
  source->cancelled = TRUE;
  shutdown (source->client.fd, SHUT_WR);
  g_mutex_unlock (&source->lock);
}

/* By a connection of its own: this one's thread in the daemon is busy with the run. */
static gboolean
daemon_interrupt (struct event_source *base)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  g_mutex_lock (&source->lock);
  gboolean started = source->started;
  g_mutex_unlock (&source->lock);
  if (!source->session || !started)
    return FALSE;
  json_t *params = json_pack ("{s:s}", "session", source->session);
  g_autoptr (json_t) answer = client_call (source->socket, "session.interrupt", params, NULL);
  return answer != NULL;
}

static json_t *
daemon_save (struct event_source *base, GError **error)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  const char *problem = source->saved ? json_string_value (json_object_get (source->saved, "error"))
                                      : "the daemon does not say what became of them";
  if (problem)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "%s", problem);
  return g_steal_pointer (&source->saved);
}

static json_t *
daemon_call (struct event_source *base, const char *operation, json_t *params, GError **error)
{
  return client_call (((struct daemon_event_source *)base)->socket, operation, params, error);
}

/* By another connection: who decides may take longer than the daemon keeps one that asks nothing. */
static gboolean
daemon_again (struct event_source *base, const char *id, GError **error)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  json_object_set_new (source->request->body, "approval", json_string (id));
  g_clear_pointer (&source->saved, json_decref);
  g_mutex_lock (&source->lock);
  source->started = FALSE;
  g_mutex_unlock (&source->lock);
  return ask_next (source, error);
}

static json_t *
daemon_finish (struct event_source *base, GError **error)
{
  return client_take_answer (&((struct daemon_event_source *)base)->client, error);
}

static void
daemon_free (struct event_source *base)
{
  struct daemon_event_source *source = (struct daemon_event_source *)base;
  protocol_message_clear (&source->message);
  client_close (&source->client);
  g_mutex_clear (&source->lock);
  g_free (source->socket);
  g_free (source->session);
  json_decref (source->told);
  json_decref (source->result);
  json_decref (source->saved);
  g_free (base->note);
  g_free (source);
}

/* Takes CLIENT over. */
static struct daemon_event_source *
daemon_event_source_new (const char *socket, struct client *client, const char *session)
{
  struct daemon_event_source *source = g_new0 (struct daemon_event_source, 1);
  source->base = (struct event_source){
      daemon_next,   daemon_cancel, daemon_interrupt,
      daemon_save,   daemon_call,   daemon_again,
      daemon_finish, daemon_free,   g_steal_pointer (&client->note),
  };
  source->socket = g_strdup (socket);
  source->session = g_strdup (session);
  source->client = *client;
  g_mutex_init (&source->lock);
  return source;
}

struct event_source *
event_source_daemon (const char *socket, const struct submission *request, GError **error)
{
  struct client client;
  if (!client_open (socket, &client, error))
    return NULL;
  struct daemon_event_source *source = daemon_event_source_new (
      socket, &client, json_string_value (json_object_get (request->body, "session")));
  source->request = request;
  g_autoptr (GError) problem = NULL;
  if (event_source_ask (source, &problem))
    return &source->base;
  /* It hung up on a request that it has not read to the end. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_CANCELLED)) {
    if (ask_next (source, error))
      return &source->base;
  } else
    g_propagate_error (error, g_steal_pointer (&problem));
  daemon_free (&source->base);
  return NULL;
}

struct event_source *
event_source_replay (const json_t *question, const struct submission *options, json_t **ret_answer,
                     GError **error)
{
  struct client client;
  if (remote_is_set ())
    return remote_replay (question, options, ret_answer, error);
  g_autofree char *socket = client_socket (error);
  if (!socket || !client_find (socket, &client, error))
    return NULL;
  json_t *answer = client_ask (&client, PROTOCOL_SESSION, question, options->fds, options->fd_count, error);
  if (!answer) {
    client_close (&client);
    return NULL;
  }
  const json_t *session = json_object_get (answer, "session");
  struct daemon_event_source *source =
      daemon_event_source_new (socket, &client, json_string_value (json_object_get (session, "session_id")));
  source->begun = TRUE;
  *ret_answer = answer;
  return &source->base;
}

/* ---- this process ---- */

struct local_event_source {
  struct event_source base;
  const struct submission *request;
  char *owner;
  AdderEngine *engine;
  AdderEngine *own; /* the same, where nobody else has it */
  AdderRun *run;
  AdderResult *result;
  json_t *value; /* the result's */
};

static gboolean
local_next (struct event_source *base, struct run_event *ret_event, GError **error)
{
  struct local_event_source *source = (struct local_event_source *)base;
  AdderEvent event;
  if (!adder_run_next (source->run, &event)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the run broke off");
    return FALSE;
  }
  *ret_event = (struct run_event){
      .kind = event.kind, .data = event.data, .length = event.length, .done = event.done, .of = event.of};
  if (event.kind == ADDER_EVENT_RESULT) {
    source->result = event.result;
    json_decref (source->value);
    ret_event->result = source->value = library_result (event.result);
    ret_event->data = adder_result_json (event.result);
    ret_event->length = strlen (ret_event->data);
    ret_event->outcome = adder_result_outcome (event.result);
    ret_event->exit_code = adder_result_exit_code (event.result);
  }
  return TRUE;
}

static void
local_cancel (struct event_source *base)
{
  adder_run_cancel (((struct local_event_source *)base)->run);
}

static gboolean
local_interrupt (G_GNUC_UNUSED struct event_source *base)
{
  return FALSE;
}

static json_t *
local_save (struct event_source *base, GError **error)
{
  struct local_event_source *source = (struct local_event_source *)base;
  return submission_save (source->request, source->result, error);
}

static json_t *
local_call (struct event_source *base, const char *operation, json_t *params, GError **error)
{
  const struct local_event_source *source = (const struct local_event_source *)base;
  const struct operation_caller caller = OPERATION_CALLER (source->engine, source->owner, ROLE_ADMIN);
  return operation_call (&caller, operation, params, error);
}

/* Starts the request as its body is now. */
static gboolean
local_start (struct local_event_source *source, GError **error)
{
  g_autoptr (AdderRequest) asked = submission_build (source->request, source->owner, error);
  if (!asked)
    return FALSE;
  g_clear_pointer (&source->result, adder_result_free);
  adder_run_free (source->run);
  source->run = adder_run_start (source->engine, asked);
  return TRUE;
}

static gboolean
local_again (struct event_source *base, const char *id, GError **error)
{
  struct local_event_source *source = (struct local_event_source *)base;
  json_object_set_new (source->request->body, "approval", json_string (id));
  return local_start (source, error);
}

static void
local_free (struct event_source *base)
{
  struct local_event_source *source = (struct local_event_source *)base;
  g_free (source->owner);
  json_decref (source->value);
  adder_result_free (source->result);
  adder_run_free (source->run);
  adder_engine_free (source->own);
  g_free (base->note);
  g_free (source);
}

static struct local_event_source *
local_event_source_new (const struct submission *request)
{
  struct local_event_source *source = g_new0 (struct local_event_source, 1);
  source->base = (struct event_source){local_next,  local_cancel, local_interrupt, local_save, local_call,
                                       local_again, NULL,         local_free,      NULL};
  source->request = request;
  source->owner = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  return source;
}

struct event_source *
event_source_local (const struct submission *request, GError **error)
{
  struct local_event_source *source = local_event_source_new (request);
  source->own = source->engine = adder_engine_new (NULL, error);
  if (source->engine && local_start (source, error))
    return &source->base;
  local_free (&source->base);
  return NULL;
}

struct event_source *
event_source_engine (AdderEngine *engine, const struct submission *request, GError **error)
{
  struct local_event_source *source = local_event_source_new (request);
  source->engine = engine;
  if (local_start (source, error))
    return &source->base;
  local_free (&source->base);
  return NULL;
}

struct event_source *
event_source_open (gboolean daemon, const struct submission *request, GError **error)
{
  if (remote_is_set ()) {
    if (daemon)
      return remote_run (request, error);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, REMOTE_OR_NO_DAEMON);
    return NULL;
  }
  if (!daemon)
    return event_source_local (request, error);
  g_autofree char *socket = client_socket (error);
  return socket ? event_source_daemon (socket, request, error) : NULL;
}
