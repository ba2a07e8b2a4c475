/* SPDX-License-Identifier: Apache-2.0 */
/* A zygote: starting its program, speaking its control protocol (runner/wire.h), ending it. Only the one
 * thread of its pool calls these functions, and only zygote_start and zygote_free block. */
#pragma once

#include <glib.h>

#include "engine/host/environment.h"
#include "engine/host/host.h"
#include "engine/pool/sandbox.h"

enum zygote_state {
  ZYGOTE_STARTING,
  ZYGOTE_SERVING,
  ZYGOTE_ENDED, /* it hung up, refused to start or broke the protocol */
};

struct zygote {
  enum zygote_state state;
  enum isolation isolation;
  enum network network; /* FULL: its sandboxes have the host's */
  gboolean bare;        /* it has no modules preloaded, though its environment names some */
  char *environment;
  int control_fd, message_fd; /* message_fd is -1 once nothing more can come */
  int process_fd;             /* its pidfd, or -1 until it is LAUNCHED */
  int launcher_fd;            /* pidfd, to be waited for, or -1 */
  gint64 started_us;
  struct zygote_info *info; /* when it serves */
  GString *messages;        /* the last part of its standard error */
  struct sandbox *spawning; /* SPAWN was sent, the answer is pending */
  gint64 answer_us;         /* until then */
  gint64 patience_us;       /* and at most this long */
  guint64 runs;             /* sandboxes spawned */
  guint64 own_bytes[2];     /* private memory of a parked sandbox; without and with pages faulted in ahead */
  guint sandboxes;          /* of them, those that still exist */
  int folder_fd;            /* keeps its environment from being removed; -1: nobody could remove it */
  GQueue crashes;           /* when sandboxes crashed: gint64 microseconds, oldest first */

  /* In a container, which serves once. */
  struct container_facts *container;
  char *order;            /* struct container_order, as passed to its launcher */
  gboolean removing;      /* the launcher was killed: launcher_fd is the process that removes its container */
  struct sandbox *single; /* made for it; valid until SPAWN is sent */
  int spawn[WIRE_SPAWN_FDS]; /* its descriptors */
  int bind_fd;               /* its directory; -1: none */
};

/* Starts the zygote of ENVIRONMENT, or a BARE one, for sandboxes of ISOLATION, for which HOST was prepared.
 * NETWORK is FULL for the host's network, else NONE. The thread that started it must end it, because it dies
 * with that thread. */
struct zygote *zygote_start (const struct host *host, const struct environment *environment,
                             enum isolation isolation, enum network network, gboolean bare, GError **error);

/* The same in a container made to ORDER, for SANDBOX alone; SPAWN, which came with it, is the zygote's. */
struct zygote *zygote_start_contained (const struct host *host, const struct container_order *order,
                                       struct sandbox *sandbox, int spawn[WIRE_SPAWN_FDS], GError **error);

enum zygote_event {
  ZYGOTE_EVENT_NONE,
  ZYGOTE_EVENT_SERVING,
  ZYGOTE_EVENT_SPAWNED, /* *RET_SANDBOX has its processes now */
  ZYGOTE_EVENT_REFUSED, /* *RET_SANDBOX could not be made; ERROR says why; the zygote serves on */
  ZYGOTE_EVENT_ENDED,   /* ERROR says why; *RET_SANDBOX is the one that was being made, or NULL */
};

/* Call when control_fd is readable. A returned sandbox is the caller's. */
enum zygote_event zygote_read (struct zygote *zygote, struct sandbox **ret_sandbox, GError **error);

/* Call when message_fd is readable. */
void zygote_read_messages (struct zygote *zygote);

/* Requests a sandbox; SANDBOX and SPAWN come from sandbox_new, and SPAWN (-1 for absent entries) is closed in
 * any case. FALSE: the zygote is gone. */
gboolean zygote_spawn (struct zygote *zygote, struct sandbox *sandbox, int spawn[WIRE_SPAWN_FDS],
                       uint32_t flags, GError **error);

/* Kills it, with all its sandboxes. Its end is read from its control socket, as usual. */
void zygote_kill (struct zygote *zygote);

/* Ends one in a container, and makes its launcher remove that; nothing more comes from it. */
void zygote_discard (struct zygote *zygote);

/* Whether the launcher has finished that; until then wait for launcher_fd. A killed launcher is replaced. */
gboolean zygote_has_left (struct zygote *zygote, const struct host *host);

/* Notes a crash. zygote->crashes are those of the last hour, at most MOST. */
void zygote_note_crash (struct zygote *zygote, guint64 most);

/* Ends it with all its sandboxes, waits for it, and frees it. NULL is allowed. */
void zygote_free (struct zygote *zygote);
