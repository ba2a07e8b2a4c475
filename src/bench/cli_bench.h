/* SPDX-License-Identifier: Apache-2.0 */
/* `adder bench`. */
#pragma once

int cli_bench (int argc, char **argv);
