/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What must hold whatever the input was. */
#define FUZZ_REQUIRE(condition)                                                                              \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      abort ();                                                                                              \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
