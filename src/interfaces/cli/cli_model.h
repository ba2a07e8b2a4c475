/* SPDX-License-Identifier: Apache-2.0 */
/* `adder model`: its parts that are files of their own. */
#pragma once

int cli_model_add (int argc, char **argv);
int cli_model_check (int argc, char **argv);
