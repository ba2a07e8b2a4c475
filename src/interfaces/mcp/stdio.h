/* SPDX-License-Identifier: Apache-2.0 */
/* The transport by lines: a message on each, over a pair of pipes or a socket. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* Serves CALLER, who writes to READ_FD and reads from WRITE_FD (which may be the same, and stay the
 * caller's), until the input ends and everything is answered. If the client leaves before that, its requests
 * are cancelled. */
void mcp_stdio_serve (struct mcp_server *server, struct mcp_caller *caller, int read_fd, int write_fd);
