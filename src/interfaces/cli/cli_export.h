/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A command of cli_result.c. */
int cli_result_export (int argc, char **argv);
