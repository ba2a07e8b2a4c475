/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/twister.h"

#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#define WORDS 624

/* numpy/random/src/mt19937/mt19937.h */
struct twister {
  uint32_t key[WORDS];
  int position; /* WORDS: all are used up */
};

static struct twister *watched;

bool
twister_watch (void *state, const void *key, size_t size, int position)
{
  struct twister *twister = state;
  if (size != sizeof twister->key || memcmp (twister->key, key, size) != 0 || twister->position != position)
    return false;
  watched = twister;
  return true;
}

bool
twister_reseed (void)
{
  struct twister fresh = {.position = WORDS};
  if (!watched)
    return false;
  for (size_t have = 0; have < sizeof fresh.key;) {
    ssize_t got = getrandom ((char *)fresh.key + have, sizeof fresh.key - have, 0);
    if (got <= 0)
      return false;
    have += (size_t)got;
  }
  fresh.key[0] |= 1U << 31; /* not all of them zero, ever */
  *watched = fresh;
  return true;
}
