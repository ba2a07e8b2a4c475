/* SPDX-License-Identifier: Apache-2.0 */
/* Small parsers of what people write: sizes, times, names of files, a zygote's plan. The first byte chooses.
 */
#include <string.h>

#include "common/size.h"
#include "engine/files/workspace.h"
#include "fuzz/fuzz.h"
#include "sandbox/plan.h"

#define ARGUMENTS_MAX 64

static void
check_quantity (const char *text, enum limit_unit unit)
{
  g_autoptr (GError) error = NULL;
  guint64 value;
  FUZZ_REQUIRE (quantity_parse (text, unit, &value, &error) == (error == NULL));
  if (error)
    FUZZ_REQUIRE (g_utf8_validate (error->message, -1, NULL));
}

static void
check_name (const char *text)
{
  g_autoptr (GError) error = NULL;
  if (!workspace_check_name (text, &error))
    return;
  FUZZ_REQUIRE (text[0] != '/' && text[0] != '\0' && g_utf8_validate (text, -1, NULL));
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);
  for (gsize i = 0; parts[i]; i++)
    FUZZ_REQUIRE (parts[i][0] != '\0' && strcmp (parts[i], ".") != 0 && strcmp (parts[i], "..") != 0);
}

/* Lines as arguments. A plan that can be read is the same after it was written and read again. */
static void
check_plan (const char *text)
{
  struct fault fault;
  struct plan plan, again;
  g_auto (GStrv) words = g_strsplit (text, "\n", ARGUMENTS_MAX);
  if (plan_from_arguments (&plan, (int)g_strv_length (words), words, &fault) < 0)
    return;
  char **written = plan_to_arguments (&plan);
  FUZZ_REQUIRE (written && plan_from_arguments (&again, (int)g_strv_length (written), written, &fault) == 0);
  FUZZ_REQUIRE (again.step_count == plan.step_count && again.host_uid == plan.host_uid);
  free (written);
  plan_clear (&again);
  plan_clear (&plan);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  g_autofree char *text = g_strndup ((const char *)data + 1, size - 1);
  switch (data[0] % 5) {
  case 0:
    check_quantity (text, UNIT_BYTES);
    break;
  case 1:
    check_quantity (text, UNIT_MS);
    break;
  case 2:
    check_quantity (text, UNIT_COUNT);
    break;
  case 3:
    check_name (text);
    break;
  default:
    check_plan (text);
  }
  return 0;
}
