/* SPDX-License-Identifier: Apache-2.0 */
/* The extension io.modelcontextprotocol/tasks: tool calls that are answered before they end.
 *
 * If the client supports tasks and the tool may take long, the call runs in a thread of its own, on a request
 * of its own, the shadow: its messages go to the client as long as the client's request waits. That request
 * waits for the end of the call, and answers with its result; or, on timeout, with a new task. From then on
 * the shadow sends nothing, and asks for input through the task. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/memory.h"
#include "interfaces/mcp/task_table.h"
#include "interfaces/service/quota.h"

#define SHOWN_BYTES 60

LOCK_CLASS (mcp_tasks);

struct mcp_tasks {
  struct mcp_memory *memory;
  struct task_table *table;
  MUTEX (mcp_tasks) lock;
  GCond left;
  GUARDED_BY (mcp_tasks) guint running; /* threads */
};

LOCK_CLASS (task_call);

struct task_call {
  struct mcp_tasks *tasks;
  struct mcp_request shadow;
  char *name;
  json_t *arguments;
  int wake_fd;   /* of waiters: something changed */
  int cancel_fd; /* the other end of the shadow's watch_fd, until there is a task */
  MUTEX (task_call) lock;
  GCond settled;                                       /* whether it became a task is settled */
  GUARDED_BY (task_call) struct mcp_request *original; /* the waiting one; NULL: it was answered */
  GUARDED_BY (task_call) struct task *task;
  GUARDED_BY (task_call) gboolean was_refused; /* it is none and will be none */
  GUARDED_BY (task_call) gboolean done;
};

/* ---- the shadow ---- */

/* Progress of the call, once it is a task. */
static void
tasks_say (struct task *task, const json_t *message)
{
  const json_t *params = json_object_get (message, "params");
  const char *text = json_string_value (json_object_get (params, "message"));
  if (text && strcmp (json_member_text (message, "method"), "notifications/progress") == 0)
    task_say (task, text);
}

static gboolean
send_shadow (struct mcp_request *shadow, const json_t *message)
{
  struct task_call *call = shadow->link_data;
  gboolean sent = TRUE;
  g_mutex_lock (&call->lock);
  struct mcp_request *original = call->original;
  if (original)
    sent = original->link && original->link->send (original, message);
  else if (call->task)
    tasks_say (call->task, message);
  g_mutex_unlock (&call->lock);
  return sent;
}

static const struct mcp_link shadow_link = {send_shadow};

static struct task_call *
tasks_call_of (const struct mcp_request *request)
{
  return request->link == &shadow_link ? request->link_data : NULL;
}

static void
call_free (struct task_call *call)
{
  struct mcp_request *shadow = &call->shadow;
  mcp_input_end (shadow);
  json_decref (shadow->message);
  json_decref (shadow->result);
  json_decref (shadow->error);
  mcp_caller_unref (shadow->caller);
  reservation_unref (shadow->reservation);
  fd_close (&shadow->watch_fd);
  fd_close (&call->wake_fd);
  fd_close (&call->cancel_fd);
  json_decref (call->arguments);
  g_free (call->name);
  g_cond_clear (&call->settled);
  g_mutex_clear (&call->lock);
  g_free (call);
}

/* NULL when descriptors run out. */
static struct task_call *
call_new (struct mcp_tasks *tasks, struct mcp_request *request, const char *name, json_t *arguments)
{
  int ends[2];
  autoclose int wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return NULL;
  struct task_call *call = g_new0 (struct task_call, 1);
  call->tasks = tasks;
  call->name = g_strdup (name);
  call->arguments = json_incref (arguments);
  g_mutex_init (&call->lock);
  call->original = request;
  call->wake_fd = fd_steal (&wake_fd);
  call->cancel_fd = ends[1];
  g_cond_init (&call->settled);

  struct mcp_request *shadow = &call->shadow;
  *shadow = *request;
  json_incref (shadow->message);
  mcp_caller_ref (shadow->caller);
  reservation_ref (shadow->reservation);
  request->input = NULL; /* is the shadow's */
  shadow->link = &shadow_link;
  shadow->link_data = call;
  shadow->watch_fd = ends[0];
  return call;
}

/* ---- its thread ---- */

static void
tasks_carry_out (struct task_call *call)
{
  struct mcp_request *shadow = &call->shadow;
  struct service *service = call->tasks->memory->service;
  g_autoptr (GError) problem = NULL;
  if (!service_begin (service, &problem)) {
    mcp_problem (shadow, MCP_INTERNAL_ERROR, NULL, "%s", problem->message);
    return;
  }
  if (!mcp_server_call_tool (shadow, call->name, call->arguments) && !mcp_is_replied (shadow)) {
    g_autofree char *shown = text_one_line (call->name, SHOWN_BYTES);
    mcp_problem (shadow, MCP_INVALID_PARAMS, NULL, "there is no tool \"%s\"", shown);
  }
  if (!mcp_is_replied (shadow))
    mcp_problem (shadow, MCP_INTERNAL_ERROR, NULL, "there was no answer");
  g_mutex_lock (&call->lock);
  if (call->task)
    service_keep_ms (service, call->tasks->memory->config->mcp_task_age_ms);
  g_mutex_unlock (&call->lock);
  service_end (service);
}

static void
tasks_wake (struct task_call *call)
{
  guint64 one = 1;
  G_GNUC_UNUSED ssize_t put = write (call->wake_fd, &one, sizeof one);
}

static gpointer
call_thread (gpointer data)
{
  struct task_call *call = data;
  struct mcp_tasks *tasks = call->tasks;
  tasks_carry_out (call);

  g_mutex_lock (&call->lock);
  call->done = TRUE;
  struct task *task = call->task;
  if (!task)
    tasks_wake (call);
  g_mutex_unlock (&call->lock);
  if (task) { /* otherwise the waiting request handles it */
    task_end (task, g_steal_pointer (&call->shadow.result), g_steal_pointer (&call->shadow.error));
    call_free (call);
  }
  g_mutex_lock (&tasks->lock);
  tasks->running--;
  g_cond_broadcast (&tasks->left);
  g_mutex_unlock (&tasks->lock);
  return NULL;
}

static gboolean
tasks_start (struct task_call *call)
{
  struct mcp_tasks *tasks = call->tasks;
  g_mutex_lock (&tasks->lock);
  tasks->running++;
  GThread *thread = g_thread_try_new ("mcp-task", call_thread, call, NULL);
  tasks->running -= thread == NULL;
  g_mutex_unlock (&tasks->lock);
  if (thread)
    g_thread_unref (thread);
  return thread != NULL;
}

/* ---- the waiting request ---- */

/* Makes a task of CALL, if there is room. */
REQUIRES (task_call)
static void
become_task (struct task_call *call)
{
  g_autoptr (GError) problem = NULL;
  struct task *task = task_new (call->tasks->table, mcp_owner (&call->shadow), call->cancel_fd, &problem);
  if (task) {
    call->cancel_fd = -1;
    call->original = NULL;
    call->task = task;
  }
  call->was_refused = task == NULL;
  g_cond_broadcast (&call->settled);
}

static void
reply_task (struct mcp_request *request, struct task *task)
{
  json_t *result = task_describe (task);
  json_object_set_new (result, "resultType", json_string ("task"));
  mcp_result (request, result);
}

/* Waits until CALL is done, wants to be a task, or REQUEST is cancelled, or UNTIL (monotonic us; -1:
 * forever). FALSE: time to make a task of it. */
static gboolean
wait_for_call (struct mcp_request *request, struct task_call *call, gint64 until)
{
  gboolean cancelled = FALSE;
  for (;;) {
    gint64 left = until < 0 ? -1 : MAX (0, (until - g_get_monotonic_time () + 999) / 1000);
    struct pollfd ready[] = {{.fd = call->wake_fd, .events = POLLIN},
                             {.fd = cancelled ? -1 : request->watch_fd, .events = POLLRDHUP}};
    int n = poll (ready, G_N_ELEMENTS (ready), left < 0 ? -1 : (int)MIN (left, G_MAXINT));
    if (n > 0 && ready[0].revents) {
      g_mutex_lock (&call->lock);
      gboolean done = call->done;
      g_mutex_unlock (&call->lock);
      return done;
    }
    if (n > 0 && ready[1].revents) { /* it ends soon, as cancelled */
      cancelled = TRUE;
      until = -1;
      shutdown (call->cancel_fd, SHUT_RDWR);
    }
    if (n == 0 && until >= 0)
      return FALSE;
  }
}

static void
take_reply (struct mcp_request *request, struct task_call *call)
{
  request->result = g_steal_pointer (&call->shadow.result);
  request->error = g_steal_pointer (&call->shadow.error);
  call_free (call);
}

/* Waits for CALL, in the thread of REQUEST, and replies. */
static void
wait_and_reply (struct mcp_request *request, struct task_call *call, gint64 until)
{
  while (!wait_for_call (request, call, until)) {
    guint64 count;
    G_GNUC_UNUSED ssize_t got = read (call->wake_fd, &count, sizeof count);
    g_mutex_lock (&call->lock);
    if (!call->done && !call->was_refused)
      become_task (call);
    struct task *task = call->task;
    if (task)
      reply_task (request, task);
    gboolean done = call->done;
    g_mutex_unlock (&call->lock); /* a task's call belongs to its thread from here on */
    if (task)
      return;
    if (done)
      break;
    until = -1; /* no room: answer it when it is done */
  }
  take_reply (request, call);
}

static void
call_as_task (struct mcp_request *request, enum mcp_tasking tasking, const char *name, json_t *arguments)
{
  struct mcp_memory *memory = mcp_server_memory (request->server);
  struct task_call *call = call_new (memory->tasks, request, name, arguments);
  gint64 until = tasking == MCP_TASK_LATE
                     ? g_get_monotonic_time () + (gint64)memory->config->mcp_task_after_ms * 1000
                     : -1;
  struct task *task = NULL;
  if (!call) {
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "cannot begin it: %s", g_strerror (errno));
    return;
  }
  UNSHARED (task_call); /* until its thread is started */
  if (tasking == MCP_TASK_AT_ONCE || tasking == MCP_TASK_REQUIRED) {
    become_task (call);
    task = call->task;
  }
  if (task)
    reply_task (request, task);
  if (!tasks_start (call)) {
    call->shadow.error = json_pack ("{s:i, s:s}", "code", MCP_INTERNAL_ERROR, "message",
                                    "cannot begin it: there are too many threads");
    if (task) {
      task_end (task, NULL, g_steal_pointer (&call->shadow.error));
      call_free (call);
    } else
      take_reply (request, call);
  } else if (!task)
    wait_and_reply (request, call, until);
}

/* ---- for handlers ---- */

gboolean
mcp_become_task (struct mcp_request *request)
{
  struct task_call *call = tasks_call_of (request);
  if (!call)
    return FALSE;
  g_mutex_lock (&call->lock);
  if (!call->task && !call->was_refused) {
    tasks_wake (call);
    while (!call->task && !call->was_refused)
      g_cond_wait (&call->settled, &call->lock);
  }
  gboolean is_task = call->task != NULL;
  g_mutex_unlock (&call->lock);
  return is_task;
}

gboolean
mcp_task_hold (struct mcp_request *request)
{
  struct task_call *call = tasks_call_of (request);
  if (!call)
    return FALSE;
  g_mutex_lock (&call->lock);
  gboolean is_task = call->task != NULL;
  call->was_refused = !is_task;
  g_mutex_unlock (&call->lock);
  return is_task;
}

gboolean
mcp_task_ask (struct mcp_request *request, struct mcp_ask *asks, gsize count, guint64 wait_ms, GError **error)
{
  struct task_call *call = tasks_call_of (request);
  if (call) {
    g_mutex_lock (&call->lock);
    struct task *task = call->task;
    g_mutex_unlock (&call->lock);
    return task_ask (task, asks, count, wait_ms, error);
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the request is no task");
  return FALSE;
}

/* ---- methods ---- */

static json_t *
tasks_capability (void)
{
  return json_pack ("{s:{s:{}}}", "extensions", MCP_EXTENSION_TASKS);
}

void
mcp_tasks_call (struct mcp_request *request, const char *name, json_t *arguments)
{
  gboolean knows = request->era == MCP_MODERN && mcp_client_extends (request, MCP_EXTENSION_TASKS);
  enum mcp_tasking tasking = mcp_server_tasking (request, name);
  if (!knows && tasking == MCP_TASK_REQUIRED) {
    mcp_problem_capability (request, tasks_capability ());
    return;
  }
  if (knows && tasking != MCP_TASK_NEVER) {
    call_as_task (request, tasking, name, arguments);
    return;
  }
  if (!mcp_server_call_tool (request, name, arguments) && !mcp_is_replied (request)) {
    g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is no tool \"%s\"", shown);
  }
}

/* The params' taskId, or NULL with a reply. */
static const char *
read_id (struct mcp_request *request)
{
  const char *id = json_string_value (json_object_get (request->params, "taskId"));
  if (!mcp_client_extends (request, MCP_EXTENSION_TASKS)) {
    mcp_problem_capability (request, tasks_capability ());
    return NULL;
  }
  if (!id)
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "taskId must be given, as text");
  return id;
}

static struct task_table *
tasks_table_of (const struct mcp_request *request)
{
  return mcp_server_memory (request->server)->tasks->table;
}

void
mcp_tasks_get (struct mcp_request *request)
{
  const char *id = read_id (request);
  if (!id)
    return;
  json_t *shown = task_show (tasks_table_of (request), mcp_owner (request), id);
  if (shown)
    mcp_result (request, shown);
  else
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is no such task");
}

void
mcp_tasks_update (struct mcp_request *request)
{
  const json_t *answers = json_object_get (request->params, "inputResponses");
  const char *id = read_id (request);
  g_autoptr (GError) problem = NULL;
  if (!id)
    return;
  if (!json_is_object (answers))
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "inputResponses must be given, as an object");
  else if (task_update (tasks_table_of (request), mcp_owner (request), id, answers, &problem))
    mcp_result (request, json_object ());
  else
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s", problem->message);
}

void
mcp_tasks_cancel (struct mcp_request *request)
{
  const char *id = read_id (request);
  if (!id)
    return;
  if (task_cancel (tasks_table_of (request), mcp_owner (request), id))
    mcp_result (request, json_object ());
  else
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "there is no such task");
}

/* ---- life ---- */

static void
changed (gpointer data, const char *owner, const char *id)
{
  const struct mcp_memory *memory = data;
  mcp_subscriptions_task (memory->subscriptions, owner, id);
}

struct mcp_tasks *
mcp_tasks_new (struct mcp_memory *memory)
{
  struct mcp_tasks *tasks = g_new0 (struct mcp_tasks, 1);
  tasks->memory = memory;
  tasks->table = task_table_new (memory->config, changed, memory);
  g_mutex_init (&tasks->lock);
  g_cond_init (&tasks->left);
  return tasks;
}

void
mcp_tasks_free (struct mcp_tasks *tasks)
{
  if (!tasks)
    return;
  task_cancel_all (tasks->table);
  g_mutex_lock (&tasks->lock);
  while (tasks->running > 0)
    g_cond_wait (&tasks->left, &tasks->lock);
  g_mutex_unlock (&tasks->lock);
  task_table_free (tasks->table);
  g_cond_clear (&tasks->left);
  g_mutex_clear (&tasks->lock);
  g_free (tasks);
}

json_t *
mcp_task_show (struct mcp_tasks *tasks, const char *owner, const char *id)
{
  return task_show (tasks->table, owner, id);
}
