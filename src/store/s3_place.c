/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bucket is, and the keys of access to it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"
#include "store/s3.h"

#define DEFAULT_REGION "us-east-1"

#define KEYS_FILE_MAX  ((gsize)64 << 10)
#define KEY_MAX        4096 /* bytes of one key or token */

#define BUCKET_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789.-"
#define PREFIX_LETTERS BUCKET_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_/"
#define REGION_LETTERS BUCKET_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define HOST_LETTERS   BUCKET_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_:[]"

void
s3_place_clear (struct s3_place *place)
{
  g_free (place->bucket);
  g_free (place->prefix);
  g_free (place->endpoint);
  g_free (place->region);
  g_free (place->credentials);
  g_free (place->ca);
  *place = (struct s3_place){0};
}

static gboolean s3_place_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
s3_place_refuse (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *shown = text_one_line (what, 300);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[store] blobs: %s", shown);
  return FALSE;
}

static gboolean
s3_place_consists_of (const char *text, const char *letters, gsize most)
{
  gsize length = strlen (text);
  return length > 0 && length <= most && strspn (text, letters) == length;
}

/* "http[s]://HOST[:PORT]", without anything behind it. */
static gboolean
check_endpoint (struct s3_place *place, GError **error)
{
  gsize length = strlen (place->endpoint);
  if (length > 0 && place->endpoint[length - 1] == '/')
    place->endpoint[length - 1] = '\0';
  const char *host = g_str_has_prefix (place->endpoint, "https://")  ? place->endpoint + 8
                     : g_str_has_prefix (place->endpoint, "http://") ? place->endpoint + 7
                                                                     : "";
  return s3_place_consists_of (host, HOST_LETTERS, 300) ||
         s3_place_refuse (error, "endpoint=%s must be https://HOST:PORT or http://HOST:PORT",
                          place->endpoint);
}

static gboolean
parse_parameters (const char *query, struct s3_place *place, GError **error)
{
  const struct {
    const char *name;
    char **value;
  } known[] = {{"endpoint", &place->endpoint},
               {"region", &place->region},
               {"credentials", &place->credentials},
               {"ca", &place->ca}};
  GUriParamsIter iter;
  g_uri_params_iter_init (&iter, query, -1, "&", G_URI_PARAMS_NONE);
  for (;;) {
    g_autofree char *name = NULL, *value = NULL;
    g_autoptr (GError) problem = NULL;
    if (!g_uri_params_iter_next (&iter, &name, &value, &problem))
      return !problem || s3_place_refuse (error, "what is behind the ? cannot be read: %s", problem->message);
    gsize i = 0;
    while (i < G_N_ELEMENTS (known) && strcmp (known[i].name, name) != 0)
      i++;
    if (i == G_N_ELEMENTS (known))
      return s3_place_refuse (error, "s3 has no parameter %s: it has endpoint, region, credentials and ca",
                              name);
    if (*known[i].value)
      return s3_place_refuse (error, "%s stands twice", name);
    *known[i].value = g_steal_pointer (&value);
  }
}

gboolean
s3_place_parse (const char *rest, struct s3_place *ret_place, GError **error)
{
  struct s3_place place = {0};
  const char *query = strchr (rest, '?');
  g_autofree char *path = query ? g_strndup (rest, (gsize)(query - rest)) : g_strdup (rest);
  char *slash = strchr (path, '/');
  if (slash)
    *slash = '\0';
  gboolean ok = parse_parameters (query ? query + 1 : "", &place, error);
  place.bucket = g_strdup (path);
  place.prefix = g_strdup (slash ? slash + 1 : "");
  gsize length = strlen (place.prefix);
  if (length > 0 && place.prefix[length - 1] == '/')
    place.prefix[length - 1] = '\0';
  if (!place.region)
    place.region = g_strdup (DEFAULT_REGION);
  if (!place.endpoint)
    place.endpoint = g_strdup_printf ("https://s3.%s.amazonaws.com", place.region);

  if (ok && (!s3_place_consists_of (place.bucket, BUCKET_LETTERS, 63) || strlen (place.bucket) < 3))
    ok = s3_place_refuse (error, "\"%s\" cannot be a bucket: 3 to 63 small letters, digits, dots and dashes",
                          place.bucket);
  /* libcurl would leave a part out that is a dot. */
  g_autofree char *parts = g_strdup_printf ("/%s/", place.prefix);
  if (ok && place.prefix[0] &&
      (!s3_place_consists_of (place.prefix, PREFIX_LETTERS, 200) || strstr (parts, "..") ||
       strstr (parts, "//") || strstr (parts, "/./")))
    ok = s3_place_refuse (error,
                          "\"%s\" is not allowed after the bucket: letters, digits and - _ . / are allowed",
                          place.prefix);
  if (ok && !s3_place_consists_of (place.region, REGION_LETTERS, 64))
    ok = s3_place_refuse (error, "region=%s is invalid", place.region);
  if (ok && place.credentials && !g_path_is_absolute (place.credentials))
    ok = s3_place_refuse (error, "credentials=%s must be an absolute path", place.credentials);
  if (ok && place.ca && !g_path_is_absolute (place.ca))
    ok = s3_place_refuse (error, "ca=%s must be an absolute path", place.ca);
  ok = ok && check_endpoint (&place, error);
  if (ok)
    *ret_place = place;
  else
    s3_place_clear (&place);
  return ok;
}

/* ---- keys ---- */

static void
s3_place_forget (char **secret)
{
  if (*secret)
    explicit_bzero (*secret, strlen (*secret));
  g_clear_pointer (secret, g_free);
}

void
s3_keys_clear (struct s3_keys *keys)
{
  s3_place_forget (&keys->id);
  s3_place_forget (&keys->secret);
  s3_place_forget (&keys->token);
}

/* One line of a file of keys: "aws_access_key_id = ...", as files of others have them too. */
static void
s3_place_read_line (char *line, struct s3_keys *keys)
{
  const struct {
    const char *name;
    char **value;
  } known[] = {{"aws_access_key_id", &keys->id},
               {"aws_secret_access_key", &keys->secret},
               {"aws_session_token", &keys->token}};
  char *equals = strchr (line, '=');
  if (!equals)
    return;
  *equals = '\0';
  const char *name = g_strstrip (line), *value = g_strstrip (equals + 1);
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_ascii_strcasecmp (name, known[i].name) == 0 && !*known[i].value)
      *known[i].value = g_strdup (value);
}

static gboolean
s3_place_read_file (const char *path, struct s3_keys *keys, GError **error)
{
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (fd < 0 && errno == ENOENT) { /* no NOT_FOUND, which is said of what lies in the bucket */
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the file %s with keys for S3 is not there", path);
    return FALSE;
  }
  if (fd < 0 || fstat (fd, &st) < 0)
    return error_from_errno (error, errno, "cannot read the keys for S3 in %s", path);
  if (!S_ISREG (st.st_mode) || (guint64)st.st_size > KEYS_FILE_MAX || (st.st_mode & 077)) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_FAILED,
        "the file %s with keys for S3 must be a small file that nobody but its owner can read: chmod 0600",
        path);
    return FALSE;
  }
  gsize size = (gsize)st.st_size;
  g_autofree char *text = g_malloc0 (size + 1);
  int r = fd_read_all (fd, text, size);
  char *next;
  for (char *line = text; r == 0 && line; line = next) {
    next = strchr (line, '\n');
    if (next)
      *next++ = '\0';
    s3_place_read_line (line, keys);
  }
  explicit_bzero (text, size);
  return r == 0 || error_from_errno (error, r, "cannot read the keys for S3 in %s", path);
}

static gboolean
is_key (const char *text)
{
  if (!text || !text[0] || strlen (text) > KEY_MAX)
    return FALSE;
  for (const char *at = text; *at; at++)
    if (!g_ascii_isgraph (*at))
      return FALSE;
  return TRUE;
}

gboolean
s3_keys_read (const struct s3_place *place, struct s3_keys *ret_keys, GError **error)
{
  struct s3_keys keys = {0};
  if (place->credentials) {
    if (!s3_place_read_file (place->credentials, &keys, error)) {
      s3_keys_clear (&keys);
      return FALSE;
    }
  } else {
    keys.id = g_strdup (g_getenv ("AWS_ACCESS_KEY_ID"));
    keys.secret = g_strdup (g_getenv ("AWS_SECRET_ACCESS_KEY"));
    keys.token = g_strdup (g_getenv ("AWS_SESSION_TOKEN"));
  }
  if (keys.token && !keys.token[0])
    s3_place_forget (&keys.token);
  if (is_key (keys.id) && is_key (keys.secret) && (!keys.token || is_key (keys.token))) {
    *ret_keys = keys;
    return TRUE;
  }
  s3_keys_clear (&keys);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "there are no keys for S3 in %s: aws_access_key_id and aws_secret_access_key are needed%s",
               place->credentials ? place->credentials : "the environment of the daemon",
               place->credentials ? "" : ", there in capitals, or in the file that credentials=/path names");
  return FALSE;
}
