/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of the local socket asks for: the JSON body of a run. */
#include <fcntl.h>
#include <unistd.h>

#include "common/json.h"
#include "fuzz/fuzz.h"
#include "interfaces/service/submission.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_memdup2 (data + 1, size - 1);
  struct submission submission;
  submission_init (&submission);
  json_t *body = json_parse_object (text, size - 1, "the request", &error);
  FUZZ_REQUIRE ((body != NULL) == (error == NULL));
  if (body) {
    json_decref (submission.body);
    submission.body = body;
    /* With as many descriptors as the first byte says. */
    for (int i = 0; i < data[0] % 4; i++) {
      int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
      FUZZ_REQUIRE (submission_take_fd (&submission, &fd, &error));
    }
    AdderRequest *request = submission_build (&submission, NULL, &error);
    FUZZ_REQUIRE ((request != NULL) == (error == NULL));
    adder_request_free (request);
  }
  submission_clear (&submission);
  return 0;
}
