/* SPDX-License-Identifier: Apache-2.0 */
/* What a sandbox sends: results and displays. The first byte chooses which; nothing that comes out of the
 * parser may be longer than it said it would be. */
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "engine/request/answer.h"
#include "engine/request/message.h"
#include "fuzz/fuzz.h"
#include "sandbox/limits.h"

#define VALUE_BYTES 4096

static void
check_result (const char *text, gsize length)
{
  struct message_result result;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  if (!message_read_result (text, length, VALUE_BYTES, &result, warnings))
    return;
  FUZZ_REQUIRE (result.exit_code >= 0 && result.exit_code <= 255);
  const char *name;
  json_t *value;
  if (result.value)
    json_object_foreach (result.value, name, value) if (json_is_string (value))
        FUZZ_REQUIRE (json_string_length (value) <= VALUE_BYTES + 256);
  if (result.error) {
    const char *traceback = json_string_value (json_object_get (result.error, "traceback"));
    FUZZ_REQUIRE (!traceback || strlen (traceback) <= VALUE_BYTES + 256);
  }
  FUZZ_REQUIRE (json_array_size (result.denials) <= 16 && result.limits_met < 1u << LIMIT_COUNT);
  gsize index;
  json_array_foreach (result.denials, index, value)
  {
    const char *detail = json_string_value (json_object_get (value, "detail"));
    FUZZ_REQUIRE (json_is_string (json_object_get (value, "kind")) && detail &&
                  !strpbrk (detail, "\n\r\x1b"));
    FUZZ_REQUIRE (g_utf8_strlen (detail, -1) <= 800);
  }
  for (guint i = 0; result.tables && result.tables[i]; i++)
    FUZZ_REQUIRE (!strchr (result.tables[i], '/'));
  for (guint i = 0; i < warnings->len; i++)
    FUZZ_REQUIRE (g_utf8_validate (g_ptr_array_index (warnings, i), -1, NULL));
  message_result_clear (&result);
}

static void
check_answer (const char *text, gsize length)
{
  g_autoptr (json_t) answer = answer_read (text, length);
  g_autoptr (json_t) variables = answer_read_variables (answer, VALUE_BYTES);
  FUZZ_REQUIRE (!variables || json_is_array (json_object_get (variables, "variables")));
  g_autoptr (json_t) matches = answer_read_matches (answer, 10);
  FUZZ_REQUIRE (!matches || json_array_size (json_object_get (matches, "matches")) <= 200);
  g_autoptr (json_t) inspection = answer_read_inspection (answer);
  FUZZ_REQUIRE (!inspection || json_is_string (json_object_get (inspection, "name")));
  g_autoptr (json_t) rows = answer_read_rows (answer, 10);
  FUZZ_REQUIRE (!rows || json_array_size (json_object_get (rows, "rows")) <= 10);
  g_autoptr (json_t) digests = answer_read_digests (answer);
  FUZZ_REQUIRE (!digests || json_array_size (digests) <= 1000);
  g_autofree char *problem = answer_problem (answer);
  FUZZ_REQUIRE (!problem || !strpbrk (problem, "\n\r\x1b"));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  /* A copy of exactly that size, so that reading beyond it is seen. */
  g_autofree char *text = g_memdup2 (data + 1, size - 1);
  if (data[0] & 1)
    check_result (text, size - 1);
  else if (data[0] & 2)
    check_answer (text, size - 1);
  else {
    struct message_display display;
    if (!message_read_display (text, size - 1, &display))
      return 0;
    FUZZ_REQUIRE (json_is_object (display.bundle) && !json_object_get (display.bundle, "adder"));
    FUZZ_REQUIRE (!display.id || g_utf8_validate (display.id, -1, NULL));
    message_display_clear (&display);
  }
  return 0;
}
