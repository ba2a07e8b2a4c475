/* SPDX-License-Identifier: Apache-2.0 */
/* `adder chat`. */
#pragma once

int cli_chat (int argc, char **argv);
