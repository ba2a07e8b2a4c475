/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about what is kept, on the local socket or by a command line that has an engine of its own.
 * STORE is an object with the member "op", what that op needs, and "owner": whose things are meant. Without
 * it they are those of who asks; "all" is everybody's. The local user is an admin of his own daemon. ANSWER
 * is what the library's function gives, or an object without members.
 *
 * Each server_store_NAME.c has a table of ops; server_store.c has the list of tables. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "frontends/protocol.h"

/* A question that was found to be right. */
struct store_call {
  AdderEngine *engine;
  const char *caller; /* who asks */
  const char *owner;  /* whose things: NULL is everybody's */
  int watch_fd;       /* the peer's socket; -1: none */
  const json_t *question;
  int *fds; /* the question's, which an answer may take */
  gsize fd_count;
  int *ret_fd; /* what an answer puts here goes along with it */
};

/* Members of the question, NULL or 0 where they are left out. */
const char *store_call_text (const struct store_call *call, const char *name);
gint64 store_call_number (const struct store_call *call, const char *name);
gboolean store_call_is_set (const struct store_call *call, const char *name);

struct store_op {
  const char *op;
  struct store_field {
    const char *name;
    enum store_field_type { STORE_TEXT, STORE_NUMBER, STORE_FLAG, STORE_OBJECT, STORE_ARRAY } type;
    gboolean needed;
  } fields[8]; /* beside "op" and "owner"; numbers are not below 0 */
  gsize fds_most;
  /* Text that is the caller's, or NULL with ERROR. */
  char *(*answer) (const struct store_call *call, GError **error);
};

/* Answers QUESTION of CALLER with FDS: a text, the caller's, or NULL with ERROR, which is for who asks.
 * *RET_FD: a descriptor that belongs to the answer, the caller's, or -1. */
char *server_store_ask (AdderEngine *engine, const char *caller, int watch_fd, const json_t *question,
                        int *fds, gsize fd_count, int *ret_fd, GError **error);

/* The same for MESSAGE of the local socket. */
char *server_store_answer (AdderEngine *engine, const char *caller, int watch_fd,
                           struct protocol_message *message, int *ret_fd, GError **error);
