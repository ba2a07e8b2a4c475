/* SPDX-License-Identifier: Apache-2.0 */
/* What a person types to the chat itself: "/tools", "/python new". */
#pragma once

#include <glib.h>

struct chat;

/* Carries out LINE, which is without the slash, and shows what came of it. */
void commands_carry_out (struct chat *chat, const char *line);

/* Whether the chat's tools have sessions of Python. */
gboolean commands_know_sessions (const struct chat *chat);
