/* SPDX-License-Identifier: Apache-2.0 */
/* `adder telegram`. */
#pragma once

int cli_telegram (int argc, char **argv);
