/* SPDX-License-Identifier: Apache-2.0 */
#include "blob_support.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "adder.h"
#include "base/fd.h"
#include "engine/host/id.h"

/* "generated/UUID_NAME", the caller's. */
char *
blob_key (const char *name)
{
  char id[ID_BYTES];
  id_make (id);
  return g_strdup_printf ("generated/%s_%s", id, name);
}

char *
blob_digest (const void *data, gsize length)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, data, length);
}

/* A file without a name, of blobs_create or of somebody else. */
int
blob_file (struct blobs *blobs, const void *data, gsize length)
{
  int fd = blobs ? blobs_create (blobs, NULL) : memfd_create ("foreign", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fd_write_all (fd, data, length), ==, 0);
  return fd;
}

gboolean
blob_put (struct blobs *blobs, gboolean own, const char *key, const void *data, gsize length, GError **error)
{
  g_autofree char *sha256 = blob_digest (data, length);
  autoclose int fd = blob_file (own ? blobs : NULL, data, length);
  return blobs_put (blobs, key, fd, length, sha256, "text/plain", error);
}

void
blob_assert (struct blobs *blobs, const char *key, const void *data, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = blob_digest (data, length), *found = g_malloc (length + 1);
  autoclose int fd = blobs_get (blobs, key, length, sha256, &error);
  g_assert_no_error (error);
  struct stat st;
  g_assert_cmpint (fstat (fd, &st), ==, 0);
  g_assert_cmpuint ((guint64)st.st_size, ==, length);
  g_assert_cmpint (fd_read_all (fd, found, length), ==, 0);
  g_assert_cmpmem (found, length, data, length);
}

static gboolean
count_key (gpointer data, const char *key, guint64 bytes, gint64 made_ms)
{
  GHashTable *keys = data;
  g_assert_cmpint (made_ms, >, 0);
  g_assert_true (g_hash_table_insert (keys, g_strdup (key), GUINT_TO_POINTER (bytes + 1)));
  return TRUE;
}

/* Key to its bytes and one, the caller's. */
GHashTable *
blob_list (struct blobs *blobs)
{
  g_autoptr (GError) error = NULL;
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  blobs_list (blobs, count_key, keys, &error);
  g_assert_no_error (error);
  return keys;
}

void
blob_assert_code (const GError *error, int code)
{
  g_assert_error (error, ADDER_ERROR, code);
}
