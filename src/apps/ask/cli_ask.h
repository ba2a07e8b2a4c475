/* SPDX-License-Identifier: Apache-2.0 */
/* `adder ask`. */
#pragma once

int cli_ask (int argc, char **argv);
