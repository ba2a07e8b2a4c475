/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between nodes: between cluster.c, which knows what they mean, and the module adder-nats, which
 * knows libnats. The library would cost every start of Adder milliseconds, so it is loaded where [cluster]
 * names a server. */
#pragma once

#include <glib.h>

/* The symbol of the module: a struct bus_binding. */
#define BUS_MODULE "adder-nats"
#define BUS_SYMBOL "adder_nats_bus"

/* How its errors begin. */
#define BUS_PROBLEM "NATS: "

struct bus;
struct bus_subscription;

/* Its texts must outlive the bus. */
struct bus_options {
  const char *servers;             /* URLs, separated by single blanks */
  const char *credentials;         /* a file as `nsc` makes it; NULL: what the URL says */
  const char *ca;                  /* PEM; NULL: the system's authorities, for tls:// */
  const char *certificate, *key;   /* PEM, of the client; both or neither NULL */
  const char *name;                /* shown by the server among its connections */
  void (*changed) (gpointer data); /* the connection came or went; in a thread of the library */
  gpointer data;
};

/* A message; valid within the call. */
struct bus_message {
  const char *subject;
  const char *reply; /* NULL: no answer is expected */
  const char *data;
  gsize length;
  gboolean nobody; /* in place of a reply: nobody receives what was asked */
};
typedef void (*bus_handler) (gpointer data, const struct bus_message *message);

enum bus_put { BUS_PUT, BUS_TAKEN, BUS_FAILED };

/* A queue in JetStream, on the servers' disks. A message stays until a puller has finished it. */
struct bus_queue {
  const char *name, *subjects; /* a pattern of the subjects of all messages in it */
  const char *subject;         /* of the messages that are put and pulled here */
  const char *pullers;         /* the consumer that their pullers share */
  guint64 bytes, age_ms;       /* the most that it holds, and for how long */
  guint64 silent_ms;           /* a message is delivered again when its puller was silent for this long */
};

struct bus_puller;
struct bus_pulled {
  const char *data;
  gsize length;
};

struct bus_binding {
  /* The library's version, for the log. */
  const char *(*version) (void);

  /* Connects in the background, again and again. NULL with ERROR: the options are wrong. */
  struct bus *(*open) (const struct bus_options *options, GError **error);
  gboolean (*is_connected) (struct bus *bus);
  /* The library gives up: the servers refused the login twice in the same way. */
  gboolean (*is_over) (struct bus *bus);
  /* Then: connects anew, with all subscriptions. Beside functions of buckets in the same thread alone. */
  gboolean (*open_again) (struct bus *bus, GError **error);
  /* What went wrong last, of the connection; the caller's. */
  char *(*last_problem) (struct bus *bus);
  /* Handlers may go on until it returns; what was published is sent first, for at most a second. */
  void (*close) (struct bus *bus);

  /* REPLY may be NULL. Does not wait: while the connection is away, up to a megabyte is held. */
  gboolean (*publish) (struct bus *bus, const char *subject, const char *reply, const char *data,
                       gsize length, GError **error);
  /* HANDLER is called in a thread of the library, one message after the other. QUEUE: only one of all that
   * name it gets a message; NULL: each does. MOST: so many messages, and the server knows of a receiver until
   * it has sent them; 0: all. */
  struct bus_subscription *(*subscribe) (struct bus *bus, const char *subject, const char *queue, guint most,
                                         bus_handler handler, gpointer data, GError **error);
  void (*unsubscribe) (struct bus_subscription *subscription);

  /* A bucket of keys in JetStream that expire after TTL_MS unless they are put again, in the servers' memory;
   * nothing happens if it is there. The functions of buckets wait for the server, some seconds at most. */
  gboolean (*keep_bucket) (struct bus *bus, const char *bucket, guint64 ttl_ms, GError **error);
  /* Puts KEY if it is not there. Otherwise BUS_TAKEN with its value, the caller's. */
  enum bus_put (*put_new) (struct bus *bus, const char *bucket, const char *key, const char *data,
                           char **ret_value, GError **error);
  void (*remove) (struct bus *bus, const char *bucket, const char *key);

  /* Makes QUEUE, or sets its bounds. The functions of queues wait for the server as those of buckets. */
  gboolean (*keep_queue) (struct bus *bus, const struct bus_queue *queue, GError **error);
  /* TRUE once it is stored. The message with an ID is stored once. ADDER_ERROR_BUSY: the queue is full. */
  gboolean (*put_queued) (struct bus *bus, const struct bus_queue *queue, const char *id, const char *data,
                          gsize length, GError **error);
  struct bus_puller *(*open_puller) (struct bus *bus, const struct bus_queue *queue, GError **error);
  /* The next message, or NULL after MS without one. FALSE with ERROR: close PULLER. */
  gboolean (*pull) (struct bus_puller *puller, guint64 ms, struct bus_pulled **ret_pulled, GError **error);
  void (*close_puller) (struct bus_puller *puller); /* pulled messages stay in the queue */
  /* Says that PULLED is still being worked on. */
  void (*say_busy) (struct bus_pulled *pulled);
  /* Removes PULLED from the queue, or has it delivered again after MS. Frees it. */
  void (*say_done) (struct bus_pulled *pulled);
  void (*say_again) (struct bus_pulled *pulled, guint64 ms);
};
