/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor that can be read once the peer of a socket has hung up, for work that waits for one. */
#pragma once

struct hang_up;

/* WATCH_FD: a socket, which must stay open, or -1: it never happens. Never NULL. */
struct hang_up *hang_up_new (int watch_fd);
int hang_up_fd (const struct hang_up *watch);
void hang_up_free (struct hang_up *watch);
