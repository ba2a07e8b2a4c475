/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, and the programs in them. What is told of them lies within the text, and is the same the
 * next time. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "runner/script_check.h"

static guint
count_lines (const char *text, gsize length)
{
  guint count = 1;
  for (gsize i = 0; i < length; i++)
    count += text[i] == '\n';
  return count;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static struct check check, again;
  const char *text = (const char *)data;
  gboolean fine = check_script (&check, text, size);
  FUZZ_REQUIRE (fine == (check.count == 0) && check.count <= CHECK_VIOLATIONS_MAX);
  FUZZ_REQUIRE (check.host[sizeof check.host - 1] == '\0');
  guint lines = count_lines (text, size);
  for (gsize i = 0; i < check.count; i++) {
    const struct check_violation *violation = &check.violations[i];
    FUZZ_REQUIRE (violation->rule && violation->hint && violation->hint[0]);
    FUZZ_REQUIRE (violation->text[sizeof violation->text - 1] == '\0');
    FUZZ_REQUIRE (violation->place.line >= 1 && violation->place.line <= lines);
    FUZZ_REQUIRE (violation->place.column >= 1 && violation->place.column <= size + 1);
  }
  FUZZ_REQUIRE (check_script (&again, text, size) == fine && again.count == check.count);
  return 0;
}
