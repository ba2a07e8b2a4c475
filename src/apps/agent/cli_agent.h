/* SPDX-License-Identifier: Apache-2.0 */
/* `adder agent`. */
#pragma once

int cli_agent (int argc, char **argv);
