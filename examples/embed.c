/* SPDX-License-Identifier: Apache-2.0 */
/* Runs Python from a C program through libadder:
 *
 *     cc embed.c $(pkg-config --cflags --libs adder) -o embed && ./embed 'sum(range(10))'
 *
 * It prints the result object, one line of JSON, on standard error what the records of the last hour say, and
 * ends with the run's exit code. */
#include <adder.h>
#include <stdio.h>

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdderEngine) engine = adder_engine_new (NULL, &error);
  if (!engine) {
    fprintf (stderr, "embed: %s\n", error->message);
    return 125;
  }
  g_autoptr (AdderRequest) request = adder_request_new (argc > 1 ? argv[1] : "print(2**32)", -1);
  g_autoptr (AdderResult) result = adder_run (engine, request);
  puts (adder_result_json (result));
  /* What is there can be asked for by the operations of docs/operations.md. */
  g_autofree char *stats = adder_call (engine, NULL, "record.stats", "{\"since\": \"1h\"}", &error);
  fprintf (stderr, "%s\n", stats ? stats : error->message);
  return adder_result_exit_code (result);
}
