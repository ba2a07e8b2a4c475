/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a chat has a Bot API, a way to the daemon, an agent and a toolbox of its own, so chats wait
 * for nobody but themselves, and the poller for none of them. It reaches in for three things alone: to hand
 * over an update, to stop what came before, to end. */
#include "apps/telegram/dialog.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/agent/prompts.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"

#define TYPING_US   (4 * 1000 * 1000) /* the word stands for five seconds */
#define EDIT_US     (1500 * 1000)     /* between two edits: a chat may be sent about one message a second */
#define STEPS_BYTES 1500
#define NO_MODEL                                                                                             \
  "No model answers here yet. The bot's owner can add one: `adder model new`, then [telegram] model "        \
  "in adder.conf. "                                                                                          \
  "Code in a code block runs without one: begin the message with ``` and end it with ```."

#define NOT_FINISHED                                                                                         \
  "I was stopped while I worked on this message of yours. It was not finished: send it again."

/* ---- typing ---- */

/* A thread of its own, which says that somebody types as long as the chat works: nobody waits for it. */
static gpointer
type (gpointer data)
{
  struct dialog *dialog = data;
  struct bot_api *api = bot_api_new (dialog->world->api, NULL);
  const struct chat_line line = {api, dialog->line.chat};
  g_mutex_lock (&dialog->lock);
  while (api && !dialog->closing) {
    if (!dialog->working) {
      g_cond_wait (&dialog->changed, &dialog->lock);
      continue;
    }
    g_mutex_unlock (&dialog->lock);
    send_typing (&line);
    g_mutex_lock (&dialog->lock);
    gint64 until = g_get_monotonic_time () + TYPING_US;
    while (dialog->working && !dialog->closing && g_cond_wait_until (&dialog->changed, &dialog->lock, until))
      ;
  }
  g_mutex_unlock (&dialog->lock);
  bot_api_free (api);
  return NULL;
}

/* Work on the next update begins. FALSE: it was stopped before. */
static gboolean
begin_work (struct dialog *dialog)
{
  g_mutex_lock (&dialog->lock);
  dialog->stopped = dialog->closing || dialog->begun <= dialog->stopped_until;
  dialog->working = !dialog->stopped;
  gboolean begins = dialog->working;
  g_cond_broadcast (&dialog->changed);
  g_mutex_unlock (&dialog->lock);
  return begins;
}

static void
end_work (struct dialog *dialog)
{
  g_mutex_lock (&dialog->lock);
  dialog->working = FALSE;
  g_mutex_unlock (&dialog->lock);
}

/* ---- replies ---- */

void
dialog_say (struct dialog *dialog, const char *text)
{
  send_text (&dialog->line, text);
}

static gboolean
dialog_is_stopped (struct dialog *dialog)
{
  g_mutex_lock (&dialog->lock);
  gboolean stopped = dialog->stopped;
  g_mutex_unlock (&dialog->lock);
  return stopped;
}

/* Output and traceback as a block, and after it the session's indicator. */
static void
dialog_send_output (struct dialog *dialog, const struct reply *reply)
{
  struct pages *pages = pages_new ();
  g_autofree char *line = NULL;
  gsize length = python_session_split (reply->text, json_array_size (reply->pictures), &line);
  g_autofree char *output = g_strndup (reply->text, length);
  pages_add_code (pages, output);
  if (line)
    pages_add_text (pages, line);
  send_pages (&dialog->line, pages, NULL);
  pages_free (pages);
}

static void
send_pictures_of (struct dialog *dialog, const json_t *paths)
{
  gsize index;
  json_t *path;
  send_pictures (&dialog->line, paths);
  json_array_foreach ((json_t *)(guintptr)paths, index, path) (void) unlink (json_string_value (path));
}

static void
dialog_run_tool (struct dialog *dialog, const char *name, json_t *arguments, struct called *ret_called)
{
  toolbox_call (dialog->toolbox, name, arguments, ret_called);
  python_session_see (&dialog->session, name, arguments, ret_called->reply.text, ret_called->is_error);
  json_decref (arguments);
}

void
dialog_call (struct dialog *dialog, const char *name, json_t *arguments)
{
  struct called called;
  dialog_run_tool (dialog, name, arguments, &called);
  /* That it was stopped, "/stop" says. */
  if (called.is_error && dialog_is_stopped (dialog))
    dialog->was_cut = TRUE;
  else
    dialog_send_output (dialog, &called.reply);
  send_pictures_of (dialog, called.reply.pictures);
  called_clear (&called);
}

char *
dialog_ask (struct dialog *dialog, const char *name, json_t *arguments, GError **error)
{
  struct called called;
  dialog_run_tool (dialog, name, arguments, &called);
  dialog->was_cut |= called.is_error && dialog_is_stopped (dialog);
  char *text = called.is_error ? NULL : g_strdup (called.reply.text);
  if (!text)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, called.reply.text);
  called_clear (&called);
  return text;
}

/* ---- what an agent tells ---- */

static void
show_steps (struct dialog *dialog, gboolean at_once)
{
  gint64 now = g_get_monotonic_time ();
  if (!at_once && now - dialog->edited_us < EDIT_US)
    return;
  dialog->edited_us = now;
  if (dialog->steps_message == 0)
    dialog->steps_message = send_text (&dialog->line, dialog->steps->str);
  else
    send_edit (&dialog->line, dialog->steps_message, dialog->steps->str);
}

static void
saw_begin (gpointer data, const json_t *step)
{
  struct dialog *dialog = data;
  const char *name = json_member_text (json_object_get (step, "function"), "name");
  if (dialog->steps->len > STEPS_BYTES)
    g_string_truncate (dialog->steps, 0);
  g_string_append_printf (dialog->steps, "%s%" JSON_INTEGER_FORMAT ". %s", dialog->steps->len > 0 ? "\n" : "",
                          json_integer_value (json_object_get (step, "step")), name);
  show_steps (dialog, FALSE);
}

static void
saw_end (gpointer data, const json_t *step)
{
  struct dialog *dialog = data;
  const json_t *function = json_object_get (step, "function");
  gboolean is_error = json_is_true (json_object_get (step, "is_error"));
  python_session_see (&dialog->session, json_member_text (function, "name"),
                      json_object_get (function, "arguments"), json_member_text (step, "result"), is_error);
  g_string_append (dialog->steps, is_error ? " ✗" : " ✓");
  show_steps (dialog, FALSE);
  send_pictures_of (dialog, json_object_get (step, "pictures"));
}

static const struct agent_events events = {.began = saw_begin, .ended = saw_end};

/* ---- a turn of the model ---- */

static void
send_turn (struct dialog *dialog, const struct agent_turn *turn)
{
  struct pages *pages = pages_new ();
  if (turn->answer)
    pages_add_markdown (pages, turn->answer);
  if (turn->message && turn->reason != AGENT_CANCELLED) {
    pages_add_text (pages, "\n");
    pages_add_text (pages, turn->message);
  }
  if (dialog->session.status) {
    pages_add_text (pages, "\n");
    pages_add_text (pages, dialog->session.status);
  }
  /* That it was stopped, "/stop" says. */
  dialog->was_cut |= turn->reason == AGENT_CANCELLED;
  if (turn->answer || turn->reason != AGENT_CANCELLED)
    send_pages (&dialog->line, pages, NULL);
  pages_free (pages);
}

/* An agent that is told to end between two turns would end the next one. */
static void
set_asking (struct dialog *dialog, gboolean asking)
{
  g_mutex_lock (&dialog->lock);
  dialog->asking = asking;
  gboolean stopped = dialog->stopped;
  g_mutex_unlock (&dialog->lock);
  if (asking && stopped)
    agent_cancel (dialog->agent);
}

static void
say_to_model (struct dialog *dialog, const char *text)
{
  struct agent_turn turn;
  if (!dialog->agent) {
    g_string_truncate (dialog->files, 0);
    dialog_say (dialog, NO_MODEL);
    return;
  }
  g_autofree char *said = g_strconcat (dialog->files->str, text, NULL);
  g_string_truncate (dialog->files, 0);
  g_string_truncate (dialog->steps, 0);
  dialog->steps_message = 0;
  set_asking (dialog, TRUE);
  agent_say (dialog->agent, said, &turn);
  set_asking (dialog, FALSE);
  if (dialog->steps_message != 0)
    show_steps (dialog, TRUE);
  send_turn (dialog, &turn);
  agent_turn_clear (&turn);
}

/* ---- messages ---- */

/* What ENTITIES of TEXT mark as blocks of code, or NULL. The caller's. Offsets are in units of UTF-16. */
static char *
marked_code (const json_t *entities, const char *text)
{
  g_autofree gunichar2 *units = g_utf8_to_utf16 (text, -1, NULL, NULL, NULL);
  g_autoptr (GString) code = g_string_new (NULL);
  gsize index, length = pages_units (text);
  json_t *entity;
  json_array_foreach ((json_t *)(guintptr)entities, index, entity)
  {
    json_int_t from = json_integer_value (json_object_get (entity, "offset"));
    json_int_t size = json_integer_value (json_object_get (entity, "length"));
    gboolean fits =
        from >= 0 && size > 0 && (guint64)from <= length && (guint64)size <= length - (guint64)from;
    if (!fits || strcmp (json_member_text (entity, "type"), "pre") != 0)
      continue;
    g_autofree char *part = g_utf16_to_utf8 (units + from, (glong)size, NULL, NULL, NULL);
    g_string_append_printf (code, "%s%s", code->len > 0 ? "\n" : "", part ? part : "");
  }
  return code->len > 0 ? g_strdup (code->str) : NULL;
}

/* The same of a text that has its fences still. */
static char *
fenced_code (const char *text)
{
  gsize length = strlen (text);
  const char *line = strchr (text, '\n');
  if (!g_str_has_prefix (text, "```") || length < 7 || !line || !g_str_has_suffix (text, "```"))
    return NULL;
  return g_strndup (line + 1, length - 3 - (gsize)(line + 1 - text));
}

/* TEXT without "@bot " before it, by which a bot is called in a group. */
static const char *
without_name (const struct dialog *dialog, const char *text)
{
  gsize length = strlen (dialog->world->name);
  gboolean named = text[0] == '@' && g_ascii_strncasecmp (text + 1, dialog->world->name, length) == 0 &&
                   strchr (" \n", text[1 + length]);
  return named ? text + 1 + length : text;
}

static void
dialog_take_text (struct dialog *dialog, const json_t *message, const char *text, const json_t *entities)
{
  g_autofree char *said = g_strstrip (g_strdup (without_name (dialog, text)));
  g_autofree char *marked = marked_code (entities, text),
                  *code = marked ? g_strdup (marked) : fenced_code (said);
  const json_t *replied = json_object_get (message, "reply_to_message");
  if (said[0] == '/')
    dialog_carry_out (dialog, said + 1);
  else if (dialog_is_file_list (json_member_text (replied, "text")))
    dialog_send_file (dialog, said);
  else if (code)
    dialog_call (dialog, "run_python",
                 json_pack ("{s:o, s:b}", "code", json_text_or_null (code), "use_session", 1));
  else
    say_to_model (dialog, said);
}

static void
dialog_take_message (struct dialog *dialog, const json_t *message)
{
  const char *text = json_member_text (message, "text"), *caption = json_member_text (message, "caption");
  gboolean has_file = dialog_take_file (dialog, message);
  if (text[0])
    dialog_take_text (dialog, message, text, json_object_get (message, "entities"));
  else if (caption[0])
    dialog_take_text (dialog, message, caption, json_object_get (message, "caption_entities"));
  else if (!has_file && strcmp (json_member_text (json_object_get (message, "chat"), "type"), "private") == 0)
    dialog_say (dialog,
                "Text, code blocks, pictures and documents are what is understood here. /help says more.");
}

static void
take_update (struct dialog *dialog, const json_t *update)
{
  const json_t *message = json_object_get (update, "message");
  if (json_is_object (json_object_get (update, "callback_query"))) {
    dialog_refuse_press (dialog, update);
  } else if (json_is_true (json_object_get (update, "begun"))) {
    dialog_say (dialog, NOT_FINISHED);
  } else {
    dialog->user = json_integer_value (json_object_get (json_object_get (message, "from"), "id"));
    call_backend_resume (dialog->backend);
    if (begin_work (dialog))
      dialog_take_message (dialog, message);
    else
      dialog->was_cut = TRUE;
    end_work (dialog);
    dialog->was_stopped |= dialog->was_cut;
  }
}

/* What the end of this program cuts off stays begun, and is told about at the next start. */
static void
work_on (struct dialog *dialog, const json_t *update)
{
  inbox_begin (dialog->world->inbox, inbox_id (update));
  dialog->was_cut = FALSE;
  take_update (dialog, update);
  g_mutex_lock (&dialog->lock);
  gboolean closing = dialog->closing;
  g_mutex_unlock (&dialog->lock);
  if (!closing || !dialog->was_cut)
    inbox_end (dialog->world->inbox, inbox_id (update));
}

static gpointer
dialog_thread (gpointer data)
{
  struct dialog *dialog = data;
  for (;;) {
    g_autoptr (json_t) update = g_async_queue_pop (dialog->updates);
    g_mutex_lock (&dialog->lock);
    gboolean closing = dialog->closing;
    dialog->begun++;
    g_mutex_unlock (&dialog->lock);
    if (closing || !json_is_object (update))
      return NULL;
    work_on (dialog, update);
  }
}

/* ---- from outside ---- */

static gboolean
open_place (struct dialog *dialog, GError **error)
{
  dialog->place = g_build_filename (dialog->world->pictures, dialog->conversation, NULL);
  if (g_mkdir_with_parents (dialog->place, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the directory %s", dialog->place);
  dialog->place_fd = open (dialog->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return dialog->place_fd >= 0 ||
         error_from_errno (error, errno, "cannot open the directory %s", dialog->place);
}

static struct toolbox_settings
settings_of (struct dialog *dialog)
{
  static const struct caller_context nowhere = CALLER_CONTEXT_NONE;
  return (struct toolbox_settings){
      .config = dialog->world->config,
      .backend = dialog->backend,
      .toolset = dialog->world->toolset,
      .conversation = dialog->conversation,
      .context = &nowhere,
      .place = {.out_fd = dialog->place_fd, .out = dialog->place},
      .cancel_fd = -1,
      .approve = dialog_approve,
      .approve_data = dialog,
  };
}

/* Without a model a chat has its commands and its code blocks. */
static gboolean
open_agent (struct dialog *dialog, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct agent_settings settings = {.tools = settings_of (dialog), .intro = prompt_text (PROMPT_CHAT)};
  budget_init (&settings.budget);
  dialog->model = model_open (dialog->world->model, &problem);
  if (!dialog->model) {
    log_info ("telegram: chat %" G_GINT64_FORMAT ": no model: %s", dialog->line.chat, problem->message);
    return TRUE;
  }
  settings.model = dialog->model;
  dialog->agent = agent_new (&settings, error);
  if (dialog->agent)
    agent_listen (dialog->agent, &events, dialog);
  return dialog->agent != NULL;
}

static gboolean
open_all (struct dialog *dialog, GError **error)
{
  const struct toolbox_settings *settings;
  if (!open_place (dialog, error) || !(dialog->line.api = bot_api_new (dialog->world->api, error)) ||
      !(dialog->backend = call_backend_new (FALSE, error)))
    return FALSE;
  struct toolbox_settings own = settings_of (dialog);
  settings = &own;
  dialog->toolbox = toolbox_new (settings, error);
  return dialog->toolbox && open_agent (dialog, error);
}

struct dialog *
dialog_new (const struct dialog_world *world, gint64 chat, GError **error)
{
  struct dialog *dialog = g_new0 (struct dialog, 1);
  *dialog = (struct dialog){.world = world, .line = {.chat = chat}, .place_fd = -1};
  dialog->conversation = g_strdup_printf (DIALOG_CONVERSATION "%" G_GINT64_FORMAT, chat);
  dialog->updates = g_async_queue_new_full ((GDestroyNotify)json_decref);
  dialog->files = g_string_new (NULL);
  dialog->steps = g_string_new (NULL);
  g_mutex_init (&dialog->lock);
  g_cond_init (&dialog->changed);
  python_session_init (&dialog->session);
  g_queue_init (&dialog->presses);
  dialog->line.was_cut = &dialog->was_cut;
  if (open_all (dialog, error) && (dialog->typing = g_thread_try_new ("typing", type, dialog, error)))
    dialog->thread = g_thread_try_new ("chat", dialog_thread, dialog, error);
  if (!dialog->thread)
    g_clear_pointer (&dialog, dialog_free);
  return dialog;
}

void
dialog_close (struct dialog *dialog)
{
  g_mutex_lock (&dialog->lock);
  dialog->closing = TRUE;
  g_mutex_unlock (&dialog->lock);
  dialog_stop (dialog);
  g_async_queue_push (dialog->updates, json_null ());
}

static void
end_threads (struct dialog *dialog)
{
  dialog_close (dialog);
  if (dialog->thread)
    g_thread_join (dialog->thread);
  if (dialog->typing)
    g_thread_join (dialog->typing);
}

void
dialog_free (struct dialog *dialog)
{
  end_threads (dialog);
  agent_free (dialog->agent);
  toolbox_free (dialog->toolbox);
  model_free (dialog->model);
  call_backend_free (dialog->backend);
  bot_api_free (dialog->line.api);
  fd_close (&dialog->place_fd);
  g_async_queue_unref (dialog->updates);
  g_queue_clear_full (&dialog->presses, (GDestroyNotify)json_decref);
  python_session_clear (&dialog->session);
  g_string_free (dialog->files, TRUE);
  g_string_free (dialog->steps, TRUE);
  g_free (dialog->conversation);
  g_free (dialog->place);
  g_mutex_clear (&dialog->lock);
  g_cond_clear (&dialog->changed);
  g_free (dialog);
}

void
dialog_take (struct dialog *dialog, const json_t *update)
{
  gboolean is_press = json_is_object (json_object_get (update, "callback_query"));
  json_t *own = json_deep_copy (update);
  g_mutex_lock (&dialog->lock);
  if (is_press && dialog->question) {
    g_queue_push_tail (&dialog->presses, own);
    g_cond_broadcast (&dialog->changed);
  } else {
    dialog->taken++;
    g_async_queue_push (dialog->updates, own);
  }
  g_mutex_unlock (&dialog->lock);
}

void
dialog_stop (struct dialog *dialog)
{
  g_mutex_lock (&dialog->lock);
  gboolean working = dialog->working, asking = dialog->asking;
  dialog->stopped_until = dialog->taken;
  dialog->stopped = TRUE;
  g_cond_broadcast (&dialog->changed);
  g_mutex_unlock (&dialog->lock);
  if (asking)
    agent_cancel (dialog->agent);
  else if (working)
    call_backend_cancel (dialog->backend);
}
