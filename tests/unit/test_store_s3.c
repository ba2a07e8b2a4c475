/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs in a bucket beyond what test_store_blobs.c tries in each place: large files, copies here, servers
 * that go away or say anything, and one sentence for each. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "blob_support.h"
#include "store/blobs.h"
#include "store_world.h"
#include "suite.h"

#define MIB         ((guint64)1 << 20)
#define CACHE_BYTES (8 * MIB)
#define PATIENT_MS  60000 /* no test waits for it */
#define HASTY_MS    700   /* tests wait for it */
#define SECRET      "sesame-open"

struct fixture {
  char *path, *scratch, *url; /* URL: NULL where there is no server */
  struct blobs *blobs;
};

static struct blobs *
open_blobs (const struct fixture *fixture, const char *url, guint64 timeout_ms)
{
  g_autoptr (GError) error = NULL;
  struct blobs *blobs = blobs_open (url, fixture->scratch, CACHE_BYTES, timeout_ms, &error);
  g_assert_no_error (error);
  return blobs;
}

static void
set_up (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  fixture->path = g_dir_make_tmp ("adder-s3-XXXXXX", NULL);
  fixture->scratch = g_build_filename (fixture->path, "scratch", NULL);
  fixture->url = store_world_blobs (&store_world_blob_kinds[1], fixture->path);
  if (fixture->url)
    fixture->blobs = open_blobs (fixture, fixture->url, PATIENT_MS);
}

/* Without a server. */
static void
set_up_alone (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fixture->path = g_dir_make_tmp ("adder-s3-XXXXXX", NULL);
  fixture->scratch = g_build_filename (fixture->path, "scratch", NULL);
  g_autofree char *keys = g_build_filename (fixture->path, "keys", NULL);
  g_file_set_contents (keys, "aws_access_key_id=adder\naws_secret_access_key=" SECRET "\n", -1, &error);
  g_assert_no_error (error);
  g_assert_cmpint (chmod (keys, 0600), ==, 0);
}

static void
tear_down (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  blobs_close (fixture->blobs);
  suite_remove (fixture->path);
  g_free (fixture->path);
  g_free (fixture->scratch);
  g_free (fixture->url);
}

/* The server's line is not looked at. */
static void
tell (const char *command)
{
  g_autofree char *answer = store_world_tell_s3 (command);
  g_assert_cmpstr (answer, ==, "ok");
}

/* That ERROR says WHAT, and nothing that is secret; it is cleared. */
static void
assert_says (GError **error, const char *what)
{
  g_assert_nonnull (*error);
  g_test_message ("%s", (*error)->message);
  g_assert_true ((*error)->domain == ADDER_ERROR);
  g_assert_nonnull (strstr ((*error)->message, what));
  g_assert_null (strstr ((*error)->message, SECRET));
  g_assert_null (strchr ((*error)->message, '\n'));
  g_assert_true (g_utf8_validate ((*error)->message, -1, NULL));
  g_clear_error (error);
}

/* The text with OLD in it once replaced. The caller's. */
static char *
replace (const char *text, const char *old, const char *new)
{
  g_auto (GStrv) parts = g_strsplit (text, old, 2);
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  return g_strjoinv (new, parts);
}

/* ---- large files ---- */

/* A file of so many bytes, no two parts of it alike, most of it holes. */
static int
make_large (struct blobs *blobs, guint64 bytes)
{
  int fd = blobs ? blobs_create (blobs, NULL) : memfd_create ("large", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, (off_t)bytes), ==, 0);
  for (guint64 at = 0; at < bytes; at += 4 * MIB)
    g_assert_cmpint (pwrite (fd, &at, sizeof at, (off_t)at), ==, sizeof at);
  return fd;
}

static char *
digest_file (int fd, guint64 bytes)
{
  void *data = mmap (NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  g_assert_true (data != MAP_FAILED);
  char *sha256 = blob_digest (data, bytes);
  munmap (data, bytes);
  return sha256;
}

static void
test_parts (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  const guint64 bytes = 70 * MIB + 5;
  for (guint own = 0; own < 2; own++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *key = blob_key ("large.bin"), *other = blob_key ("other.bin");
    autoclose int fd = make_large (own ? fixture->blobs : NULL, bytes);
    g_autofree char *sha256 = digest_file (fd, bytes);
    blobs_put (fixture->blobs, key, fd, bytes, sha256, "application/octet-stream", &error);
    g_assert_no_error (error);
    guint64 found;
    g_assert_true (blobs_stat (fixture->blobs, key, &found, NULL));
    g_assert_cmpuint (found, ==, bytes);
    guint64 mark = 0;
    g_assert_cmpint (blobs_read (fixture->blobs, key, 68 * MIB, &mark, sizeof mark, NULL), ==, sizeof mark);
    g_assert_cmpuint (mark, ==, 68 * MIB);
    autoclose int got = blobs_get (fixture->blobs, key, bytes, sha256, &error);
    g_assert_no_error (error);
    g_autofree char *again = digest_file (got, bytes);
    g_assert_cmpstr (again, ==, sha256);
    if (own)
      continue;
    /* It is there already, and what was sent of it is gone. */
    g_assert_false (blobs_put (fixture->blobs, key, fd, bytes, sha256, "application/octet-stream", &error));
    assert_says (&error, "there is one already");
    /* One that somebody changes meanwhile is not kept. */
    g_assert_cmpint (pwrite (fd, "changed", 7, (off_t)(69 * MIB)), ==, 7);
    g_assert_false (blobs_put (fixture->blobs, other, fd, bytes, sha256, "application/octet-stream", &error));
    assert_says (&error, "changed while it was being kept");
    g_assert_false (blobs_stat (fixture->blobs, other, NULL, NULL));
  }
}

static void
test_prefix (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *url = replace (fixture->url, "?", "/some/where/?");
  g_autofree char *key = blob_key ("a b+c%.txt");
  struct blobs *blobs = open_blobs (fixture, url, PATIENT_MS);
  g_assert_true (blob_put (blobs, TRUE, key, "text", 4, NULL));
  blob_assert (blobs, key, "text", 4);
  g_autoptr (GHashTable) inside = blob_list (blobs);
  g_autoptr (GHashTable) outside = blob_list (fixture->blobs);
  g_assert_cmpuint (g_hash_table_size (inside), ==, 1);
  g_assert_true (g_hash_table_contains (inside, key));
  g_assert_cmpuint (g_hash_table_size (outside), ==, 0);
  blobs_close (blobs);
}

/* More than a server lists at once. */
static gpointer
put_many (gpointer data)
{
  for (guint i = 0; i < 300; i++) {
    g_autofree char *key = blob_key ("one of many");
    g_autoptr (GError) error = NULL;
    blob_put (data, TRUE, key, "x", 1, &error);
    g_assert_no_error (error);
  }
  return NULL;
}

static void
test_pages (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  GThread *threads[4];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("put", put_many, fixture->blobs);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 1200);
}

/* ---- copies here ---- */

static guint64
count_copies (const struct fixture *fixture, guint *ret_count)
{
  g_autofree char *path = g_build_filename (fixture->scratch, "copies", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  guint64 total = 0;
  *ret_count = 0;
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *file = g_build_filename (path, name, NULL);
    struct stat st;
    if (stat (file, &st) < 0 || !S_ISREG (st.st_mode))
      continue;
    total += (guint64)st.st_size;
    ++*ret_count;
  }
  return total;
}

static void
test_copies (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  const gsize bytes = 3 * MIB;
  g_autofree char *text = g_malloc (bytes);
  char *keys[5];
  guint count;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    memset (text, 'a' + (int)i, bytes);
    keys[i] = blob_key ("copy");
    g_assert_true (blob_put (fixture->blobs, TRUE, keys[i], text, bytes, NULL));
    blob_assert (fixture->blobs, keys[i], text, bytes);
    g_assert_cmpuint (count_copies (fixture, &count), <=, CACHE_BYTES);
  }
  g_assert_cmpuint (count, >=, 1);

  /* What is here needs no server, and nobody can write to it. */
  struct blobs *hasty = open_blobs (fixture, fixture->url, HASTY_MS);
  tell ("down");
  blob_assert (hasty, keys[4], text, bytes);
  g_autofree char *sha256 = blob_digest (text, bytes);
  autoclose int fd = blobs_get (hasty, keys[4], bytes, sha256, NULL);
  g_assert_cmpint (write (fd, "x", 1), ==, -1);
  tell ("up");
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    g_free (keys[i]);
  blobs_close (hasty);
}

/* What has another digest than it had is not given to anybody. */
static void
test_damaged (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = blob_key ("damaged"), *sha256 = blob_digest ("other", 5);
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "these", 5, NULL));
  g_assert_cmpint (blobs_get (fixture->blobs, key, 5, sha256, &error), ==, -1);
  assert_says (&error, "damaged");
}

/* ---- what is wrong with it ---- */

#define GOT_BYTES 100 /* that a server is asked for */

/* Those behind OPERATIONS are tried where a test says so. */
enum operation { PUT, GET, READ, STAT, REMOVE, LIST, OPERATIONS, LARGE, SWEEP };

static gboolean
ignore_key (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED const char *key, G_GNUC_UNUSED guint64 bytes,
            G_GNUC_UNUSED gint64 made_ms)
{
  return TRUE;
}

static gboolean
operate (struct blobs *blobs, enum operation operation, const char *key, GError **error)
{
  char byte;
  switch (operation) {
  case PUT:
    return blob_put (blobs, TRUE, key, "text", 4, error);
  case GET: {
    autoclose int fd = blobs_get (blobs, key, GOT_BYTES, NULL, error);
    return fd >= 0;
  }
  case READ:
    return blobs_read (blobs, key, 0, &byte, 1, error) >= 0;
  case STAT:
    return blobs_stat (blobs, key, NULL, error);
  case REMOVE:
    return blobs_remove (blobs, key, error);
  case LARGE: { /* in parts */
    autoclose int fd = make_large (NULL, 65 * MIB);
    g_autofree char *sha256 = blob_digest ("", 0);
    return blobs_put (blobs, key, fd, 65 * MIB, sha256, "text/plain", error);
  }
  case SWEEP: {
    guint removed = 0;
    gboolean ok = blobs_sweep (blobs, &removed, error);
    g_assert_cmpuint (removed, ==, 0);
    return ok;
  }
  default:
    return blobs_list (blobs, ignore_key, NULL, error);
  }
}

static void
assert_all_say (const struct fixture *fixture, const char *url, guint64 timeout_ms, const char *what)
{
  struct blobs *blobs = open_blobs (fixture, url, timeout_ms);
  g_autofree char *key = blob_key ("wrong");
  for (guint i = 0; i < OPERATIONS; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (operate (blobs, i, key, &error));
    g_assert_false (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND));
    assert_says (&error, what);
  }
  blobs_close (blobs);
}

static void
test_no_bucket (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *url = replace (fixture->url, "s3://", "s3://no-such-");
  struct blobs *blobs = open_blobs (fixture, url, PATIENT_MS);
  g_autofree char *key = blob_key ("wrong");
  for (guint i = 0; i < OPERATIONS; i++) {
    g_autoptr (GError) error = NULL;
    /* What is not there, some servers have removed. */
    if (i == REMOVE)
      continue;
    g_assert_false (operate (blobs, i, key, &error));
    g_assert_cmpint (error->code, ==, ADDER_ERROR_UNAVAILABLE);
    assert_says (&error, "the bucket does not exist: create it");
  }
  blobs_close (blobs);
}

/* Another file of keys. */
static char *
with_keys (const struct fixture *fixture, const char *text, int mode)
{
  g_autofree char *path = g_build_filename (fixture->path, "keys", NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (chmod (path, (mode_t)mode), ==, 0);
  g_auto (GStrv) parts = g_strsplit (fixture->url, "&credentials=", 2);
  return g_strconcat (parts[0], "&credentials=", path, NULL);
}

static void
test_keys (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *text;
    int mode;
    const char *says; /* of HEAD too, which has no words */
  } rows[] = {
      {"aws_access_key_id=nobody\naws_secret_access_key=" SECRET, 0600, "the access key"},
      {"aws_access_key_id=adder\naws_secret_access_key=wrong", 0600, "key is wrong"},
      {"aws_access_key_id=adder\n", 0600, "there are no keys for S3 in /"},
      {"", 0600, "there are no keys for S3 in /"},
      {"AWS_ACCESS_KEY_ID = adder\nAWS_SECRET_ACCESS_KEY = a b\n", 0600, "there are no keys for S3 in /"},
      {"aws_access_key_id=adder\naws_secret_access_key=" SECRET, 0644, "chmod 0600"},
      {"aws_access_key_id=adder\naws_secret_access_key=" SECRET "\naws_session_token=a b", 0600,
       "there are no keys for S3 in /"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *url = with_keys (fixture, rows[i].text, rows[i].mode);
    assert_all_say (fixture, url, PATIENT_MS, rows[i].says);
  }
  g_autofree char *missing = g_strconcat (fixture->url, ".none", NULL);
  assert_all_say (fixture, missing, PATIENT_MS, "is not there");
  /* Keys that are put right count at once. */
  g_autofree char *url = with_keys (fixture, "aws_access_key_id=adder\naws_secret_access_key=old", 0600);
  struct blobs *blobs = open_blobs (fixture, url, PATIENT_MS);
  g_autofree char *key = blob_key ("kept");
  g_autoptr (GError) error = NULL;
  g_assert_false (operate (blobs, PUT, key, &error));
  assert_says (&error, "the secret key is wrong");
  g_autofree char *same =
      with_keys (fixture, "[x]\n aws_access_key_id = adder\n aws_secret_access_key = " SECRET "\n", 0600);
  g_assert_cmpstr (same, ==, url);
  g_assert_true (operate (blobs, PUT, key, NULL));
  blobs_close (blobs);
}

static void
test_no_rights (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *url =
      with_keys (fixture, "aws_access_key_id=reader\naws_secret_access_key=sesame-look", 0600);
  struct blobs *blobs = open_blobs (fixture, url, PATIENT_MS);
  g_autofree char *key = blob_key ("kept");
  g_autoptr (GError) error = NULL;
  g_assert_true (operate (fixture->blobs, PUT, key, NULL));
  g_assert_true (operate (blobs, READ, key, NULL));
  g_assert_true (operate (blobs, LIST, key, NULL));
  g_assert_false (operate (blobs, REMOVE, key, &error));
  assert_says (&error, "the access key has no right to do that");
  g_autofree char *new_key = blob_key ("new");
  g_assert_false (operate (blobs, PUT, new_key, &error));
  assert_says (&error, "the access key has no right to do that");
  blobs_close (blobs);
}

static void
test_not_tls (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *url = replace (fixture->url, "http://", "https://");
  assert_all_say (fixture, url, PATIENT_MS, "TLS cannot be agreed on");
}

/* ---- servers that go away ---- */

static void
test_down (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("acknowledged"), *late = blob_key ("late");
  struct blobs *blobs = open_blobs (fixture, fixture->url, HASTY_MS);
  g_autoptr (GError) error = NULL;
  g_assert_true (operate (fixture->blobs, PUT, key, NULL));
  tell ("down");
  for (guint i = 0; i < OPERATIONS; i++) {
    g_assert_false (operate (blobs, i, late, &error));
    assert_says (&error, "nothing answers there");
  }
  tell ("up");
  /* It is found again without anybody's doing; what was kept is still there. */
  while (!operate (blobs, PUT, late, &error)) {
    g_assert_cmpint (error->code, ==, ADDER_ERROR_FAILED);
    g_clear_error (&error);
    g_usleep (10000);
    /* The server may have kept it, and answered too late. */
    g_free (late);
    late = blob_key ("late");
  }
  blobs_close (blobs);
  blobs = open_blobs (fixture, fixture->url, PATIENT_MS);
  blob_assert (blobs, key, "text", 4);
  blob_assert (blobs, late, "text", 4);
  blobs_close (blobs);
}

static void
test_frozen (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("kept"), *late = blob_key ("late");
  struct blobs *blobs = open_blobs (fixture, fixture->url, HASTY_MS);
  g_autoptr (GError) error = NULL;
  g_assert_true (operate (fixture->blobs, PUT, key, NULL));
  tell ("freeze");
  for (guint i = 0; i < OPERATIONS; i++) {
    g_assert_false (operate (blobs, i, late, &error));
    assert_says (&error, "does not answer in time");
  }
  tell ("thaw");
  while (!operate (blobs, STAT, key, &error)) {
    g_assert_cmpint (error->code, ==, ADDER_ERROR_UNAVAILABLE);
    g_clear_error (&error);
    g_usleep (10000);
  }
  blobs_close (blobs);
}

struct putting {
  struct blobs *blobs;
  GMutex lock;
  GPtrArray *kept;
  gint stop, lost; /* atomic */
};

static gpointer
put_until_lost (gpointer data)
{
  struct putting *putting = data;
  g_autofree char *text = g_malloc0 (2 * MIB);
  while (!g_atomic_int_get (&putting->stop)) {
    char *key = blob_key ("put");
    if (blob_put (putting->blobs, TRUE, key, text, 2 * MIB, NULL)) {
      g_mutex_lock (&putting->lock);
      g_ptr_array_add (putting->kept, key);
      g_mutex_unlock (&putting->lock);
    } else {
      g_atomic_int_set (&putting->lost, TRUE);
      g_free (key);
    }
  }
  return NULL;
}

/* Ended in the middle of puts: what was acknowledged is there, and what is there is whole. */
static void
test_killed (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct putting putting = {.blobs = open_blobs (fixture, fixture->url, HASTY_MS)};
  putting.kept = g_ptr_array_new_with_free_func (g_free);
  g_mutex_init (&putting.lock);
  GThread *threads[3];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("put", put_until_lost, &putting);
  for (guint kept = 0; kept < 10;) {
    g_usleep (1000);
    g_mutex_lock (&putting.lock);
    kept = putting.kept->len;
    g_mutex_unlock (&putting.lock);
  }
  tell ("down");
  while (!g_atomic_int_get (&putting.lost))
    g_usleep (1000);
  g_atomic_int_set (&putting.stop, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  tell ("up");

  g_autofree char *text = g_malloc0 (2 * MIB);
  g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
  for (guint i = 0; i < putting.kept->len; i++)
    g_assert_true (g_hash_table_contains (keys, putting.kept->pdata[i]));
  GHashTableIter iter;
  gpointer key, bytes;
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &bytes)) {
    g_assert_cmpuint (GPOINTER_TO_UINT (bytes), ==, 2 * MIB + 1);
    blob_assert (fixture->blobs, key, text, 2 * MIB);
  }
  g_ptr_array_unref (putting.kept);
  g_mutex_clear (&putting.lock);
  blobs_close (putting.blobs);
}

/* ---- servers that say anything ---- */

#define XML      "<?xml version=\"1.0\"?>"
#define OK(body) "HTTP/1.1 200 OK\r\n\r\n" body
#define NO(status, code)                                                                                     \
  "HTTP/1.1 " status "\r\nContent-Type: application/xml\r\n\r\n" XML "<Error><Code>" code                    \
  "</Code><Message>some\x07thing\nelse</Message></Error>"
#define DEEP "<a><a><a><a><a><a><a><a><a><a><a><a><a>"

static const struct answer {
  const char *name, *reply;
  enum operation operation;
  const char *says; /* NULL: it goes well */
} answers[] = {
    {"nothing", "", GET, "ends connections"},
    {"garbage", "hello\r\n\r\n", GET, "not an S3 server"},
    {"cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", GET, "ends connections"},
    {"longer", "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\nabc", GET, "more bytes than it had"},
    {"shorter", OK ("abc"), GET, "not the 100 bytes"},
    {"no_xml", OK ("it works"), LIST, "not that of an S3 server"},
    {"no_element", OK ("<?xml version=\"1.0\"?><!-- nothing -->"), LIST, "there is nothing in it"},
    {"half_xml", OK (XML "<ListBucketResult><Cont"), LIST, "not that of an S3 server"},
    {"other_xml", OK (XML "<html><body>welcome</body></html>"), LIST, "makes no sense"},
    {"deep", OK (DEEP), LIST, "too much"},
    {"entities", OK ("<!DOCTYPE a [<!ENTITY b \"bb\">]><a>&b;</a>"), LIST, "not that of an S3 server"},
    {"no_token", OK ("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"), LIST,
     "makes no sense"},
    {"one_token",
     OK ("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
         "</ListBucketResult>"),
     LIST, "makes no sense"},
    {"odd_items",
     OK ("<ListBucketResult><Contents><Key>generated/../../etc/passwd</Key><Size>1</Size></"
         "Contents><Contents>"
         "<Size>1</Size></Contents><Contents><Key>generated/x</Key><Size>-1</Size></Contents><Contents>"
         "<Key>generated/&#10;</Key><Size>1</Size></Contents></ListBucketResult>"),
     LIST, NULL},
    {"elsewhere", NO ("301 Moved", "PermanentRedirect"), PUT, "in another region"},
    {"redirect", "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\n\r\n", PUT, "the bucket is elsewhere"},
    {"clock", NO ("403 Forbidden", "RequestTimeTooSkewed"), PUT, "clocks"},
    {"full", NO ("507 Full", "XMinioStorageFull"), PUT, "disk is full"},
    {"busy", NO ("503 Busy", "SlowDown"), PUT, "too busy"},
    {"broken", NO ("500 Oh", "InternalError"), PUT, "fault of its own"},
    {"unknown", NO ("418 Teapot", "Teapot"), PUT, "418, some\\x07thing\\x0aelse"},
    {"not_found", NO ("404 No", "NoSuchKey"), GET, "there is no such file"},
    {"no_bytes", OK (""), READ, NULL},
    {"expired", NO ("400 Bad", "ExpiredToken"), PUT, "the keys have expired"},
    {"region", NO ("400 Bad", "AuthorizationHeaderMalformed"), PUT, "the region is wrong"},
    {"word_alone", "HTTP/1.1 418 Teapot\r\n\r\n<Error><Code>Kettle</Code></Error>", PUT, "418, Kettle"},
    {"no_word", "HTTP/1.1 418 Teapot\r\n\r\n<Error></Error>", PUT, "418, it does not say why"},
    {"not_its_word", "HTTP/1.1 403 No\r\n\r\n<html><Code>SlowDown</Code></html>", PUT,
     "the access key is wrong or has no right"},
    {"bucket_gone", NO ("404 No", "NoSuchBucket"), GET, "the bucket does not exist"},
    {"taken", NO ("412 No", "PreconditionFailed"), PUT, "there is one already"},
    {"upload_no_xml", OK ("yes"), LARGE, "not that of an S3 server"},
    {"upload_no_id", OK ("<InitiateMultipartUploadResult/>"), LARGE, "the answer names no upload"},
    {"upload_refused", NO ("403 No", "AccessDenied"), LARGE, "no right to do that"},
    {"sweep_no_xml", OK ("yes"), SWEEP, "not that of an S3 server"},
    {"sweep_refused", NO ("403 No", "AccessDenied"), SWEEP, "no right to do that"},
    {"sweep_odd_items",
     OK ("<ListMultipartUploadsResult><Upload><UploadId>1</UploadId></Upload><Upload><Key>other/x</Key>"
         "<UploadId>1</UploadId></Upload><Upload><Key>output/x</Key></Upload></ListMultipartUploadsResult>"),
     SWEEP, NULL},
};

struct double_server {
  int fd;
  char *url;
  const char *reply;
  const char *const *script; /* instead: an answer for each connection, of which the last one stays */
  gboolean trickles;         /* goes on with blanks, one at a time, until nobody listens any more */
  GThread *thread;
};

static gpointer
answer_all (gpointer data)
{
  struct double_server *server = data;
  for (int fd; (fd = accept4 (server->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; close (fd)) {
    char request[8192];
    gsize have = 0;
    for (gssize got; have < sizeof request && (got = read (fd, request + have, sizeof request - have)) > 0;) {
      have += (gsize)got;
      if (memmem (request, have, "\r\n\r\n", 4))
        break;
    }
    /* The keys' secret is sent to nobody. */
    g_assert_null (memmem (request, have, SECRET, strlen (SECRET)));
    const char *reply = server->script ? *server->script : server->reply;
    if (server->script && server->script[1])
      server->script++;
    send (fd, reply, strlen (reply), MSG_NOSIGNAL);
    while (server->trickles && send (fd, " ", 1, MSG_NOSIGNAL) == 1)
      g_usleep (5000);
    shutdown (fd, SHUT_WR);
    while (read (fd, request, sizeof request) > 0)
      ;
  }
  return NULL;
}

static void
double_start (struct double_server *server, const struct fixture *fixture, const char *reply)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  server->reply = reply;
  server->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (server->fd, (struct sockaddr *)&address, size), ==, 0);
  g_assert_cmpint (listen (server->fd, 64), ==, 0);
  g_assert_cmpint (getsockname (server->fd, (struct sockaddr *)&address, &size), ==, 0);
  server->url = g_strdup_printf ("s3://double?endpoint=http://127.0.0.1:%u&credentials=%s/keys",
                                 ntohs (address.sin_port), fixture->path);
  server->thread = g_thread_new ("double", answer_all, server);
}

static void
double_stop (struct double_server *server)
{
  shutdown (server->fd, SHUT_RDWR);
  g_thread_join (server->thread);
  close (server->fd);
  g_free (server->url);
}

static void
test_answer (struct fixture *fixture, gconstpointer data)
{
  const struct answer *answer = data;
  /* Those after which it is tried again until the time is over. */
  static const char *const endless[] = {"nothing", "cut", "busy", "broken", NULL};
  guint64 timeout_ms = g_strv_contains (endless, answer->name) ? HASTY_MS : PATIENT_MS;
  struct double_server server = {0};
  double_start (&server, fixture, answer->reply);
  struct blobs *blobs = open_blobs (fixture, server.url, timeout_ms);
  g_autofree char *key = blob_key ("key");
  g_autoptr (GError) error = NULL;
  gboolean ok = operate (blobs, answer->operation, key, &error);
  if (answer->says) {
    g_assert_false (ok);
    assert_says (&error, answer->says);
  } else {
    g_assert_no_error (error);
  }
  blobs_close (blobs);
  double_stop (&server);
}

/* Of a put whose answer was lost, the one after it finds the file there: it is ours when it has our digest.
 */
static void
test_lost_answer (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *sha256 = blob_digest ("text", 4);
  g_autofree char *ours = g_strconcat (
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-amz-meta-adder-sha256: ", sha256, "\r\n\r\n", NULL);
  g_autofree char *longer = g_strconcat (
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-amz-meta-adder-sha256: ", sha256, "\r\n\r\n", NULL);
  const struct {
    const char *found;
    gboolean ok;
  } rows[] = {
      {ours, TRUE},
      {longer, FALSE},
      {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-amz-meta-adder-sha256: 00\r\n\r\n", FALSE},
      {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", FALSE},
      {"HTTP/1.1 404 No\r\n\r\n", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const script[] = {"", NO ("412 No", "PreconditionFailed"), rows[i].found, NULL};
    struct double_server server = {.script = script};
    double_start (&server, fixture, NULL);
    struct blobs *blobs = open_blobs (fixture, server.url, PATIENT_MS);
    g_autofree char *key = blob_key ("key");
    g_autoptr (GError) error = NULL;
    g_assert_cmpint (operate (blobs, PUT, key, &error), ==, rows[i].ok);
    if (!rows[i].ok)
      assert_says (&error, "there is one already");
    blobs_close (blobs);
    double_stop (&server);
  }
}

/* Parts of an upload go when they are a day old; those of others stay. */
static void
test_old_parts (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const char upload[] =
      "<Upload><Key>%s</Key><UploadId>a b</UploadId><Initiated>%s</Initiated></Upload>";
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *young = g_date_time_format_iso8601 (now);
  g_autoptr (GString) reply =
      g_string_new (OK ("<ListMultipartUploadsResult><EncodingType>url</EncodingType>"));
  g_string_append_printf (reply, upload, "output/old+and%20odd", "2026-01-01T00:00:00.000Z");
  g_string_append_printf (reply, upload, "output/young", young);
  g_string_append_printf (reply, upload, "of/others", "2026-01-01T00:00:00.000Z");
  g_string_append_printf (reply, upload, "output/%zz", "2026-01-01T00:00:00.000Z");
  g_string_append (reply, "</ListMultipartUploadsResult>");
  struct double_server server = {0};
  double_start (&server, fixture, reply->str);
  struct blobs *blobs = open_blobs (fixture, server.url, PATIENT_MS);
  g_autoptr (GError) error = NULL;
  guint removed = 0;
  blobs_sweep (blobs, &removed, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (removed, ==, 1);
  blobs_close (blobs);
  double_stop (&server);
}

/* A folder for copies that others may write to would be theirs. */
static void
test_no_copies (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const char url[] = "s3://bucket?endpoint=http://127.0.0.1:1";
  g_autofree char *copies = g_build_filename (fixture->scratch, "copies", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (g_mkdir_with_parents (copies, 0700), ==, 0);
  g_assert_cmpint (chmod (copies, 0770), ==, 0);
  g_assert_null (blobs_open (url, fixture->scratch, CACHE_BYTES, HASTY_MS, &error));
  assert_says (&error, "is not ours alone");
  g_assert_cmpint (rmdir (copies), ==, 0);
  g_assert_cmpint (symlink (fixture->path, copies), ==, 0);
  g_assert_null (blobs_open (url, fixture->scratch, CACHE_BYTES, HASTY_MS, &error));
  assert_says (&error, "cannot open the directory");
  g_assert_cmpint (unlink (copies), ==, 0);
  g_assert_true (g_file_set_contents (copies, "", 0, NULL));
  g_assert_null (blobs_open (url, fixture->scratch, CACHE_BYTES, HASTY_MS, &error));
  assert_says (&error, "cannot make the directory");
}

/* Without a file of keys they are the daemon's own. */
static void
test_environment (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};
  static const struct {
    const char *values[G_N_ELEMENTS (names)];
    const char *says; /* NULL: the server is asked */
  } rows[] = {
      {{NULL, NULL, NULL}, "there are no keys for S3 in the environment of the daemon"},
      {{"adder", NULL, NULL}, "there are no keys for S3 in the environment of the daemon"},
      {{"adder", SECRET, "two words"}, "there are no keys for S3 in the environment of the daemon"},
      {{"adder", SECRET, ""}, NULL},
      {{"adder", SECRET, "token"}, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    for (gsize j = 0; j < G_N_ELEMENTS (names); j++)
      if (rows[i].values[j])
        g_setenv (names[j], rows[i].values[j], TRUE);
      else
        g_unsetenv (names[j]);
    struct double_server server = {0};
    double_start (&server, fixture, OK (""));
    g_autofree char *url = g_strndup (server.url, strcspn (server.url, "&"));
    struct blobs *blobs = open_blobs (fixture, url, HASTY_MS);
    g_autofree char *key = blob_key ("key");
    g_autoptr (GError) error = NULL;
    g_assert_cmpint (operate (blobs, READ, key, &error), ==, rows[i].says == NULL);
    if (rows[i].says)
      assert_says (&error, rows[i].says);
    blobs_close (blobs);
    double_stop (&server);
  }
  for (gsize j = 0; j < G_N_ELEMENTS (names); j++)
    g_unsetenv (names[j]);
}

/* A server that knows no ranges sends all. */
static void
test_no_ranges (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct double_server server = {0};
  double_start (&server, fixture, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
  struct blobs *blobs = open_blobs (fixture, server.url, PATIENT_MS);
  g_autofree char *key = blob_key ("key");
  char buffer[16];
  g_assert_cmpint (blobs_read (blobs, key, 3, buffer, 4, NULL), ==, 4);
  g_assert_cmpmem (buffer, 4, "3456", 4);
  g_assert_cmpint (blobs_read (blobs, key, 8, buffer, 16, NULL), ==, 2);
  g_assert_cmpint (blobs_read (blobs, key, 20, buffer, 16, NULL), ==, 0);
  blobs_close (blobs);
  double_stop (&server);
}

/* Text without an end is not taken. */
static void
test_endless (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct double_server server = {0};
  g_autofree char *space = g_strnfill (20 * MIB, ' '), *reply = g_strconcat (OK ("<a>"), space, NULL);
  double_start (&server, fixture, reply);
  struct blobs *blobs = open_blobs (fixture, server.url, PATIENT_MS);
  g_autoptr (GError) error = NULL;
  g_assert_false (operate (blobs, LIST, "", &error));
  assert_says (&error, "too long");
  blobs_close (blobs);
  double_stop (&server);
}

/* Words that never end are no progress, whether they are a yes or a no. */
static void
test_trickle (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const replies[] = {OK ("<a>"), NO ("403 Forbidden", "AccessDenied")};
  static const enum operation operations[] = {PUT, LIST};
  for (guint i = 0; i < G_N_ELEMENTS (replies) * G_N_ELEMENTS (operations); i++) {
    struct double_server server = {.trickles = TRUE};
    double_start (&server, fixture, replies[i / 2]);
    struct blobs *blobs = open_blobs (fixture, server.url, HASTY_MS);
    g_autofree char *key = blob_key ("key");
    g_autoptr (GError) error = NULL;
    g_assert_false (operate (blobs, operations[i % 2], key, &error));
    assert_says (&error, "does not answer in time");
    blobs_close (blobs);
    double_stop (&server);
  }
}

/* A content that goes on behind the bytes that it has fills no disk, nor is anything of it kept. */
static void
test_overlong (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct double_server server = {.trickles = TRUE};
  double_start (&server, fixture, OK (""));
  struct blobs *blobs = open_blobs (fixture, server.url, PATIENT_MS);
  g_autofree char *key = blob_key ("key");
  g_autoptr (GError) error = NULL;
  guint count;
  g_assert_false (operate (blobs, GET, key, &error));
  assert_says (&error, "more bytes than it had");
  g_assert_cmpuint (count_copies (fixture, &count), ==, 0);
  blobs_close (blobs);
  double_stop (&server);
}

/* ---- URLs ---- */

static void
test_urls (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *url, *says; /* NULL: it is one */
  } rows[] = {
      {"s3://bucket", NULL},
      {"s3://my.bucket-1/a/b/?region=eu-central-1", NULL},
      {"s3://bucket?endpoint=https://[::1]:9000/", NULL},
      {"s3://", "cannot be a bucket"},
      {"s3://ab", "cannot be a bucket"},
      {"s3://Bucket", "cannot be a bucket"},
      {"s3://bu cket", "cannot be a bucket"},
      {"s3://bucket/../x", "is not allowed after the bucket"},
      {"s3://bucket/a b", "is not allowed after the bucket"},
      {"s3://bucket/a//b", "is not allowed after the bucket"},
      {"s3://bucket/a/./b", "is not allowed after the bucket"},
      {"s3://bucket/.", "is not allowed after the bucket"},
      {"s3://bucket?endpoint=ftp://host", "must be https://HOST:PORT"},
      {"s3://bucket?endpoint=http://user:word@host", "must be https://HOST:PORT"},
      {"s3://bucket?endpoint=http://host/path", "must be https://HOST:PORT"},
      {"s3://bucket?endpoint=", "must be https://HOST:PORT"},
      {"s3://bucket?region=a%0ab", "is invalid"},
      {"s3://bucket?credentials=keys", "absolute path"},
      {"s3://bucket?ca=keys", "absolute path"},
      {"s3://bucket?secret=x", "has no parameter secret"},
      {"s3://bucket?region=a&region=b", "stands twice"},
      {"s3://bucket?region=%zz", "cannot be read"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    struct blobs *blobs = blobs_open (rows[i].url, fixture->scratch, CACHE_BYTES, HASTY_MS, &error);
    if (!rows[i].says) {
      g_assert_no_error (error);
      blobs_close (blobs);
      continue;
    }
    g_assert_null (blobs);
    g_assert_cmpint (error->code, ==, ADDER_ERROR_INVALID);
    assert_says (&error, rows[i].says);
  }
}

/* ---- a slow way ---- */

#define SLOW_MS         3000
#define SLOW_BYTES      (6 * MIB)
#define SLOW_STEP_BYTES ((gsize)48 << 10)
#define SLOW_STEP_US    50000 /* it takes some six seconds in all, and a step much less than SLOW_MS */

/* Stands between the store and the server, for one connection. */
struct narrow_way {
  int listener, client, server;
};

static int
narrow_connect (guint16 port)
{
  const struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons (port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (connect (fd, (const struct sockaddr *)&to, sizeof to), ==, 0);
  return fd;
}

static gpointer
narrow_back (gpointer data)
{
  const struct narrow_way *way = data;
  char bytes[4096];
  for (gssize got; (got = read (way->server, bytes, sizeof bytes)) > 0;)
    if (fd_write_all (way->client, bytes, (gsize)got) < 0)
      break;
  shutdown (way->client, SHUT_RDWR);
  return NULL;
}

static gpointer
narrow_there (gpointer data)
{
  struct narrow_way *way = data;
  g_autofree char *bytes = g_malloc (SLOW_STEP_BYTES);
  way->client = accept (way->listener, NULL, NULL);
  GThread *back = g_thread_new ("back", narrow_back, way);
  for (gssize got; (got = read (way->client, bytes, SLOW_STEP_BYTES)) > 0; g_usleep (SLOW_STEP_US))
    if (fd_write_all (way->server, bytes, (gsize)got) < 0)
      break;
  shutdown (way->server, SHUT_RDWR);
  g_thread_join (back);
  return NULL;
}

/* The kernel takes what is sent at once, and it goes out for longer than the store waits for a step. */
static void
test_slow_way (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t length = sizeof here;
  const int room = 16384;
  const char *port = strstr (fixture->url, "127.0.0.1:") + strlen ("127.0.0.1:");
  struct narrow_way way = {.listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  g_assert_cmpint (setsockopt (way.listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), ==, 0);
  g_assert_cmpint (bind (way.listener, (struct sockaddr *)&here, length), ==, 0);
  g_assert_cmpint (listen (way.listener, 1), ==, 0);
  g_assert_cmpint (getsockname (way.listener, (struct sockaddr *)&here, &length), ==, 0);
  way.server = narrow_connect ((guint16)g_ascii_strtoull (port, NULL, 10));
  GThread *there = g_thread_new ("there", narrow_there, &way);

  g_autofree char *old = g_strndup (port, strspn (port, "0123456789"));
  g_autofree char *new = g_strdup_printf ("127.0.0.1:%u", ntohs (here.sin_port));
  g_autofree char *from = g_strconcat ("127.0.0.1:", old, NULL);
  g_autofree char *url = replace (fixture->url, from, new);
  struct blobs *blobs = open_blobs (fixture, url, SLOW_MS);
  autoclose int fd = make_large (blobs, SLOW_BYTES);
  g_autofree char *key = blob_key ("slow"), *sha256 = digest_file (fd, SLOW_BYTES);
  g_autoptr (GError) error = NULL;
  gint64 begun_us = g_get_monotonic_time ();
  blobs_put (blobs, key, fd, SLOW_BYTES, sha256, "text/plain", &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - begun_us, >, SLOW_MS * 1000);
  blobs_close (blobs);
  g_thread_join (there);
  close (way.client);
  close (way.server);
  close (way.listener);
}

struct test {
  const char *name;
  void (*run) (struct fixture *, gconstpointer);
};

static const struct test server_tests[] = {
    {"parts", test_parts},       {"prefix", test_prefix},       {"pages", test_pages},
    {"copies", test_copies},     {"damaged", test_damaged},     {"no_bucket", test_no_bucket},
    {"keys", test_keys},         {"no_rights", test_no_rights}, {"not_tls", test_not_tls},
    {"down", test_down},         {"frozen", test_frozen},       {"killed", test_killed},
    {"slow_way", test_slow_way},
};

static const struct test alone_tests[] = {
    {"no_ranges", test_no_ranges}, {"endless", test_endless},         {"trickle", test_trickle},
    {"overlong", test_overlong},   {"environment", test_environment}, {"lost_answer", test_lost_answer},
    {"no_copies", test_no_copies}, {"old_parts", test_old_parts},     {"urls", test_urls}};

/* A test whose server the host does not have is skipped. */
static void
run_test (struct fixture *fixture, gconstpointer data)
{
  if (fixture->blobs)
    ((const struct test *)data)->run (fixture, NULL);
}

UNIT_SUITE (store_s3)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (server_tests); i++) {
    g_autofree char *path = g_strconcat ("/store/s3/", server_tests[i].name, NULL);
    g_test_add (path, struct fixture, &server_tests[i], set_up, run_test, tear_down);
  }
  for (guint i = 0; i < G_N_ELEMENTS (alone_tests); i++) {
    g_autofree char *path = g_strconcat ("/store/s3/alone/", alone_tests[i].name, NULL);
    g_test_add (path, struct fixture, NULL, set_up_alone, alone_tests[i].run, tear_down);
  }
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++) {
    g_autofree char *path = g_strconcat ("/store/s3/answers/", answers[i].name, NULL);
    g_test_add (path, struct fixture, &answers[i], set_up_alone, test_answer, tear_down);
  }
  return g_test_run ();
}
