/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-http: libmicrohttpd alone. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "interfaces/http/wire.h"
#include "interfaces/http/wire_gzip.h"

#define CHAIN_MAX 16 /* certificates of one file */
/* No older versions of TLS, no weak ciphers. */
#define PRIORITIES                                                                                           \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM:+CHACHA20-POLY1305"
#define BLOCK_BYTES (4 * 1024) /* of streams to clients without chunked encoding */

struct wire_tls {
  gnutls_pcert_st chain[CHAIN_MAX];
  unsigned length;
  gnutls_privkey_t key;
};

struct wire {
  struct MHD_Daemon *daemon;
  int fd;                            /* the daemon's */
  gnutls_session_t session;          /* of its TLS, or NULL */
  struct MHD_Connection *connection; /* during a request */
  const struct wire_calls *calls;
  gpointer data;
  const struct wire_tls *tls;
  gboolean asked; /* a first line was read */
  gboolean in_head, in_body;
  gsize target_length;        /* of the request's first line */
  gboolean ambiguous;         /* its head: see is_as_read */
  gboolean failed;            /* no reply can be made: the connection ends */
  gboolean begun;             /* the request's headers were reported */
  gboolean queued;            /* its reply was given */
  struct MHD_Response *early; /* by its headers alone: see flush */
  unsigned early_status;
  gboolean over;
};

static const char *
wire_version (void)
{
  return MHD_get_version ();
}

/* ---- TLS ---- */

static gboolean
fail_tls (GError **error, int problem, const char *what)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: %s", what, gnutls_strerror (problem));
  return FALSE;
}

/* gnutls checks here that the key belongs to the certificate. */
static gboolean
check_pair (const gnutls_datum_t *certificate, const gnutls_datum_t *key, GError **error)
{
  gnutls_certificate_credentials_t pair;
  int r = gnutls_certificate_allocate_credentials (&pair);
  if (r < 0)
    return fail_tls (error, r, "cannot prepare TLS");
  r = gnutls_certificate_set_x509_key_mem (pair, certificate, key, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials (pair);
  return r >= 0 || fail_tls (error, r, "the certificate and its key cannot be used");
}

static gboolean
wire_microhttpd_read_key (struct wire_tls *tls, const gnutls_datum_t *key, GError **error)
{
  int r = gnutls_privkey_init (&tls->key);
  if (r >= 0)
    r = gnutls_privkey_import_x509_raw (tls->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
  return r >= 0 || fail_tls (error, r, "the key cannot be read");
}

static void
wire_tls_free (struct wire_tls *tls)
{
  if (!tls)
    return;
  for (unsigned i = 0; i < tls->length; i++)
    gnutls_pcert_deinit (&tls->chain[i]);
  gnutls_privkey_deinit (tls->key);
  g_free (tls);
}

static struct wire_tls *
wire_tls_new (const char *certificate, gsize certificate_length, const char *key, gsize key_length,
              GError **error)
{
  gnutls_datum_t certificate_text = {(unsigned char *)certificate, (unsigned)certificate_length};
  gnutls_datum_t key_text = {(unsigned char *)key, (unsigned)key_length};
  struct wire_tls *tls = g_new0 (struct wire_tls, 1);
  unsigned length = CHAIN_MAX;
  if (check_pair (&certificate_text, &key_text, error) && wire_microhttpd_read_key (tls, &key_text, error)) {
    int r = gnutls_pcert_list_import_x509_raw (tls->chain, &length, &certificate_text, GNUTLS_X509_FMT_PEM,
                                               GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
    if (r >= 0) {
      tls->length = length;
      return tls;
    }
    fail_tls (error, r, "the certificate cannot be read");
  }
  wire_tls_free (tls);
  return NULL;
}

/* The callback of a session has no connection of ours, but its thread serves only one. */
static __thread const struct wire_tls *serving;

static int
give_certificate (G_GNUC_UNUSED gnutls_session_t session, G_GNUC_UNUSED const gnutls_datum_t *authorities,
                  G_GNUC_UNUSED int authority_count, G_GNUC_UNUSED const gnutls_pk_algorithm_t *algorithms,
                  G_GNUC_UNUSED int algorithm_count, gnutls_pcert_st **ret_chain, unsigned *ret_length,
                  gnutls_privkey_t *ret_key)
{
  if (!serving)
    return -1;
  *ret_chain = (gnutls_pcert_st *)serving->chain;
  *ret_length = serving->length;
  *ret_key = serving->key;
  return 0;
}

/* ---- the head as it came ---- */

/* Version 0.9 of the library is lenient: it takes a CR or an LF alone for the end of a line, cuts a line at a
 * zero byte, and puts the second line of a folded header behind the first one's NAME, so that a coding or a
 * length folded like this goes unnoticed. It then reports another request than the next server on the way
 * reads. But it reads in place: each part of the head stays where it arrived, and CR LF become two zeros. So
 * in a well-formed head each part begins where the previous one ends. */
struct layout {
  const char *at; /* where the next header's name must be */
  gboolean ok;
};

static enum MHD_Result
see_place (void *data, G_GNUC_UNUSED enum MHD_ValueKind kind, const char *name, const char *value)
{
  struct layout *layout = data;
  layout->ok = layout->ok && name == layout->at && value;
  if (!layout->ok)
    return MHD_NO;
  const char *at = name + strlen (name) + 1;
  while (at != value && (*at == ' ' || *at == '\t'))
    at++;
  layout->ok = at == value;
  layout->at = value + strlen (value) + 2;
  return layout->ok ? MHD_YES : MHD_NO;
}

static gboolean
is_as_read (const struct wire *wire, struct MHD_Connection *connection, const char *method,
            const char *target, const char *version)
{
  /* Later versions parse differently, and in strict mode refuse all this themselves. */
  if (strncmp (MHD_get_version (), "0.9.", 4) != 0)
    return TRUE;
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info (connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  struct layout layout = {version + strlen (version) + 2, TRUE};
  if (!info || target != method + strlen (method) + 1 || version != target + wire->target_length + 1)
    return FALSE;
  gsize size = info->header_size;
  MHD_get_connection_values (connection, MHD_HEADER_KIND, see_place, &layout);
  return layout.ok && layout.at + 2 == method + size;
}

/* ---- requests ---- */

static gboolean
wire_microhttpd_has_body (struct MHD_Connection *connection)
{
  const char *length =
      MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  return MHD_lookup_connection_value (connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
         (length && strspn (length, "0") != strlen (length));
}

/* A reply queued at the headers counts as leaving a body unread, which ends the connection. For a request
 * without a body it waits for the next call. */
static void
flush_early (struct wire *wire, struct MHD_Connection *connection)
{
  MHD_queue_response (connection, wire->early_status, wire->early);
  g_clear_pointer (&wire->early, MHD_destroy_response);
}

static void *
wire_microhttpd_see_line (void *data, const char *target, struct MHD_Connection *connection)
{
  struct wire *wire = data;
  wire->connection = connection;
  wire->asked = TRUE;
  wire->begun = wire->queued = FALSE;
  wire->target_length = strlen (target);
  wire->calls->line (wire->data, target);
  return NULL;
}

static enum MHD_Result
see_request (void *data, struct MHD_Connection *connection, const char *path, const char *method,
             const char *version, const char *body, size_t *length, G_GNUC_UNUSED void **request)
{
  struct wire *wire = data;
  wire->connection = connection;
  if (!wire->begun) {
    wire->begun = TRUE;
    wire->in_head = TRUE;
    wire->ambiguous = !is_as_read (wire, connection, method, path, version);
    wire->calls->head (wire->data, method, version);
    wire->in_head = FALSE;
    if (wire->early && wire_microhttpd_has_body (connection))
      flush_early (wire, connection);
  } else if (wire->early)
    flush_early (wire, connection);
  else if (*length > 0) {
    wire->in_body = TRUE;
    if (!wire->queued)
      wire->calls->body (wire->data, body, *length);
    wire->in_body = FALSE;
    *length = 0;
  } else if (!wire->queued)
    wire->calls->whole (wire->data);
  return wire->failed ? MHD_NO : MHD_YES;
}

static void
see_end (void *data, G_GNUC_UNUSED struct MHD_Connection *connection, G_GNUC_UNUSED void **request,
         G_GNUC_UNUSED enum MHD_RequestTerminationCode how)
{
  struct wire *wire = data;
  wire->connection = NULL;
  wire->begun = wire->queued = FALSE;
  g_clear_pointer (&wire->early, MHD_destroy_response);
  wire->calls->done (wire->data);
}

static void
see_connection (void *data, struct MHD_Connection *connection, G_GNUC_UNUSED void **socket_data,
                enum MHD_ConnectionNotificationCode what)
{
  struct wire *wire = data;
  if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
    wire->over = TRUE;
    wire->session = NULL;
    return;
  }
  const union MHD_ConnectionInfo *info =
      wire->tls ? MHD_get_connection_info (connection, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
  wire->session = info ? (gnutls_session_t)info->tls_session : NULL;
}

/* The server decodes targets. */
static size_t
leave_as_it_is (G_GNUC_UNUSED void *data, G_GNUC_UNUSED struct MHD_Connection *connection, char *text)
{
  return strlen (text);
}

/* The library's messages are for its developers; but one announces that it will answer by itself, and comes
 * first. */
static void
see_message (void *data, const char *format, va_list arguments)
{
  struct wire *wire = data;
  static const char says[] = "Error processing request (HTTP response code is %u ";
  if (strncmp (format, says, sizeof says - 1) == 0)
    wire->calls->bad (wire->data, (int)va_arg (arguments, unsigned));
}

/* ---- the connection ---- */

static struct MHD_Daemon *
wire_microhttpd_start (struct wire *wire, gsize memory)
{
  unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
  const struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)give_certificate},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)PRIORITIES},
      {MHD_OPTION_END, 0, NULL},
  };
  const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  if (wire->tls)
    flags |= MHD_USE_TLS;
  return MHD_start_daemon (
      flags, 0, NULL, NULL, see_request, wire, MHD_OPTION_EXTERNAL_LOGGER, see_message, wire,
      MHD_OPTION_URI_LOG_CALLBACK, wire_microhttpd_see_line, wire, MHD_OPTION_NOTIFY_COMPLETED, see_end, wire,
      MHD_OPTION_NOTIFY_CONNECTION, see_connection, wire, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, wire,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)memory, MHD_OPTION_CONNECTION_LIMIT, 1u,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_STRICT_FOR_CLIENT,
      1, MHD_OPTION_NONCE_NC_SIZE, 0u, MHD_OPTION_ARRAY, wire->tls ? tls : none, MHD_OPTION_END);
}

static void
wire_free (struct wire *wire)
{
  if (!wire)
    return;
  if (wire->daemon)
    MHD_stop_daemon (wire->daemon);
  serving = NULL;
  g_free (wire);
}

static struct wire *
wire_open (int fd, gsize memory, struct wire_tls *tls, const struct wire_calls *calls, gpointer data,
           GError **error)
{
  struct wire *wire = g_new0 (struct wire, 1);
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  wire->calls = calls;
  wire->data = data;
  wire->tls = serving = tls;
  wire->fd = fd;
  wire->daemon = wire_microhttpd_start (wire, memory);
  if (getpeername (fd, (struct sockaddr *)&address, &length) < 0)
    length = sizeof (sa_family_t);
  if (!wire->daemon)
    close (fd);
  else if (MHD_add_connection (wire->daemon, fd, (struct sockaddr *)&address, length) == MHD_YES)
    return wire;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "libmicrohttpd does not take the connection");
  wire_free (wire);
  return NULL;
}

static int
wire_event_fd (struct wire *wire)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info (wire->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

/* While a handshake waits for its client, the library considers the socket ready, and would be run
 * repeatedly. */
static gboolean
waits_for_handshake (const struct wire *wire)
{
  struct pollfd ready = {.fd = wire->fd, .events = POLLIN};
  return wire->tls && !wire->asked && !(wire->session && gnutls_record_check_pending (wire->session) > 0) &&
         poll (&ready, 1, 0) == 0;
}

static gboolean
wire_work (struct wire *wire)
{
  MHD_UNSIGNED_LONG_LONG wait_ms;
  do
    if (MHD_run (wire->daemon) != MHD_YES)
      return FALSE;
  while (!wire->over && MHD_get_timeout (wire->daemon, &wait_ms) == MHD_YES && wait_ms == 0 &&
         !waits_for_handshake (wire));
  return !wire->over;
}

/* ---- replies ---- */

static ssize_t
read_reply (void *data, G_GNUC_UNUSED uint64_t position, char *buffer, size_t size)
{
  const struct wire_reply *reply = data;
  gssize n = reply->read (reply->read_data, buffer, size);
  if (n < 0)
    return MHD_CONTENT_READER_END_WITH_ERROR;
  return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static struct MHD_Response *
make_response (struct wire_reply *reply)
{
  if (reply->read)
    return MHD_create_response_from_callback (MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_reply,
                                              g_memdup2 (reply, sizeof *reply), g_free);
  if (reply->fd >= 0)
    return MHD_create_response_from_fd_at_offset64 (reply->length, reply->fd, reply->offset);
  if (reply->text)
    return MHD_create_response_from_buffer_with_free_callback (reply->length, reply->text, g_free);
  return MHD_create_response_from_buffer (0, (void *)"", MHD_RESPMEM_PERSISTENT);
}

static void
wire_say (struct wire *wire, const char *text, gsize length)
{
  if (wire->over)
    return;
  if (wire->session)
    (void)gnutls_record_send (wire->session, text, length);
  else if (!wire->tls)
    (void)send (wire->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown (wire->fd, SHUT_WR);
}

/* The library takes no reply during a body: it is sent past it, and the connection given up. */
static void
say_reply (struct wire *wire, struct wire_reply *reply)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, "HTTP/1.1 %d %s\r\n", reply->status,
                   MHD_get_reason_phrase_for ((unsigned)reply->status));
  for (gsize i = 0; reply->headers && reply->headers[i]; i += 2)
    g_string_append_printf (text, "%s: %s\r\n", reply->headers[i], reply->headers[i + 1]);
  g_string_append_printf (text, "Content-Length: %zu\r\nConnection: close\r\n\r\n", reply->length);
  g_string_append_len (text, reply->text, (gssize)reply->length);
  g_free (reply->text);
  wire_say (wire, text->str, text->len);
  wire->queued = wire->failed = TRUE;
}

static void
wire_reply (struct wire *wire, struct wire_reply *reply)
{
  if (wire->in_body) {
    say_reply (wire, reply);
    return;
  }
  struct MHD_Response *response = make_response (reply);
  wire->queued = TRUE;
  if (!response || !wire->connection) {
    wire->failed = TRUE;
    return;
  }
  for (gsize i = 0; reply->headers && reply->headers[i]; i += 2)
    MHD_add_response_header (response, reply->headers[i], reply->headers[i + 1]);
  if (reply->last)
    MHD_add_response_header (response, MHD_HTTP_HEADER_CONNECTION, "close");
  if (wire->in_head) {
    wire->early = response;
    wire->early_status = (unsigned)reply->status;
    return;
  }
  MHD_queue_response (wire->connection, (unsigned)reply->status, response);
  MHD_destroy_response (response);
}

struct seeing {
  void (*see) (gpointer data, const char *name, const char *value);
  gpointer data;
};

static enum MHD_Result
see_header (void *data, G_GNUC_UNUSED enum MHD_ValueKind kind, const char *name, const char *value)
{
  const struct seeing *seeing = data;
  seeing->see (seeing->data, name, value ? value : "");
  return MHD_YES;
}

static void
wire_each_header (struct wire *wire, void (*see) (gpointer data, const char *name, const char *value),
                  gpointer data)
{
  struct seeing seeing = {see, data};
  if (wire->connection)
    MHD_get_connection_values (wire->connection, MHD_HEADER_KIND, see_header, &seeing);
}

static gboolean
wire_is_ambiguous (struct wire *wire)
{
  return wire->ambiguous;
}

__attribute__ ((visibility ("default"))) extern const struct wire_binding adder_http_wire;
const struct wire_binding adder_http_wire = {
    .version = wire_version,
    .tls_new = wire_tls_new,
    .tls_free = wire_tls_free,
    .open = wire_open,
    .event_fd = wire_event_fd,
    .work = wire_work,
    .reply = wire_reply,
    .say = wire_say,
    .each_header = wire_each_header,
    .is_ambiguous = wire_is_ambiguous,
    .free = wire_free,
    .gzip = wire_gzip,
    .gunzip_new = wire_gunzip_new,
    .gunzip_add = wire_gunzip_add,
    .gunzip_is_whole = wire_gunzip_is_whole,
    .gunzip_free = wire_gunzip_free,
};
