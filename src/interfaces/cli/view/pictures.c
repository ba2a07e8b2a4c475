/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures from MIME bundles. Their content comes from a sandbox: it is written without interpreting it. */
#include "interfaces/cli/view/pictures.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"

#define NUMBER_MAX 100000

static const struct {
  const char *mime, *kind, *extension;
  gboolean is_text; /* else base64 */
} kinds[] = {
    {"image/png", "PNG", "png", FALSE},    {"image/jpeg", "JPEG", "jpg", FALSE},
    {"image/gif", "GIF", "gif", FALSE},    {"image/webp", "WebP", "webp", FALSE},
    {"image/svg+xml", "SVG", "svg", TRUE},
};

struct taking {
  GPtrArray *pictures;
  int fd;
  gboolean (*skip) (const json_t *bundle);
  guint number; /* of the current bundle: a picture in two forms has one number */
};

static void
picture_free (gpointer data)
{
  struct picture *picture = data;
  g_free (picture->name);
  g_free (picture);
}

/* A new file; *RET_NAME is the caller's. */
static int
open_next (struct taking *taking, const char *extension, char **ret_name, GError **error)
{
  for (; taking->number < NUMBER_MAX; taking->number++) {
    g_autofree char *name = g_strdup_printf ("picture-%u.%s", taking->number, extension);
    int fd = openat (taking->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0) {
      *ret_name = g_steal_pointer (&name);
      return fd;
    }
    if (errno != EEXIST) {
      error_from_errno (error, errno, "cannot make the file %s", name);
      return -1;
    }
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the directory has %d pictures already", NUMBER_MAX);
  return -1;
}

static gboolean
pictures_write_picture (struct taking *taking, const char *extension, const void *data, gsize length,
                        char **ret_name, GError **error)
{
  g_autofree char *name = NULL;
  autoclose int fd = open_next (taking, extension, &name, error);
  if (fd < 0)
    return FALSE;
  int r = fd_write_all (fd, data, length);
  if (r < 0) {
    unlinkat (taking->fd, name, 0);
    return error_from_errno (error, r, "cannot write the file %s", name);
  }
  *ret_name = g_steal_pointer (&name);
  return TRUE;
}

static gboolean
take_bundle (struct taking *taking, const json_t *bundle, GError **error)
{
  if (taking->skip && taking->skip (bundle))
    return TRUE;
  taking->number++;
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const json_t *value = json_object_get (bundle, kinds[i].mime);
    if (!json_is_string (value))
      continue;
    const char *text = json_string_value (value);
    gsize length = json_string_length (value);
    g_autofree guchar *decoded = kinds[i].is_text ? NULL : g_base64_decode (text, &length);
    struct picture *picture = g_new0 (struct picture, 1);
    picture->kind = kinds[i].kind;
    picture->bytes = length;
    g_ptr_array_add (taking->pictures, picture);
    const void *data = decoded ? (const void *)decoded : text;
    if (taking->fd >= 0 &&
        !pictures_write_picture (taking, kinds[i].extension, data, length, &picture->name, error))
      return FALSE;
  }
  return TRUE;
}

GPtrArray *
pictures_take (const json_t *result, int fd, gboolean (*skip) (const json_t *bundle), GError **error)
{
  struct taking taking = {g_ptr_array_new_with_free_func (picture_free), fd, skip, 0};
  gboolean ok = TRUE;
  gsize i;
  json_t *bundle;
  json_array_foreach (json_object_get (result, "displays"), i, bundle) ok =
      ok && take_bundle (&taking, bundle, error);
  if (ok)
    (void)take_bundle (&taking, json_object_get (result, "value"), error);
  return taking.pictures;
}
