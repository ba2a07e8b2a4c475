/* SPDX-License-Identifier: Apache-2.0 */
/* The back end for a URL, and what is common to all of them. */
#include "store/blobs.h"

#include <string.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/text.h"
#include "store/blobs_private.h"

#define DIGEST_LETTERS 64

static gboolean
blobs_check_key (const char *key, GError **error)
{
  if (blob_key_is_good (key))
    return TRUE;
  g_autofree char *shown = text_one_line (key, -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s names no file of the store", shown);
  return FALSE;
}

static gboolean
check_digest (const char *sha256, GError **error)
{
  if (strlen (sha256) == DIGEST_LETTERS && strspn (sha256, "0123456789abcdef") == DIGEST_LETTERS)
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the SHA-256 of a file is invalid");
  return FALSE;
}

/* For URL; PLACE gets the part after its scheme. */
static const struct blobs_backend *
blobs_find_backend (const char *url, struct blobs_place *place, GError **error)
{
  if (g_str_has_prefix (url, "directory:")) {
    place->rest = url + strlen ("directory:");
    return &blobs_directory;
  }
  if (g_str_has_prefix (url, "s3://")) {
    place->rest = url + strlen ("s3://");
    return &blobs_s3;
  }
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                       "[store] blobs must be `directory`, `directory:/path`, `s3://bucket?...` or `none`");
  return NULL;
}

struct blobs *
blobs_open (const char *url, const char *scratch, guint64 cache_bytes, guint64 timeout_ms, GError **error)
{
  struct blobs_place place = {.scratch = scratch, .cache_bytes = cache_bytes, .timeout_ms = timeout_ms};
  const struct blobs_backend *backend = blobs_find_backend (url, &place, error);
  gpointer self = backend ? backend->open (&place, error) : NULL;
  if (!self)
    return NULL;
  struct blobs *blobs = g_new (struct blobs, 1);
  *blobs = (struct blobs){.backend = backend, .self = self};
  return blobs;
}

void
blobs_close (struct blobs *blobs)
{
  if (!blobs)
    return;
  blobs->backend->close (blobs->self);
  g_free (blobs);
}

int
blobs_create (struct blobs *blobs, GError **error)
{
  return blobs->backend->create (blobs->self, error);
}

gboolean
blobs_put (struct blobs *blobs, const char *key, int fd, guint64 bytes, const char *sha256, const char *mime,
           GError **error)
{
  return blobs_check_key (key, error) && check_digest (sha256, error) &&
         blobs->backend->put (blobs->self, key, fd, bytes, sha256, mime, error);
}

/* What has another length has another digest as well, which a directory does not look at. */
int
blobs_get (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256, GError **error)
{
  if (!blobs_check_key (key, error) || (sha256 && !check_digest (sha256, error)))
    return -1;
  autoclose int fd = blobs->backend->get (blobs->self, key, bytes, sha256, error);
  struct stat st;
  if (fd < 0 || (fstat (fd, &st) == 0 && (guint64)st.st_size == bytes))
    return fd_steal (&fd);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "%s is damaged: it has not the %" G_GUINT64_FORMAT " bytes that it had", key, bytes);
  return -1;
}

gssize
blobs_read (struct blobs *blobs, const char *key, guint64 offset, void *buffer, gsize length, GError **error)
{
  if (!blobs_check_key (key, error))
    return -1;
  if (length == 0 || offset > G_MAXINT64)
    return 0;
  return blobs->backend->read (blobs->self, key, offset, buffer, MIN (length, G_MAXINT32), error);
}

gboolean
blobs_stat (struct blobs *blobs, const char *key, guint64 *ret_bytes, GError **error)
{
  guint64 bytes;
  if (!blobs_check_key (key, error) || !blobs->backend->stat (blobs->self, key, &bytes, error))
    return FALSE;
  if (ret_bytes)
    *ret_bytes = bytes;
  return TRUE;
}

gboolean
blobs_remove (struct blobs *blobs, const char *key, GError **error)
{
  return blobs_check_key (key, error) && blobs->backend->remove (blobs->self, key, error);
}

gboolean
blobs_list (struct blobs *blobs, blobs_each each, gpointer data, GError **error)
{
  return blobs->backend->list (blobs->self, each, data, error);
}

gboolean
blobs_link (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256, int directory_fd,
            const char *name, GError **error)
{
  return blobs_check_key (key, error) && (!sha256 || check_digest (sha256, error)) &&
         blobs->backend->link (blobs->self, key, bytes, sha256, directory_fd, name, error);
}

gboolean
blobs_sweep (struct blobs *blobs, guint *ret_removed, GError **error)
{
  guint removed = 0;
  /* First: a link keeps its content. */
  blob_links_sweep (blobs, &removed);
  if (!blobs->backend->sweep (blobs->self, &removed, error))
    return FALSE;
  if (ret_removed)
    *ret_removed = removed;
  return TRUE;
}
