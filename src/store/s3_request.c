/* SPDX-License-Identifier: Apache-2.0 */
/* One request to an S3 server by libcurl, which signs it, and again what may pass: a server that restarts, is
 * busy, or ends the connection. What is told to people is one sentence that says what to do. */
#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "common/error.h"
#include "common/text.h"
#include "store/blob_file.h"
#include "store/s3.h"

#define NO_CONTENT                                                                                           \
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" /* SHA-256 of nothing                   \
                                                                      */

#define IDLE_MOST 16 /* connections that are kept */

/* Between one attempt and the next. */
#define PAUSE_FIRST_US (50 * 1000)
#define PAUSE_MOST_US  (2 * G_USEC_PER_SEC)

/* After a server could not be reached, the next who ask are told so at once. */
#define DOWN_US G_USEC_PER_SEC

/* How long a server may take to say "go on" before a large body is sent all the same; many never do. */
#define GO_ON_MS 100L

/* Bytes that trickle are no progress: less than this a second, for so long. */
#define SLOW_BYTES 1024
#define SLOW_S     60

struct s3 {
  struct s3_place place;
  char *shown, *sigv4;
  guint64 timeout_ms;
  GMutex lock;
  GQueue idle; /* CURL */
  gint64 down_until_us;
  char *down; /* why */
};

/* One attempt. */
struct attempt {
  const struct s3_request *request;
  s3_reply_t *reply;
  CURL *curl;
  GChecksum *sum;  /* of the body with what came before it, or NULL */
  guint64 sent;    /* of the body */
  guint64 skip;    /* bytes that come before those that were asked for */
  guint64 taken;   /* bytes of what was asked for, with those that are skipped */
  gint64 moved_us; /* when something moved last */
  guint64 totals;  /* what had moved then */
  gint64 limit_us;
  gboolean stalled, full, changed;
  gboolean endless; /* more came, or was to come, than may */
  int err;          /* of a file of ours */
};

/* ---- the bucket ---- */

struct s3 *
s3_open (const char *rest, guint64 timeout_ms, GError **error)
{
  static gsize started = 0;
  struct s3_place place;
  if (!s3_place_parse (rest, &place, error))
    return NULL;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
  struct s3 *s3 = g_new0 (struct s3, 1);
  s3->place = place;
  s3->timeout_ms = timeout_ms;
  s3->shown = g_strdup_printf ("the bucket %s of %s", place.bucket, place.endpoint);
  s3->sigv4 = g_strdup_printf ("aws:amz:%s:s3", place.region);
  g_mutex_init (&s3->lock);
  g_queue_init (&s3->idle);
  return s3;
}

void
s3_close (struct s3 *s3)
{
  for (CURL *curl; (curl = g_queue_pop_head (&s3->idle));)
    curl_easy_cleanup (curl);
  g_mutex_clear (&s3->lock);
  s3_place_clear (&s3->place);
  g_free (s3->down);
  g_free (s3->shown);
  g_free (s3->sigv4);
  g_free (s3);
}

const char *
s3_shown (const struct s3 *s3)
{
  return s3->shown;
}

char *
s3_encode_prefix (const struct s3 *s3, const char *prefix)
{
  const char *own = s3->place.prefix;
  g_autofree char *name = g_strconcat (own, own[0] ? "/" : "", prefix, NULL);
  return g_uri_escape_string (name, NULL, FALSE);
}

const char *
s3_key_of (const struct s3 *s3, const char *name)
{
  gsize length = strlen (s3->place.prefix);
  if (length == 0)
    return name;
  return strncmp (name, s3->place.prefix, length) == 0 && name[length] == '/' ? name + length + 1 : NULL;
}

static char *
make_url (const struct s3 *s3, const struct s3_request *request)
{
  const struct s3_place *place = &s3->place;
  GString *url = g_string_new (place->endpoint);
  g_string_append_printf (url, "/%s", place->bucket);
  if (request->key) {
    if (place->prefix[0])
      g_string_append_printf (url, "/%s", place->prefix);
    g_string_append_c (url, '/');
    g_string_append_uri_escaped (url, request->key, "/", FALSE);
  }
  if (request->query)
    g_string_append_printf (url, "?%s", request->query);
  return g_string_free (url, FALSE);
}

void
s3_reply_clear (struct s3_reply *reply)
{
  if (reply->text)
    g_string_free (reply->text, TRUE);
  g_free (reply->etag);
  g_free (reply->digest);
  *reply = (struct s3_reply){0};
}

/* ---- what moves ---- */

static size_t
send_some (char *to, size_t size, size_t count, void *data)
{
  struct attempt *attempt = data;
  const struct s3_request *request = attempt->request;
  gsize want = (gsize)MIN (size * count, request->length - attempt->sent);
  if (want == 0)
    return 0;
  gssize got = request->body == S3_TEXT ? (gssize)want : -1;
  if (request->body == S3_TEXT)
    memcpy (to, request->text + attempt->sent, want);
  else
    do
      got = pread (request->fd, to, want, (off_t)(request->offset + attempt->sent));
    while (got < 0 && errno == EINTR);
  if (got <= 0) {
    attempt->err = got < 0 ? errno : 0;
    attempt->changed = got == 0;
    return CURL_READFUNC_ABORT;
  }
  attempt->sent += (guint64)got;
  if (attempt->sum)
    g_checksum_update (attempt->sum, (const guchar *)to, got);
  /* A server keeps nothing of a request whose last bytes do not come. */
  if (attempt->sum && request->expect && attempt->sent == request->length &&
      strcmp (g_checksum_get_string (attempt->sum), request->expect) != 0) {
    attempt->changed = TRUE;
    return CURL_READFUNC_ABORT;
  }
  return (size_t)got;
}

static void
begin_sum (struct attempt *attempt)
{
  g_clear_pointer (&attempt->sum, g_checksum_free);
  if (attempt->request->sum)
    attempt->sum = g_checksum_copy (*attempt->request->sum);
}

/* libcurl goes back to the beginning when it has to send on another connection. */
static int
send_again (void *data, curl_off_t offset, int origin)
{
  struct attempt *attempt = data;
  if (origin != SEEK_SET || offset != 0)
    return CURL_SEEKFUNC_FAIL;
  attempt->sent = 0;
  begin_sum (attempt);
  return CURL_SEEKFUNC_OK;
}

static size_t
take_text (struct attempt *attempt, const char *data, size_t length)
{
  GString *text = attempt->reply->text;
  if (text->len + length > S3_TEXT_BYTES) {
    attempt->err = EMSGSIZE;
    return 0;
  }
  g_string_append_len (text, data, (gssize)length);
  return length;
}

/* Whether a file gets more than it may with LENGTH further bytes, or with all that was announced. */
static gboolean
exceeds (const struct attempt *attempt, gsize length)
{
  guint64 most = attempt->request->into_bytes;
  curl_off_t announced = -1;
  curl_easy_getinfo (attempt->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  return (announced > 0 && (guint64)announced > most) || length > most - attempt->reply->bytes;
}

static size_t
take_some (char *data, size_t size, size_t count, void *attempt_data)
{
  struct attempt *attempt = attempt_data;
  const struct s3_request *request = attempt->request;
  s3_reply_t *reply = attempt->reply;
  size_t length = size * count, took = length;
  long status = 0;
  curl_easy_getinfo (attempt->curl, CURLINFO_RESPONSE_CODE, &status);
  gboolean yes = status >= 200 && status < 300;
  if (!yes || (request->into_fd < 0 && !request->buffer))
    return take_text (attempt, data, length);
  attempt->taken += length;
  if (request->into_fd >= 0) {
    attempt->endless = exceeds (attempt, length);
    if (attempt->endless)
      return 0;
    attempt->err = -blob_file_write (request->into_fd, data, length, reply->bytes);
    reply->bytes += length;
    return attempt->err == 0 ? took : 0;
  }
  /* A server that knows no ranges sends all from the beginning on. */
  if (attempt->skip == G_MAXUINT64)
    attempt->skip = status == 206 ? 0 : request->buffer_offset;
  gsize over = (gsize)MIN (attempt->skip, length);
  attempt->skip -= over;
  gsize room = (gsize)MIN (request->buffer_bytes - reply->bytes, length - over);
  memcpy (request->buffer + reply->bytes, data + over, room);
  reply->bytes += room;
  attempt->full = reply->bytes == request->buffer_bytes;
  return attempt->full && over + room < length ? 0 : took;
}

static void
take_value (const char *line, gsize length, const char *name, char **value)
{
  gsize known = strlen (name);
  if (length <= known || g_ascii_strncasecmp (line, name, known) != 0)
    return;
  g_free (*value);
  *value = g_strstrip (g_strndup (line + known, MIN (length - known, 300)));
}

static size_t
take_header (char *line, size_t size, size_t count, void *data)
{
  s3_reply_t *reply = ((struct attempt *)data)->reply;
  take_value (line, size * count, "etag:", &reply->etag);
  take_value (line, size * count, "x-amz-meta-adder-sha256:", &reply->digest);
  return size * count;
}

/* What a server only says, a yes or a no, is no progress: it has to come in time as a whole. */
static int
watch (void *data, G_GNUC_UNUSED curl_off_t all_in, G_GNUC_UNUSED curl_off_t in,
       G_GNUC_UNUSED curl_off_t all_out, curl_off_t out)
{
  struct attempt *attempt = data;
  gint64 now = g_get_monotonic_time ();
  if (attempt->taken + (guint64)out != attempt->totals) {
    attempt->totals = attempt->taken + (guint64)out;
    attempt->moved_us = now;
  }
  attempt->stalled = now - attempt->moved_us > attempt->limit_us;
  return attempt->stalled;
}

/* ---- one attempt ---- */

static CURL *
take_handle (struct s3 *s3)
{
  g_mutex_lock (&s3->lock);
  CURL *curl = g_queue_pop_head (&s3->idle);
  g_mutex_unlock (&s3->lock);
  return curl ? curl : curl_easy_init ();
}

static void
give_handle (struct s3 *s3, CURL *curl)
{
  curl_easy_reset (curl); /* keys and all, but not the connection */
  g_mutex_lock (&s3->lock);
  gboolean kept = g_queue_get_length (&s3->idle) < IDLE_MOST;
  if (kept)
    g_queue_push_head (&s3->idle, curl);
  g_mutex_unlock (&s3->lock);
  if (!kept)
    curl_easy_cleanup (curl);
}

static struct curl_slist *
make_headers (const struct s3_request *request, const struct s3_keys *keys)
{
  struct curl_slist *headers = NULL;
  const char *sha256 = request->body == S3_NOTHING ? NO_CONTENT
                       : request->sha256           ? request->sha256
                                                   : "UNSIGNED-PAYLOAD";
  g_autofree char *content = g_strconcat ("x-amz-content-sha256: ", sha256, NULL);
  headers = curl_slist_append (headers, content);
  if (keys->token) {
    g_autofree char *token = g_strconcat ("x-amz-security-token: ", keys->token, NULL);
    headers = curl_slist_append (headers, token);
    explicit_bzero (token, strlen (token));
  }
  for (gsize i = 0; i < G_N_ELEMENTS (request->headers) && request->headers[i]; i++)
    headers = curl_slist_append (headers, request->headers[i]);
  if (request->body == S3_TEXT)
    headers = curl_slist_append (headers, "content-type: application/xml");
  return headers;
}

static void
set_method (CURL *curl, const struct s3_request *request)
{
  if (strcmp (request->method, "HEAD") == 0)
    curl_easy_setopt (curl, CURLOPT_NOBODY, 1L);
  else if (request->body != S3_NOTHING)
    curl_easy_setopt (curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt (curl, CURLOPT_CUSTOMREQUEST,
                    strcmp (request->method, "HEAD") == 0 ? NULL : request->method);
}

static CURLcode
attempt_run (struct s3 *s3, struct attempt *attempt, const struct s3_keys *keys)
{
  const struct s3_request *request = attempt->request;
  CURL *curl = attempt->curl = take_handle (s3);
  if (!curl)
    return CURLE_FAILED_INIT;
  g_autofree char *url = make_url (s3, request);
  struct curl_slist *headers = make_headers (request, keys);
  curl_easy_setopt (curl, CURLOPT_URL, url);
  curl_easy_setopt (curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt (curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  curl_easy_setopt (curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (curl, CURLOPT_AWS_SIGV4, s3->sigv4);
  curl_easy_setopt (curl, CURLOPT_USERNAME, keys->id);
  curl_easy_setopt (curl, CURLOPT_PASSWORD, keys->secret);
  curl_easy_setopt (curl, CURLOPT_HTTPHEADER, headers);
  if (s3->place.ca)
    curl_easy_setopt (curl, CURLOPT_CAINFO, s3->place.ca);
  set_method (curl, request);
  if (request->body != S3_NOTHING) {
    curl_easy_setopt (curl, CURLOPT_READFUNCTION, send_some);
    curl_easy_setopt (curl, CURLOPT_READDATA, attempt);
    curl_easy_setopt (curl, CURLOPT_SEEKFUNCTION, send_again);
    curl_easy_setopt (curl, CURLOPT_SEEKDATA, attempt);
    curl_easy_setopt (curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->length);
    curl_easy_setopt (curl, CURLOPT_EXPECT_100_TIMEOUT_MS, GO_ON_MS);
  }
  curl_easy_setopt (curl, CURLOPT_WRITEFUNCTION, take_some);
  curl_easy_setopt (curl, CURLOPT_WRITEDATA, attempt);
  curl_easy_setopt (curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt (curl, CURLOPT_HEADERDATA, attempt);
  curl_easy_setopt (curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt (curl, CURLOPT_XFERINFOFUNCTION, watch);
  curl_easy_setopt (curl, CURLOPT_XFERINFODATA, attempt);
  curl_easy_setopt (curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(attempt->limit_us / 1000 + 1));
  curl_easy_setopt (curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
  curl_easy_setopt (curl, CURLOPT_LOW_SPEED_TIME, (long)MAX (SLOW_S, s3->timeout_ms / 1000 + 1));
  g_autofree char *range =
      request->buffer ? g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, request->buffer_offset,
                                         request->buffer_offset + request->buffer_bytes - 1)
                      : NULL;
  curl_easy_setopt (curl, CURLOPT_RANGE, range);

  CURLcode code = curl_easy_perform (curl);
  curl_easy_getinfo (curl, CURLINFO_RESPONSE_CODE, &attempt->reply->status);
  if (strcmp (request->method, "HEAD") == 0) {
    curl_off_t length = -1;
    curl_easy_getinfo (curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    attempt->reply->bytes = (guint64)MAX (length, 0);
  }
  if (attempt->full && code == CURLE_WRITE_ERROR)
    code = CURLE_OK; /* the rest was not wanted */
  give_handle (s3, curl);
  curl_slist_free_all (headers);
  return code;
}

/* ---- what came of it ---- */

/* How an attempt ended, as people are told. AGAIN: how often it is tried again at most; DOWN: so that the
 * next who ask need not find out for themselves. */
struct ending {
  int code;       /* of libcurl, or HTTP status */
  const char *s3; /* the server's word */
  const char *text;
  guint again;
  gboolean down;
};

#define ALWAYS 1000

static const struct ending curl_endings[] = {
    {CURLE_COULDNT_CONNECT, NULL, "nothing answers there: is the server running, and the port right?", 3,
     TRUE},
    {CURLE_COULDNT_RESOLVE_HOST, NULL, "the host's name is not known", 1, TRUE},
    {CURLE_COULDNT_RESOLVE_PROXY, NULL, "the proxy's name is not known", 0, TRUE},
    {CURLE_OPERATION_TIMEDOUT, NULL, "the server does not answer in time ([store] timeout_ms)", 0, TRUE},
    {CURLE_PEER_FAILED_VERIFICATION, NULL,
     "its TLS certificate is not trusted here: name the authority's with ca=/path in [store] blobs", 0,
     FALSE},
    {CURLE_SSL_CACERT_BADFILE, NULL, "the file that ca= names in [store] blobs cannot be read", 0, FALSE},
    {CURLE_SSL_CONNECT_ERROR, NULL, "TLS cannot be agreed on: is the port one for https?", 1, FALSE},
    {CURLE_GOT_NOTHING, NULL, "the server ends connections without an answer", ALWAYS, FALSE},
    {CURLE_SEND_ERROR, NULL, "the server ends connections", ALWAYS, FALSE},
    {CURLE_RECV_ERROR, NULL, "the server ends connections", ALWAYS, FALSE},
    {CURLE_PARTIAL_FILE, NULL, "the server ends connections", ALWAYS, FALSE},
    {CURLE_SEND_FAIL_REWIND, NULL, "the server ends connections", ALWAYS, FALSE},
    {CURLE_UNSUPPORTED_PROTOCOL, NULL, "what answers there is not an S3 server", 0, FALSE},
    {CURLE_WEIRD_SERVER_REPLY, NULL, "what answers there is not an S3 server", 0, FALSE},
};

/* The server's word decides where there is one, else the number. */
static const struct ending s3_endings[] = {
    {404, "NoSuchBucket", "the bucket does not exist: create it, or name another in [store] blobs", 0, FALSE},
    {403, "InvalidAccessKeyId", "the server does not know the access key", 0, FALSE},
    {403, "SignatureDoesNotMatch", "the secret key is wrong", 0, FALSE},
    {403, "RequestTimeTooSkewed", "the clocks of this machine and of the server differ too much: set them", 0,
     FALSE},
    {403, "AccessDenied", "the access key has no right to do that", 0, FALSE},
    {400, "ExpiredToken", "the keys have expired", 0, FALSE},
    {400, "InvalidToken", "the session token is wrong", 0, FALSE},
    {400, "AuthorizationHeaderMalformed",
     "the region is wrong: name the bucket's with region= in [store] blobs", 0, FALSE},
    {301, "PermanentRedirect", "the bucket is in another region: name it with region= in [store] blobs", 0,
     FALSE},
    {400, "EntityTooLarge", "it is too large for the server", 0, FALSE},
    {507, "XMinioStorageFull", "the server's disk is full", 0, FALSE},
    {507, "InsufficientStorage", "the server's disk is full", 0, FALSE},
    {403, "QuotaExceeded", "the bucket is full", 0, FALSE},
    {503, "SlowDown", "the server is too busy", ALWAYS, FALSE},
    {412, "PreconditionFailed", "there is one already", 0, FALSE},
    {409, "ConditionalRequestConflict", "somebody else writes it", ALWAYS, FALSE},
    {301, NULL, "the bucket is elsewhere: look at endpoint= and region= in [store] blobs", 0, FALSE},
    {307, NULL, "the bucket is elsewhere: look at endpoint= and region= in [store] blobs", 0, FALSE},
    {403, NULL, "the access key is wrong or has no right to do that", 0, FALSE},
    {408, NULL, "the server waited too long for it", ALWAYS, FALSE},
    {412, NULL, "there is one already", 0, FALSE},
    {429, NULL, "the server is too busy", ALWAYS, FALSE},
    {500, NULL, "the server has a fault of its own", ALWAYS, FALSE},
    {502, NULL, "the server is not ready", ALWAYS, FALSE},
    {503, NULL, "the server is not ready", ALWAYS, FALSE},
    {504, NULL, "the server is not ready", ALWAYS, FALSE},
    {507, NULL, "the server's disk is full", 0, FALSE},
};

static const struct ending stalled_ending = {
    0, NULL, "the server does not answer in time ([store] timeout_ms)", 0, TRUE};
static const struct ending unknown_ending = {0, NULL, NULL, 0, FALSE};

/* The word of the server; the caller's, or NULL. */
static char *
find_word (const s3_reply_t *reply, char **ret_message)
{
  g_autoptr (s3_answer_t) answer =
      reply->text->len > 0 ? s3_answer_parse (reply->text->str, reply->text->len, NULL, NULL) : NULL;
  if (!answer || strcmp (answer->root, "Error") != 0)
    return NULL;
  *ret_message = g_strdup (g_hash_table_lookup (answer->fields, "Message"));
  return g_strdup (g_hash_table_lookup (answer->fields, "Code"));
}

static const struct ending *
find_ending (CURLcode code, const struct attempt *attempt, const char *word)
{
  if (attempt->stalled)
    return &stalled_ending;
  if (code != CURLE_OK) {
    for (gsize i = 0; i < G_N_ELEMENTS (curl_endings); i++)
      if (curl_endings[i].code == (int)code)
        return &curl_endings[i];
    return &unknown_ending;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (s3_endings); i++)
    if (s3_endings[i].s3 ? word && strcmp (word, s3_endings[i].s3) == 0
                         : s3_endings[i].code == attempt->reply->status)
      return &s3_endings[i];
  return &unknown_ending;
}

static gboolean
say (const struct s3 *s3, const struct s3_request *request, int code, const char *what, GError **error)
{
  g_set_error (error, ADDER_ERROR, code, "cannot %s %s in %s: %s", request->doing,
               request->key ? request->key : "files", s3->shown, what);
  return FALSE;
}

/* Also remembers that the server is not there. */
static gboolean
fail (struct s3 *s3, const struct s3_request *request, const s3_reply_t *reply, CURLcode code,
      const struct ending *ending, const char *word, const char *message, GError **error)
{
  g_autofree char *told = NULL;
  if (!ending->text) {
    g_autofree char *shown = code != CURLE_OK ? g_strdup (curl_easy_strerror (code))
                                              : text_one_line (message ? message
                                                               : word  ? word
                                                                       : "it does not say why",
                                                               200);
    told = code != CURLE_OK ? g_strdup (shown)
                            : g_strdup_printf ("the server says %ld, %s", reply->status, shown);
  }
  const char *what = ending->text ? ending->text : told;
  g_mutex_lock (&s3->lock);
  if (ending->down) {
    s3->down_until_us = g_get_monotonic_time () + DOWN_US;
    g_free (s3->down);
    s3->down = g_strdup (what);
  }
  g_mutex_unlock (&s3->lock);
  return say (s3, request, ADDER_ERROR_FAILED, what, error);
}

static gboolean
check_up (struct s3 *s3, const struct s3_request *request, GError **error)
{
  g_autofree char *down = NULL;
  g_mutex_lock (&s3->lock);
  if (s3->down && g_get_monotonic_time () < s3->down_until_us)
    down = g_strdup (s3->down);
  g_mutex_unlock (&s3->lock);
  return !down || say (s3, request, ADDER_ERROR_FAILED, down, error);
}

static void
begin (struct attempt *attempt, const struct s3_request *request, s3_reply_t *reply, gint64 limit_us)
{
  gboolean repeated = reply->text != NULL;
  s3_reply_clear (reply);
  reply->text = g_string_new (NULL);
  reply->repeated = repeated;
  *attempt = (struct attempt){.request = request,
                              .reply = reply,
                              .skip = G_MAXUINT64,
                              .moved_us = g_get_monotonic_time (),
                              .limit_us = limit_us};
  begin_sum (attempt);
}

/* Gives the sum to who asked, when it ARRIVED. */
static void
end (struct attempt *attempt, gboolean arrived)
{
  if (arrived && attempt->sum) {
    g_checksum_free (*attempt->request->sum);
    *attempt->request->sum = g_steal_pointer (&attempt->sum);
  }
  g_clear_pointer (&attempt->sum, g_checksum_free);
}

/* A file was at fault, ours or theirs: no other attempt would help. */
static gboolean
is_file_fault (const struct s3 *s3, const struct attempt *attempt, GError **error)
{
  if (attempt->changed)
    say (s3, attempt->request, ADDER_ERROR_FAILED, "the file was changed while it was being kept", error);
  else if (attempt->endless)
    say (s3, attempt->request, ADDER_ERROR_FAILED, "it is damaged: it has more bytes than it had", error);
  else if (attempt->err)
    say (s3, attempt->request, ADDER_ERROR_FAILED, g_strerror (attempt->err), error);
  return attempt->changed || attempt->endless || attempt->err;
}

gboolean
s3_perform (struct s3 *s3, const struct s3_request *request, s3_reply_t *ret_reply, GError **error)
{
  gint64 until = g_get_monotonic_time () + (gint64)s3->timeout_ms * 1000, pause = PAUSE_FIRST_US;
  if (!check_up (s3, request, error))
    return FALSE;
  for (guint tries = 0;; tries++) {
    struct s3_keys keys;
    struct attempt attempt;
    if (!s3_keys_read (&s3->place, &keys, error))
      return FALSE;
    gint64 left = until - g_get_monotonic_time ();
    begin (&attempt, request, ret_reply, MAX (left, 1000));
    CURLcode code = attempt_run (s3, &attempt, &keys);
    s3_keys_clear (&keys);
    gboolean arrived = code == CURLE_OK && ret_reply->status >= 200 && ret_reply->status < 300;
    end (&attempt, arrived);
    if (arrived || is_file_fault (s3, &attempt, error))
      return arrived;

    g_autofree char *message = NULL, *word = code == CURLE_OK ? find_word (ret_reply, &message) : NULL;
    if (code == CURLE_OK && ret_reply->status == 404 && request->key &&
        (!word || strcmp (word, "NoSuchBucket") != 0))
      return say (s3, request, ADDER_ERROR_NOT_FOUND, "there is no such file", error);
    const struct ending *ending = find_ending (code, &attempt, word);
    pause = MIN (pause, PAUSE_MOST_US);
    if (tries >= ending->again || g_get_monotonic_time () + pause >= until)
      return fail (s3, request, ret_reply, code, ending, word, message, error);
    g_usleep ((gulong)pause + g_random_int_range (0, PAUSE_FIRST_US));
    pause *= 2;
  }
}
