/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and profiles, as people write them. The first byte chooses. What is taken keeps to its
 * bounds; what is not is refused in one sentence that can be shown. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/config.h"
#include "common/json.h"
#include "fuzz/fuzz.h"
#include "policy/profile.h"
#include "sandbox/isolation.h"

static void
check_refusal (const GError *error)
{
  FUZZ_REQUIRE (error && error->message[0] != '\0');
  FUZZ_REQUIRE (g_utf8_validate (error->message, -1, NULL));
  for (const char *at = error->message; *at; at++)
    FUZZ_REQUIRE (!g_ascii_iscntrl (*at));
}

static void
check_config (const char *file)
{
  g_autoptr (GError) error = NULL;
  struct config *config = config_load (file, &error);
  if (!config) {
    check_refusal (error);
    return;
  }
  FUZZ_REQUIRE (!error);
  FUZZ_REQUIRE (config->parked >= 1 && config->parked <= 1024);
  FUZZ_REQUIRE (config->max_running >= 1 && config->max_running <= 4096);
  FUZZ_REQUIRE (config->root_uid >= 1 && config->root_uid < G_MAXUINT32);
  FUZZ_REQUIRE (!config->socket || config->socket[0] == '/');
  FUZZ_REQUIRE (strcmp (config->min_isolation, "auto") == 0 || strlen (config->min_isolation) == 1);
  FUZZ_REQUIRE (isolation_find (config->isolation) >= 0 &&
                (!config->environment || config->environment[0] != '\0'));
  FILE *null = fopen ("/dev/null", "we");
  FUZZ_REQUIRE (null);
  config_show (config, TRUE, null);
  config_show (config, FALSE, null);
  fclose (null);
  config_free (config);
}

static void
check_profile (const char *file)
{
  g_autoptr (GError) error = NULL;
  struct profile *profile = profile_load_file ("fuzz", file, &error);
  if (!profile) {
    check_refusal (error);
    return;
  }
  FUZZ_REQUIRE (!error && profile->title && profile->min_isolation <= 4);
  FUZZ_REQUIRE (profile->role <= ROLE_ADMIN);
  for (int i = 0; i < LIMIT_COUNT; i++)
    FUZZ_REQUIRE (profile->limits.value[i] >= limit_table[i].minimum &&
                  profile->limits.value[i] <= profile->maxima.value[i] &&
                  profile->maxima.value[i] <= limit_table[i].maximum);
  g_autoptr (json_t) shown = profile_to_json (profile);
  g_autofree char *text = json_to_text (shown);
  FUZZ_REQUIRE (text[0] == '{');
  profile_free (profile);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  autoclose int fd = memfd_create ("settings", MFD_CLOEXEC);
  FUZZ_REQUIRE (fd >= 0 && fd_write_all (fd, data + 1, size - 1) == 0);
  g_autofree char *file = g_strdup_printf ("/proc/self/fd/%d", fd);
  if (data[0] & 1)
    check_profile (file);
  else
    check_config (file);
  return 0;
}
