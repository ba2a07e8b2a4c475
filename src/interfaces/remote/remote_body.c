/* SPDX-License-Identifier: Apache-2.0 */
/* What came as descriptors goes into the body itself. What is of this machine alone cannot travel. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/remote/remote.h"

#define CONTENT_BYTES ((gsize)48 << 20) /* of one file: the daemon says what all of them may have */
#define BLOCK_BYTES   ((gsize)256 << 10)

/* Members of run_local_fields that HTTP does not have, and the options that they come from. */
static const struct {
  const char *member, *option;
} local[] = {
    {"workdir", "--workdir and --review are about a directory"},
    {"role", "--role is for a daemon"},
    {"accept_all", "--dangerously-accept-all is for a daemon"},
    {"analysis", "--analysis is for a daemon"},
};

static gboolean
check_local (const json_t *body, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (local); i++)
    if (json_object_get (body, local[i].member)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                   "%s of this machine: leave it out, or run it here (--url '')", local[i].option);
      return FALSE;
    }
  return TRUE;
}

/* All that FD has; the caller's. NULL with ERROR. */
static GByteArray *
remote_body_read_all (int fd, const char *name, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *block = g_malloc (BLOCK_BYTES);
  g_autofree char *shown = text_one_line (name, -1);
  struct stat st;
  if (fstat (fd, &st) == 0 && S_ISDIR (st.st_mode)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s is a folder, which does not travel: name its files", shown);
    return NULL;
  }
  for (;;) {
    gssize got = read (fd, block, BLOCK_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      error_from_errno (error, errno, "cannot read %s", shown);
      return NULL;
    }
    if (got == 0)
      return g_steal_pointer (&bytes);
    if (bytes->len + (gsize)got > CONTENT_BYTES) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                   "%s has more than %zu MiB: put it in first (adder file put) and give it as @ID", shown,
                   CONTENT_BYTES >> 20);
      return NULL;
    }
    g_byte_array_append (bytes, block, (guint)got);
  }
}

/* LIST with contents in the place of descriptors; *RET_COUNT: so many there were. The caller's. */
static json_t *
take_files (const json_t *list, const struct submission *request, gsize *ret_count, GError **error)
{
  g_autoptr (json_t) files = json_array ();
  gsize index;
  json_t *file;
  json_array_foreach (list, index, file)
  {
    const char *name = json_member_text (file, "name");
    if (!json_is_true (json_object_get (file, "descriptor"))) {
      json_array_append (files, file);
      continue;
    }
    g_autoptr (GByteArray) bytes = remote_body_read_all (request->fds[(*ret_count)++], name, error);
    if (!bytes)
      return NULL;
    g_autofree char *encoded = g_base64_encode (bytes->data, bytes->len);
    json_array_append_new (files, json_pack ("{s:s, s:s}", "name", name, "base64", encoded));
  }
  return g_steal_pointer (&files);
}

static json_t *
take_stdin (int fd, GError **error)
{
  g_autoptr (GByteArray) bytes = remote_body_read_all (fd, "standard input", error);
  json_t *text = bytes ? json_stringn (bytes->data ? (const char *)bytes->data : "", bytes->len) : NULL;
  if (bytes && (!text || (bytes->data && memchr (bytes->data, 0, bytes->len)))) {
    json_decref (text);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "standard input is text over HTTP, and this is not: give it as a file (--file)");
    return NULL;
  }
  return text;
}

static gboolean
set_code (json_t *body, const struct submission *request, GError **error)
{
  json_t *code = json_stringn (request->code, request->code_length);
  if (!code || memchr (request->code, 0, request->code_length)) {
    json_decref (code);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the code is not UTF-8 without zero bytes");
    return FALSE;
  }
  json_object_set_new (body, "code", code);
  return TRUE;
}

json_t *
remote_body (const struct submission *request, GError **error)
{
  static const char *const own[] = {"save", "force"}; /* what is saved is saved here */
  g_autoptr (json_t) body = json_copy (request->body);
  json_t *files = json_object_get (body, "files");
  gsize next_fd = 0;
  if (!check_local (body, error) || (request->code && !set_code (body, request, error)))
    return NULL;
  if (files) {
    if (!(files = take_files (files, request, &next_fd, error)))
      return NULL;
    json_object_set_new (body, "files", files);
  }
  if (json_is_true (json_object_get (body, "stdin"))) {
    json_t *text = take_stdin (request->fds[next_fd], error);
    if (!text)
      return NULL;
    json_object_set_new (body, "stdin", text);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    json_object_del (body, own[i]);
  return g_steal_pointer (&body);
}
