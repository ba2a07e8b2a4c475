/* SPDX-License-Identifier: Apache-2.0 */
/* What an S3 server answers, and the URL of a bucket that somebody wrote. The first byte chooses. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "store/blobs_private.h"
#include "store/s3.h"

static void
check_answer (const char *text, gsize length)
{
  static const char *const items[] = {NULL, "Contents", "Upload"};
  for (gsize i = 0; i < G_N_ELEMENTS (items); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (s3_answer_t) answer = s3_answer_parse (text, length, items[i], &error);
    FUZZ_REQUIRE ((answer == NULL) == (error != NULL));
    FUZZ_REQUIRE (!answer || (answer->root && (items[i] || answer->items->len == 0)));
  }
}

static void
check_place (const char *text)
{
  g_autoptr (GError) error = NULL;
  struct s3_place place;
  if (!s3_place_parse (text, &place, &error)) {
    FUZZ_REQUIRE (error && g_utf8_validate (error->message, -1, NULL));
    return;
  }
  FUZZ_REQUIRE (g_str_has_prefix (place.endpoint, "http") && !strpbrk (place.endpoint, "@?# \r\n"));
  FUZZ_REQUIRE (!strpbrk (place.bucket, "/?#% \r\n") && !strpbrk (place.prefix, "?#% \r\n"));
  FUZZ_REQUIRE (!strpbrk (place.region, "/: \r\n"));
  s3_place_clear (&place);
}

static void
check_key (const char *text)
{
  if (!blob_key_is_good (text))
    return;
  FUZZ_REQUIRE (strlen (text) < BLOB_KEY_BYTES && g_utf8_validate (text, -1, NULL));
  FUZZ_REQUIRE (!strstr (text, "/.") && strchr (text, '/') == strrchr (text, '/'));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  g_autofree char *text = g_strndup ((const char *)data + 1, size - 1);
  switch (data[0]) {
  case 'u':
    check_place (text);
    break;
  case 'k':
    check_key (text);
    break;
  default:
    check_answer ((const char *)data + 1, size - 1);
  }
  return 0;
}
