/* SPDX-License-Identifier: Apache-2.0 */
/* A chat: lines of a person go to an agent or to a command, and what comes of it is shown. */
#pragma once

#include "apps/agent/view.h"
#include "apps/agent/work.h"
#include "apps/chat/python_session.h"
#include "apps/chat/transcript.h"
#include "apps/lines/lines.h"

struct chat {
  struct agent_work work;
  struct event_source ending; /* what signals do to an answer */
  struct event_source typing; /* and while somebody types */
  struct event_source acting; /* and while a command calls a tool */
  struct lines *lines;
  struct agent_view view;
  struct python_session session;
  struct chat_transcript transcript;
  GPtrArray *models; /* that answered before: the recording of one may go on */
  json_t *pictures;  /* paths, of the answer under way */
  guint64 turns;
  gboolean leaving;
  int code; /* that the program ends with */
};

/* What WORK's options say is open; until the person leaves. The exit code. */
int chat_go_on (struct chat *chat);

/* Calls the tool NAME as the person. The reply's text is the caller's; NULL with ERROR where the reply is
 * one. */
char *chat_call (struct chat *chat, const char *name, GError **error);

/* Looks whether there is a session, and what it has. */
void chat_look_at_session (struct chat *chat);

/* The model NAME answers from now on. */
gboolean chat_use_model (struct chat *chat, const char *name, GError **error);
