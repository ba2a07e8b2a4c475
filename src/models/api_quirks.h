/* SPDX-License-Identifier: Apache-2.0 */
/* What a server does not take, learnt from what it says when it refuses a question. */
#pragma once

#include "models/dialect.h"

/* Whether WORDS, in small letters, name something that can be left out from now on: then it is in *BITS, and
 * the question may be asked again. */
gboolean api_quirks_learn (enum dialect dialect, const char *words, guint *bits);
