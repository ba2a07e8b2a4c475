/* SPDX-License-Identifier: Apache-2.0 */
/* The rights of a new token, which are never more than those of its maker. */
#pragma once

#include "common/config.h"
#include "policy/principal.h"
#include "policy/tokens_file.h"

/* Bounds the rights of TOKEN, which has those that were asked for, by those of WHO: what was not asked for,
 * and WHO has a limit of, becomes WHO's. NULL, and an account of this machine: any rights, but a browser's
 * token does not outlive its maker. ADDER_ERROR_REFUSED names the right that WHO lacks. */
gboolean token_rights_bound (struct token *token, const struct principal *who, const struct config *config,
                             GError **error);
