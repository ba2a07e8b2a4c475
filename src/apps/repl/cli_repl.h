/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

int cli_repl (int argc, char **argv);
