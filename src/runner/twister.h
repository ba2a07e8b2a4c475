/* SPDX-License-Identifier: Apache-2.0 */
/* numpy's global generator of random numbers, a Mersenne Twister, by its memory. numpy seeds it from entropy
 * by way of a hundred objects, each in a page that a sandbox would have to copy for itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Notes the generator whose memory is STATE, if that is what KEY (of SIZE bytes) and POSITION say it is. */
bool twister_watch (void *state, const void *key, size_t size, int position);

/* Fills the noted generator with random bits. Returns false when there is none, or no random bits. */
bool twister_reseed (void);
