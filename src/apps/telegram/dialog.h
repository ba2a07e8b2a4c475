/* SPDX-License-Identifier: Apache-2.0 */
/* One chat: its updates in order, in a thread of its own, as one conversation. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "apps/agent/agent.h"
#include "apps/chat/python_session.h"
#include "apps/telegram/inbox.h"
#include "apps/telegram/send.h"
#include "common/config.h"
#include "common/guarded.h"

#define DIALOG_CONVERSATION "telegram-" /* before the chat's number */

/* What all chats share; all of it outlives them. */
struct dialog_world {
  const struct config *config;
  const struct bot_api_settings *api;
  const struct toolset *toolset;
  const char *model;    /* NULL: that of models.conf, if there is one */
  const char *name;     /* of the bot, without "@" */
  const char *pictures; /* a directory: pictures are there while they are sent */
  struct inbox *inbox;
};

LOCK_CLASS (dialog);

struct dialog {
  const struct dialog_world *world;
  struct chat_line line;
  GAsyncQueue *updates; /* json_t; one that is no object ends the thread */
  GThread *thread, *typing;
  struct call_backend *backend;
  struct model *model; /* NULL: there is none */
  struct agent *agent; /* the same */
  struct toolbox *toolbox;
  struct python_session session;
  char *conversation, *place;
  int place_fd;
  GString *files; /* what a model must be told of files that were sent; "" where it was */
  GString *steps; /* of the answer under way, as they are shown */
  gint64 steps_message, edited_us;
  gint64 user; /* who asked for what is under way */

  gboolean was_stopped; /* something was cut, since that was last told */
  gboolean was_cut;     /* what is worked on did not come to its end */

  MUTEX (dialog) lock;
  GCond changed;
  GUARDED_BY (dialog)
  guint64 taken, begun, stopped_until; /* updates, counted: those up to the last are to be stopped */
  GUARDED_BY (dialog) gboolean working, asking, stopped, closing;
  GUARDED_BY (dialog) char *question; /* of the approval that is waited for; NULL: none is */
  GUARDED_BY (dialog) GQueue presses; /* json_t: updates with presses of buttons, while one is waited for */
};

/* The chat CHAT, whose thread waits for updates. NULL with ERROR. */
struct dialog *dialog_new (const struct dialog_world *world, gint64 chat, GError **error);
/* From any thread. No further update is begun; what is under way is stopped, and told about at the next
 * start.
 */
void dialog_close (struct dialog *dialog);
/* Closes it and waits for its threads. */
void dialog_free (struct dialog *dialog);

/* From any thread. UPDATE is worked on after those before it; a press of a button at once, where one is
 * waited for. */
void dialog_take (struct dialog *dialog, const json_t *update);
/* Whether MESSAGE is "/stop", for the bot called NAME. */
gboolean dialog_is_stop (const json_t *message, const char *name);
/* Ends all that was taken until now, whether work on it began or not. */
void dialog_stop (struct dialog *dialog);

/* [{"command", "description"}], as setMyCommands wants them. The caller's. */
json_t *dialog_commands (void);

/* ---- for its own files ---- */

/* Says TEXT in the chat. */
void dialog_say (struct dialog *dialog, const char *text);

/* Calls the tool NAME with ARGUMENTS, which are taken, and sends what it replies. */
void dialog_call (struct dialog *dialog, const char *name, json_t *arguments);
/* Calls it; the reply's text, the caller's; NULL with ERROR where it is an error. */
char *dialog_ask (struct dialog *dialog, const char *name, json_t *arguments, GError **error);

/* Answers the press of a button in UPDATE that nobody waits for. */
void dialog_refuse_press (struct dialog *dialog, const json_t *update);

/* Seeks a decision about the approval ID of the user who asked; fits struct toolbox_settings. */
enum approval_end dialog_approve (gpointer data, const char *id, GError **error);

/* A document or picture of MESSAGE goes into the conversation's workspace. FALSE: there is none in it. */
gboolean dialog_take_file (struct dialog *dialog, const json_t *message);
/* Lists the conversation's files. */
void dialog_list_files (struct dialog *dialog);
/* Sends the file NAME of them. */
void dialog_send_file (struct dialog *dialog, const char *name);
/* Whether TEXT is what dialog_list_files says. */
gboolean dialog_is_file_list (const char *text);

/* Carries out LINE, "python new". */
void dialog_carry_out (struct dialog *dialog, const char *line);
