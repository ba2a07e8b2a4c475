/* SPDX-License-Identifier: Apache-2.0 */
/* Long output on its way to a file: from its first byte on, up to a limit, and not at any price. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/request/request.h"
#include "engine/request/spill.h"
#include "suite.h"

#define CAP 64

struct stream {
  struct capture capture;
  struct spill spill;
  struct request_recorder recorder;
  GPtrArray *warnings;
};

static int
create_in_memory (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED GError **error)
{
  return memfd_create ("spill", MFD_CLOEXEC);
}

static int
create_nothing (G_GNUC_UNUSED gpointer data, GError **error)
{
  error_from_errno (error, ENOSPC, "cannot make a file");
  return -1;
}

/* Takes nothing, as a disk that is full. */
static int
create_full (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED GError **error)
{
  return open ("/dev/full", O_RDWR | O_CLOEXEC);
}

static void
stream_init (struct stream *stream, guint64 over, guint64 most, int (*create) (gpointer, GError **))
{
  *stream = (struct stream){.recorder.create = create};
  capture_init (&stream->capture, CAP);
  spill_init (&stream->spill, over, most);
  stream->warnings = g_ptr_array_new_with_free_func (g_free);
}

static void
stream_clear (struct stream *stream)
{
  capture_clear (&stream->capture);
  spill_clear (&stream->spill);
  g_ptr_array_unref (stream->warnings);
}

static void
feed (struct stream *stream, const char *data, gsize length, gsize step)
{
  for (gsize at = 0; at < length; at += step) {
    gsize some = MIN (step, length - at);
    spill_add (&stream->spill, &stream->capture, data + at, some, &stream->recorder, "stdout",
               stream->warnings);
    capture_add (&stream->capture, data + at, some);
  }
  spill_end (&stream->spill, &stream->capture, &stream->recorder, "stdout", stream->warnings);
}

/* What the file holds; the caller's. */
static char *
content (const struct spill *spill)
{
  g_assert_cmpint (spill->fd, >=, 0);
  char *text = g_malloc0 (spill->bytes + 1);
  g_assert_cmpint (pread (spill->fd, text, spill->bytes, 0), ==, (gssize)spill->bytes);
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guchar *)text, spill->bytes);
  g_assert_cmpstr (sum, ==, spill->sha256);
  return text;
}

static char *
make_text (gsize length)
{
  char *text = g_malloc (length + 1);
  for (gsize i = 0; i < length; i++)
    text[i] = (char)('a' + (i * 7 + i / 26) % 26);
  text[length] = '\0';
  return text;
}

static void
test_whole (void)
{
  for (gsize length = CAP - 2; length < 4 * CAP; length += 13)
    for (gsize step = 1; step < length; step = step * 3 + 1) {
      struct stream stream;
      g_autofree char *text = make_text (length);
      stream_init (&stream, CAP, 1 << 20, create_in_memory);
      feed (&stream, text, length, step);
      if (length <= CAP)
        g_assert_cmpint (stream.spill.fd, ==, -1);
      else {
        g_autofree char *kept = content (&stream.spill);
        g_assert_cmpstr (kept, ==, text);
      }
      g_assert_cmpuint (stream.warnings->len, ==, 0);
      stream_clear (&stream);
    }
}

static void
test_earlier_than_the_reply_is_cut (void)
{
  struct stream stream;
  g_autofree char *text = make_text (20);
  stream_init (&stream, 10, 1 << 20, create_in_memory);
  feed (&stream, text, 20, 6);
  g_autofree char *kept = content (&stream.spill);
  g_assert_cmpstr (kept, ==, text);
  stream_clear (&stream);
}

static void
test_text_longer_than_its_bytes (void)
{
  struct stream stream;
  char bytes[CAP];
  memset (bytes, 0xFF, sizeof bytes);
  stream_init (&stream, CAP, 1 << 20, create_in_memory);
  feed (&stream, bytes, sizeof bytes, 5);
  g_assert_cmpuint (stream.spill.bytes, ==, CAP);
  stream_clear (&stream);
}

static void
test_limit (void)
{
  struct stream stream;
  g_autofree char *text = make_text (1000);
  stream_init (&stream, CAP, 300, create_in_memory);
  feed (&stream, text, 1000, 70);
  g_autofree char *kept = content (&stream.spill);
  g_assert_cmpint (strncmp (kept, text, 300), ==, 0);
  g_assert_nonnull (strstr (kept, "[... 700 bytes more are not kept: the limit is spill_bytes ...]"));
  stream_clear (&stream);
}

static void
test_none_is_wanted (void)
{
  struct stream stream;
  g_autofree char *text = make_text (1000);
  stream_init (&stream, CAP, 0, create_in_memory);
  feed (&stream, text, 1000, 70);
  g_assert_cmpint (stream.spill.fd, ==, -1);
  stream_clear (&stream);
  stream_init (&stream, CAP, 1 << 20, NULL);
  feed (&stream, text, 1000, 70);
  g_assert_cmpint (stream.spill.fd, ==, -1);
  g_assert_cmpuint (stream.warnings->len, ==, 0);
  stream_clear (&stream);
}

static void
test_no_room (void)
{
  int (*const makers[]) (gpointer, GError **) = {create_nothing, create_full};
  for (gsize i = 0; i < G_N_ELEMENTS (makers); i++) {
    struct stream stream;
    g_autofree char *text = make_text (1000);
    stream_init (&stream, CAP, 1 << 20, makers[i]);
    feed (&stream, text, 1000, 70);
    g_assert_cmpint (stream.spill.fd, ==, -1);
    g_assert_cmpuint (stream.warnings->len, ==, 1);
    g_assert_nonnull (strstr (stream.warnings->pdata[0], "stdout is not kept whole: "));
    g_assert_nonnull (strstr (stream.warnings->pdata[0], g_strerror (ENOSPC)));
    stream_clear (&stream);
  }
}

static void
test_how_to_read_on (void)
{
  struct stream stream;
  gsize length;
  gboolean cut;
  g_autofree char *text = make_text (1000);
  stream_init (&stream, CAP, 1 << 20, create_in_memory);
  feed (&stream, text, 1000, 70);
  const struct capture_kept kept = {"the-id", "stderr"};
  g_autofree char *shown = capture_text (&stream.capture, &kept, &length, &cut);
  g_assert_true (cut);
  g_assert_nonnull (strstr (shown, "936 bytes are left out here: "));
  g_assert_nonnull (strstr (shown, "peek_result(result_id=\"the-id\", offset=32, stream=\"stderr\")"));
  g_assert_nonnull (strstr (shown, "adder history peek the-id --offset 32 --stream stderr"));

  const struct capture_kept of_tool = {"the-id", "stderr", .for_tool = TRUE};
  g_autofree char *told = capture_text (&stream.capture, &of_tool, &length, &cut);
  g_assert_nonnull (strstr (told, "stream=\"stderr\") reads on ...]"));
  stream_clear (&stream);
}

UNIT_SUITE (engine_spill)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/spill/whole", test_whole);
  g_test_add_func ("/spill/earlier", test_earlier_than_the_reply_is_cut);
  g_test_add_func ("/spill/replaced", test_text_longer_than_its_bytes);
  g_test_add_func ("/spill/limit", test_limit);
  g_test_add_func ("/spill/not-wanted", test_none_is_wanted);
  g_test_add_func ("/spill/no-room", test_no_room);
  g_test_add_func ("/spill/read-on", test_how_to_read_on);
  return g_test_run ();
}
