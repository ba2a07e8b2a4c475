/* SPDX-License-Identifier: Apache-2.0 */
/* The program `adder`. */
#include "frontends/cli.h"

int
main (int argc, char **argv)
{
  return cli_main (argc, argv);
}
