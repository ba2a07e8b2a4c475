/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-nats: the only user of libnats. It asks for nothing that 3.4, which Debian 12 has, lacks.
 */
#include <nats/nats.h>
#include <string.h>

#include "adder_types.h"
#include "cluster/bus.h"

#define RECONNECT_MS 200
#define HELD_BYTES   (1 << 20)
#define DELIVERERS   4 /* threads that call handlers */
#define FLUSH_MS     1000
#define SILENT_PINGS 2 /* a server that answers none of these, a second apart, is gone */
#define PING_MS      1000
#define SERVERS_MAX  64

struct bus {
  struct bus_options options;
  GRWLock swap; /* of the connection, and of the list of subscriptions */
  natsConnection *connection;
  jsCtx *jetstream;
  GPtrArray *subscriptions; /* of struct bus_subscription */
  GMutex lock;
  GCond ended;
  guint open; /* connections of which the library may still call `changed` */
};

struct bus_subscription {
  struct bus *bus;
  natsSubscription *subscription;
  char *subject, *queue;
  guint most;
  gint received; /* atomic */
  bus_handler handler;
  gpointer data;
  GMutex lock;
  GCond changed;
  gboolean complete; /* no message is being delivered any more */
};

static gboolean
bus_fail (natsStatus status, const char *what, GError **error)
{
  int code = status == NATS_INVALID_ARG ? ADDER_ERROR_INVALID : ADDER_ERROR_UNAVAILABLE;
  g_set_error (error, ADDER_ERROR, code, BUS_PROBLEM "%s: %s", what, natsStatus_GetText (status));
  return FALSE;
}

static const char *
bus_version (void)
{
  return nats_GetVersion ();
}

/* ---- the connection ---- */

static void
bus_changed (natsConnection *connection, void *data)
{
  (void)connection;
  struct bus *bus = data;
  bus->options.changed (bus->options.data);
}

/* The last that the library says of a connection. */
static void
bus_closed (natsConnection *connection, void *data)
{
  (void)connection;
  struct bus *bus = data;
  g_mutex_lock (&bus->lock);
  bus->open--;
  g_cond_signal (&bus->ended);
  g_mutex_unlock (&bus->lock);
}

static natsStatus
bus_set_servers (natsOptions *options, const char *servers)
{
  g_auto (GStrv) list = g_strsplit (servers, " ", SERVERS_MAX);
  return natsOptions_SetServers (options, (const char **)list, (int)g_strv_length (list));
}

static natsStatus
bus_set_tls (natsOptions *options, const struct bus_options *asked)
{
  natsStatus status = NATS_OK;
  if (asked->ca)
    status = natsOptions_LoadCATrustedCertificates (options, asked->ca);
  if (status == NATS_OK && asked->certificate)
    status = natsOptions_LoadCertificatesChain (options, asked->certificate, asked->key);
  if (status == NATS_OK && (asked->ca || asked->certificate))
    status = natsOptions_SetSecure (options, true);
  return status;
}

static natsStatus
bus_set_connection (natsOptions *options, struct bus *bus)
{
  const struct {
    natsStatus (*set) (natsOptions *options, natsConnectionHandler handler, void *data);
  } told[] = {{natsOptions_SetDisconnectedCB}, {natsOptions_SetReconnectedCB}};
  natsStatus status = natsOptions_SetRetryOnFailedConnect (options, true, bus_changed, bus);
  for (gsize i = 0; status == NATS_OK && i < G_N_ELEMENTS (told); i++)
    status = told[i].set (options, bus_changed, bus);
  if (status == NATS_OK)
    status = natsOptions_SetClosedCB (options, bus_closed, bus);
  if (status == NATS_OK)
    status = natsOptions_SetMaxReconnect (options, -1);
  if (status == NATS_OK)
    status = natsOptions_SetReconnectWait (options, RECONNECT_MS);
  if (status == NATS_OK)
    status = natsOptions_SetReconnectBufSize (options, HELD_BYTES);
  if (status == NATS_OK)
    status = natsOptions_SetPingInterval (options, PING_MS);
  if (status == NATS_OK)
    status = natsOptions_SetMaxPingsOut (options, SILENT_PINGS);
  /* Without it, who publishes would wait for a server that takes nothing, as long as TCP does. */
  if (status == NATS_OK)
    status = natsOptions_SetWriteDeadline (options, 2 * PING_MS);
  if (status == NATS_OK)
    status = natsOptions_SetSendAsap (options, true);
  if (status == NATS_OK)
    status = natsOptions_UseGlobalMessageDelivery (options, true);
  return status;
}

static natsStatus
bus_connect (struct bus *bus, natsConnection **ret_connection)
{
  const struct bus_options *asked = &bus->options;
  natsConnection *connection = NULL;
  natsOptions *options = NULL;
  natsStatus status = nats_Open (-1);
  if (status == NATS_OK)
    status = nats_SetMessageDeliveryPoolSize (DELIVERERS);
  if (status == NATS_OK)
    status = natsOptions_Create (&options);
  if (status == NATS_OK)
    status = bus_set_servers (options, asked->servers);
  if (status == NATS_OK)
    status = natsOptions_SetName (options, asked->name);
  if (status == NATS_OK && asked->credentials)
    status = natsOptions_SetUserCredentialsFromFiles (options, asked->credentials, NULL);
  if (status == NATS_OK)
    status = bus_set_tls (options, asked);
  if (status == NATS_OK)
    status = bus_set_connection (options, bus);
  g_mutex_lock (&bus->lock);
  bus->open++;
  g_mutex_unlock (&bus->lock);
  if (status == NATS_OK)
    status = natsConnection_Connect (&connection, options);
  natsOptions_Destroy (options);
  if (!connection)
    bus_closed (NULL, bus);
  *ret_connection = connection;
  return status == NATS_NOT_YET_CONNECTED ? NATS_OK : status;
}

static void
bus_close (struct bus *bus)
{
  if (bus->connection) {
    (void)natsConnection_FlushTimeout (bus->connection, FLUSH_MS);
    natsConnection_Close (bus->connection);
    g_mutex_lock (&bus->lock);
    while (bus->open > 0)
      g_cond_wait (&bus->ended, &bus->lock);
    g_mutex_unlock (&bus->lock);
  }
  jsCtx_Destroy (bus->jetstream);
  natsConnection_Destroy (bus->connection);
  g_ptr_array_unref (bus->subscriptions);
  g_rw_lock_clear (&bus->swap);
  g_mutex_clear (&bus->lock);
  g_cond_clear (&bus->ended);
  g_free (bus);
}

static struct bus *
bus_open (const struct bus_options *options, GError **error)
{
  struct bus *bus = g_new0 (struct bus, 1);
  bus->options = *options;
  bus->subscriptions = g_ptr_array_new ();
  g_rw_lock_init (&bus->swap);
  g_mutex_init (&bus->lock);
  g_cond_init (&bus->ended);
  natsStatus status = bus_connect (bus, &bus->connection);
  if (status == NATS_OK)
    status = natsConnection_JetStream (&bus->jetstream, bus->connection, NULL);
  if (status == NATS_OK)
    return bus;
  bus_fail (status, "[cluster] of adder.conf", error);
  bus_close (bus);
  return NULL;
}

static natsConnStatus
bus_status (struct bus *bus)
{
  g_rw_lock_reader_lock (&bus->swap);
  natsConnStatus status = natsConnection_Status (bus->connection);
  g_rw_lock_reader_unlock (&bus->swap);
  return status;
}

static gboolean
bus_is_connected (struct bus *bus)
{
  return bus_status (bus) == NATS_CONN_STATUS_CONNECTED;
}

static gboolean
bus_is_over (struct bus *bus)
{
  return bus_status (bus) == NATS_CONN_STATUS_CLOSED;
}

static char *
bus_last_problem (struct bus *bus)
{
  const char *text = NULL;
  g_rw_lock_reader_lock (&bus->swap);
  natsStatus status = natsConnection_GetLastError (bus->connection, &text);
  char *problem = g_strdup (text && *text       ? text
                            : status == NATS_OK ? "the connection broke"
                                                : natsStatus_GetText (status));
  g_rw_lock_reader_unlock (&bus->swap);
  return problem;
}

/* ---- messages ---- */

static gboolean
bus_publish (struct bus *bus, const char *subject, const char *reply, const char *data, gsize length,
             GError **error)
{
  g_rw_lock_reader_lock (&bus->swap);
  natsStatus status = reply
                          ? natsConnection_PublishRequest (bus->connection, subject, reply, data, (int)length)
                          : natsConnection_Publish (bus->connection, subject, data, (int)length);
  g_rw_lock_reader_unlock (&bus->swap);
  return status == NATS_OK || bus_fail (status, "a message cannot be sent", error);
}

static void
bus_deliver (natsConnection *connection, natsSubscription *from, natsMsg *message, void *data)
{
  (void)connection;
  (void)from;
  struct bus_subscription *subscription = data;
  g_atomic_int_inc (&subscription->received);
  const struct bus_message given = {natsMsg_GetSubject (message), natsMsg_GetReply (message),
                                    natsMsg_GetData (message), (gsize)natsMsg_GetDataLength (message),
                                    natsMsg_IsNoResponders (message)};
  subscription->handler (subscription->data, &given);
  natsMsg_Destroy (message);
}

/* With the connection as it is; the lock is held for writing. */
static natsStatus
bus_subscription_begin (struct bus_subscription *made)
{
  natsConnection *connection = made->bus->connection;
  guint received = (guint)g_atomic_int_get (&made->received);
  natsStatus status =
      made->queue
          ? natsConnection_QueueSubscribe (&made->subscription, connection, made->subject, made->queue,
                                           bus_deliver, made)
          : natsConnection_Subscribe (&made->subscription, connection, made->subject, bus_deliver, made);
  if (status == NATS_OK && made->most > received)
    status = natsSubscription_AutoUnsubscribe (made->subscription, (int)(made->most - received));
  return status;
}

static void
bus_subscription_free (struct bus_subscription *subscription)
{
  natsSubscription_Destroy (subscription->subscription);
  g_mutex_clear (&subscription->lock);
  g_cond_clear (&subscription->changed);
  g_free (subscription->subject);
  g_free (subscription->queue);
  g_free (subscription);
}

static struct bus_subscription *
bus_subscribe (struct bus *bus, const char *subject, const char *queue, guint most, bus_handler handler,
               gpointer data, GError **error)
{
  struct bus_subscription *made = g_new0 (struct bus_subscription, 1);
  g_mutex_init (&made->lock);
  g_cond_init (&made->changed);
  made->bus = bus;
  made->subject = g_strdup (subject);
  made->queue = g_strdup (queue);
  made->most = most;
  made->handler = handler;
  made->data = data;
  g_rw_lock_writer_lock (&bus->swap);
  natsStatus status = bus_subscription_begin (made);
  if (status == NATS_CONNECTION_CLOSED) /* until it is opened again */
    status = NATS_OK;
  if (status == NATS_OK)
    g_ptr_array_add (bus->subscriptions, made);
  g_rw_lock_writer_unlock (&bus->swap);
  if (status == NATS_OK)
    return made;
  bus_fail (status, subject, error);
  bus_subscription_free (made);
  return NULL;
}

static void
bus_complete (void *data)
{
  struct bus_subscription *subscription = data;
  g_mutex_lock (&subscription->lock);
  subscription->complete = TRUE;
  g_cond_signal (&subscription->changed);
  g_mutex_unlock (&subscription->lock);
}

static void
bus_unsubscribe (struct bus_subscription *subscription)
{
  struct bus *bus = subscription->bus;
  g_rw_lock_writer_lock (&bus->swap);
  g_ptr_array_remove_fast (bus->subscriptions, subscription);
  g_rw_lock_writer_unlock (&bus->swap);
  if (natsSubscription_SetOnCompleteCB (subscription->subscription, bus_complete, subscription) != NATS_OK)
    subscription->complete = TRUE; /* it has ended with its connection */
  (void)natsSubscription_Unsubscribe (subscription->subscription);
  g_mutex_lock (&subscription->lock);
  while (!subscription->complete)
    g_cond_wait (&subscription->changed, &subscription->lock);
  g_mutex_unlock (&subscription->lock);
  bus_subscription_free (subscription);
}

static gboolean
bus_open_again (struct bus *bus, GError **error)
{
  natsConnection *connection = NULL, *before = bus->connection;
  jsCtx *jetstream = NULL;
  natsStatus status = bus_connect (bus, &connection);
  if (status == NATS_OK)
    status = natsConnection_JetStream (&jetstream, connection, NULL);
  if (status != NATS_OK) {
    natsConnection_Destroy (connection);
    return bus_fail (status, "the connection", error);
  }
  g_rw_lock_writer_lock (&bus->swap);
  bus->connection = connection;
  jsCtx_Destroy (bus->jetstream);
  bus->jetstream = jetstream;
  for (guint i = 0; i < bus->subscriptions->len; i++) {
    struct bus_subscription *subscription = bus->subscriptions->pdata[i];
    natsSubscription *ended = subscription->subscription;
    if (subscription->most > 0 && (guint)g_atomic_int_get (&subscription->received) >= subscription->most)
      continue;
    subscription->subscription = NULL;
    status = MAX (status, bus_subscription_begin (subscription));
    natsSubscription_Destroy (ended);
  }
  g_rw_lock_writer_unlock (&bus->swap);
  natsConnection_Destroy (before);
  return status == NATS_OK || bus_fail (status, "a subscription", error);
}

/* ---- buckets ---- */

static gboolean
bus_keep_bucket (struct bus *bus, const char *bucket, guint64 ttl_ms, GError **error)
{
  kvConfig config;
  kvStore *store = NULL;
  natsStatus status = kvConfig_Init (&config);
  config.Bucket = bucket;
  config.TTL = (int64_t)(ttl_ms * 1000 * 1000);
  config.StorageType = js_MemoryStorage;
  config.History = 1;
  if (status == NATS_OK)
    status = js_CreateKeyValue (&store, bus->jetstream, &config);
  kvStore_Destroy (store);
  return status == NATS_OK || bus_fail (status, "JetStream cannot keep the nodes", error);
}

static enum bus_put
bus_put_new (struct bus *bus, const char *bucket, const char *key, const char *data, char **ret_value,
             GError **error)
{
  kvStore *store = NULL;
  kvEntry *there = NULL;
  enum bus_put put = BUS_FAILED;
  natsStatus status = js_KeyValue (&store, bus->jetstream, bucket);
  if (status == NATS_OK)
    status = kvStore_CreateString (NULL, store, key, data);
  if (status == NATS_OK)
    put = BUS_PUT;
  else if (store && kvStore_Get (&there, store, key) == NATS_OK) {
    put = BUS_TAKEN;
    *ret_value = g_strndup (kvEntry_Value (there), (gsize)kvEntry_ValueLen (there));
  } else
    bus_fail (status, "JetStream cannot keep a node", error);
  kvEntry_Destroy (there);
  kvStore_Destroy (store);
  return put;
}

static void
bus_remove (struct bus *bus, const char *bucket, const char *key)
{
  kvStore *store = NULL;
  if (js_KeyValue (&store, bus->jetstream, bucket) == NATS_OK)
    (void)kvStore_Delete (store, key);
  kvStore_Destroy (store);
}

/* ---- queues ---- */

#define QUEUE_UNDER_WAY  65536 /* messages, at once */
#define NS_OF_MS         (1000 * 1000)
#define PUT_TWICE_WITHIN (2 * G_GINT64_CONSTANT (60) * 1000 * NS_OF_MS)

/* A message is acknowledged through its subscription, which must live as long. */
struct bus_puller {
  gatomicrefcount references;
  natsSubscription *subscription;
};

struct pulled {
  struct bus_pulled shown; /* the first member */
  struct bus_puller *puller;
  natsMsg *message;
};

/* The errors of JetStream that have a text of their own. */
static gboolean
bus_queue_fail (natsStatus status, jsErrCode code, const char *what, GError **error)
{
  static const struct {
    jsErrCode code;
    int error;
    const char *text;
  } reasons[] = {
      {JSNotEnabledErr, ADDER_ERROR_UNAVAILABLE, "JetStream is not enabled on the NATS server"},
      {JSNotEnabledForAccountErr, ADDER_ERROR_UNAVAILABLE, "JetStream is not enabled for this account"},
      {JSStreamStoreFailedErr, ADDER_ERROR_BUSY,
       "the queue of background runs is full ([cluster] queue_bytes): try again later"},
      {JSStorageResourcesExceededErr, ADDER_ERROR_UNAVAILABLE,
       "the NATS server has less disk space for JetStream than [cluster] queue_bytes"},
      {JSMaximumStreamsLimitErr, ADDER_ERROR_UNAVAILABLE,
       "this account may not have another stream in JetStream"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (reasons); i++)
    if (code != 0 && reasons[i].code == code) {
      g_set_error (error, ADDER_ERROR, reasons[i].error, BUS_PROBLEM "%s: %s", what, reasons[i].text);
      return FALSE;
    }
  const char *said = code != 0 ? nats_GetLastError (NULL) : natsStatus_GetText (status);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE, BUS_PROBLEM "%s: %s", what,
               said && *said ? said : natsStatus_GetText (status));
  return FALSE;
}

/* One of the caller's own, since bus_open_again may take the bus's away meanwhile; it keeps the connection.
 */
static natsStatus
bus_queue_begin (struct bus *bus, jsCtx **ret_jetstream)
{
  g_rw_lock_reader_lock (&bus->swap);
  natsStatus status = natsConnection_JetStream (ret_jetstream, bus->connection, NULL);
  g_rw_lock_reader_unlock (&bus->swap);
  return status;
}

static gboolean
bus_keep_queue (struct bus *bus, const struct bus_queue *queue, GError **error)
{
  jsStreamConfig config;
  jsErrCode code = 0;
  jsCtx *jetstream = NULL;
  natsStatus status = jsStreamConfig_Init (&config);
  config.Name = queue->name;
  config.Subjects = (const char **)&queue->subjects;
  config.SubjectsLen = 1;
  config.Retention = js_WorkQueuePolicy;
  config.Discard = js_DiscardNew;
  config.Storage = js_FileStorage;
  config.MaxBytes = (int64_t)queue->bytes;
  config.MaxAge = (int64_t)queue->age_ms * NS_OF_MS;
  config.Duplicates = MIN (PUT_TWICE_WITHIN, config.MaxAge);
  if (status == NATS_OK)
    status = bus_queue_begin (bus, &jetstream);
  if (status == NATS_OK)
    status = js_AddStream (NULL, jetstream, &config, NULL, &code);
  if (code == JSStreamNameExistErr) {
    code = 0;
    status = js_UpdateStream (NULL, jetstream, &config, NULL, &code);
  }
  jsCtx_Destroy (jetstream);
  return status == NATS_OK || bus_queue_fail (status, code, "JetStream cannot keep the queue of runs", error);
}

static gboolean
bus_put_queued (struct bus *bus, const struct bus_queue *queue, const char *id, const char *data,
                gsize length, GError **error)
{
  jsPubOptions options;
  jsErrCode code = 0;
  jsCtx *jetstream = NULL;
  natsStatus status = jsPubOptions_Init (&options);
  options.MsgId = id;
  options.ExpectStream = queue->name;
  if (status == NATS_OK)
    status = bus_queue_begin (bus, &jetstream);
  if (status == NATS_OK)
    status = js_Publish (NULL, jetstream, queue->subject, data, (int)length, &options, &code);
  jsCtx_Destroy (jetstream);
  return status == NATS_OK || bus_queue_fail (status, code, "the run cannot be queued", error);
}

static struct bus_puller *
bus_open_puller (struct bus *bus, const struct bus_queue *queue, GError **error)
{
  jsSubOptions options;
  jsConsumerConfig config;
  jsErrCode code = 0;
  jsCtx *jetstream = NULL;
  struct bus_puller *puller = g_new0 (struct bus_puller, 1);
  g_atomic_ref_count_init (&puller->references);
  natsStatus status = jsConsumerConfig_Init (&config);
  config.Durable = queue->pullers;
  config.FilterSubject = queue->subject;
  config.AckPolicy = js_AckExplicit;
  config.AckWait = (int64_t)queue->silent_ms * NS_OF_MS;
  config.MaxAckPending = QUEUE_UNDER_WAY;
  /* The library removes those that it makes by itself. */
  if (status == NATS_OK)
    status = bus_queue_begin (bus, &jetstream);
  if (status == NATS_OK)
    status = js_AddConsumer (NULL, jetstream, queue->name, &config, NULL, &code);
  if (status == NATS_OK)
    status = jsSubOptions_Init (&options);
  options.Stream = queue->name;
  options.Consumer = queue->pullers;
  if (status == NATS_OK)
    status = js_PullSubscribe (&puller->subscription, jetstream, queue->subject, queue->pullers, NULL,
                               &options, &code);
  jsCtx_Destroy (jetstream); /* the subscription keeps its own */
  if (status == NATS_OK)
    return puller;
  bus_queue_fail (status, code, "runs cannot be pulled from the queue", error);
  g_free (puller);
  return NULL;
}

static gboolean
bus_pull (struct bus_puller *puller, guint64 ms, struct bus_pulled **ret_pulled, GError **error)
{
  natsMsgList list = {0};
  jsErrCode code = 0;
  natsStatus status = natsSubscription_Fetch (&list, puller->subscription, 1, (int64_t)ms, &code);
  *ret_pulled = NULL;
  if (status == NATS_OK && list.Count > 0) {
    struct pulled *pulled = g_new (struct pulled, 1);
    g_atomic_ref_count_inc (&puller->references);
    pulled->puller = puller;
    pulled->message = g_steal_pointer (&list.Msgs[0]);
    pulled->shown = (struct bus_pulled){natsMsg_GetData (pulled->message),
                                        (gsize)natsMsg_GetDataLength (pulled->message)};
    *ret_pulled = &pulled->shown;
  }
  natsMsgList_Destroy (&list);
  return status == NATS_OK || status == NATS_TIMEOUT ||
         bus_queue_fail (status, code, "runs cannot be pulled from the queue", error);
}

static void
bus_unref_puller (struct bus_puller *puller)
{
  if (!g_atomic_ref_count_dec (&puller->references))
    return;
  natsSubscription_Destroy (puller->subscription);
  g_free (puller);
}

static void
bus_close_puller (struct bus_puller *puller)
{
  (void)natsSubscription_Unsubscribe (puller->subscription);
  bus_unref_puller (puller);
}

static void
bus_say_busy (struct bus_pulled *pulled)
{
  (void)natsMsg_InProgress (((struct pulled *)pulled)->message, NULL);
}

static void
bus_free_pulled (struct bus_pulled *shown)
{
  struct pulled *pulled = (struct pulled *)shown;
  natsMsg_Destroy (pulled->message);
  bus_unref_puller (pulled->puller);
  g_free (pulled);
}

static void
bus_say_done (struct bus_pulled *pulled)
{
  (void)natsMsg_Ack (((struct pulled *)pulled)->message, NULL);
  bus_free_pulled (pulled);
}

static void
bus_say_again (struct bus_pulled *pulled, guint64 ms)
{
  (void)natsMsg_NakWithDelay (((struct pulled *)pulled)->message, (int64_t)ms, NULL);
  bus_free_pulled (pulled);
}

__attribute__ ((visibility ("default"))) extern const struct bus_binding adder_nats_bus;

const struct bus_binding adder_nats_bus = {
    .version = bus_version,
    .open = bus_open,
    .is_connected = bus_is_connected,
    .is_over = bus_is_over,
    .open_again = bus_open_again,
    .last_problem = bus_last_problem,
    .close = bus_close,
    .publish = bus_publish,
    .subscribe = bus_subscribe,
    .unsubscribe = bus_unsubscribe,
    .keep_bucket = bus_keep_bucket,
    .put_new = bus_put_new,
    .remove = bus_remove,
    .keep_queue = bus_keep_queue,
    .put_queued = bus_put_queued,
    .open_puller = bus_open_puller,
    .pull = bus_pull,
    .close_puller = bus_close_puller,
    .say_busy = bus_say_busy,
    .say_done = bus_say_done,
    .say_again = bus_say_again,
};
