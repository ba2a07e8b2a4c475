/* SPDX-License-Identifier: Apache-2.0 */
/* Output made text: cut, cleaned, never longer than its cap, always what JSON can carry. The first byte is
 * the cap, the second how the bytes are cut into pieces. */
#include <string.h>

#include "engine/request/capture.h"
#include "fuzz/fuzz.h"

#define NOTICE_BYTES 160

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 2)
    return 0;
  gsize cap = 16 + 4 * (gsize)data[0], piece = 1 + (gsize)data[1] % 64;
  struct capture capture;
  capture_init (&capture, cap);
  for (gsize at = 2; at < size; at += piece) {
    gsize length = MIN (piece, size - at);
    g_autofree char *part = g_memdup2 (data + at, length);
    capture_add (&capture, part, length);
  }
  FUZZ_REQUIRE (capture.total == size - 2);

  gsize length;
  gboolean cut;
  g_autofree char *text = capture_text (&capture, NULL, &length, &cut);
  FUZZ_REQUIRE (strlen (text) == length && g_utf8_validate (text, -1, NULL));
  FUZZ_REQUIRE (length <= cap + (cut ? NOTICE_BYTES : 0));
  FUZZ_REQUIRE (cut || capture.total <= cap);
  /* What was text is kept as it was. */
  if (!cut && g_utf8_validate_len ((const char *)data + 2, size - 2, NULL))
    FUZZ_REQUIRE (length == size - 2 && memcmp (text, data + 2, length) == 0);
  capture_clear (&capture);

  g_autofree char *clean = capture_clean ((const char *)data + 2, size - 2);
  FUZZ_REQUIRE (g_utf8_validate (clean, -1, NULL));
  return 0;
}
