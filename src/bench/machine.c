/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: what has to stand beside a number for it to mean anything. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"
#include "common/json.h"
#include "library/library.h"

/* "model name" of the first processor; other architectures say less. The caller's. */
static char *
processor_name (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++)
    if (g_str_has_prefix (*line, "model name") && strchr (*line, ':'))
      return g_strdup (g_strstrip (strchr (*line, ':') + 1));
  return NULL;
}

/* As the result of a run says it: that is what was measured. */
static json_t *
machine_isolation (struct bench *bench)
{
  g_autoptr (AdderRequest) request = adder_request_new ("1", -1);
  adder_request_set_environment (request, bench->environment->name);
  g_autoptr (AdderResult) result = adder_run (bench->engine, request);
  g_autoptr (json_t) object = library_result (result);
  json_t *value = json_object_get (object, "isolation");
  return value ? json_incref (value) : json_null ();
}

/* Of those packages that the modules loaded ahead come from. */
static json_t *
versions (struct bench *bench, GError **error)
{
  g_autoptr (json_t) described = environment_describe (bench->environment, error);
  json_t *found = json_object (), *package;
  gsize i;
  json_array_foreach (json_object_get (described, "packages"), i, package)
  {
    const char *name = json_string_value (json_object_get (package, "name"));
    for (char **module = bench->environment->modules; name && module && *module; module++) {
      g_auto (GStrv) parts = g_strsplit (*module, ".", 2);
      if (g_ascii_strcasecmp (parts[0], name) == 0)
        json_object_set (found, name, json_object_get (package, "version"));
    }
  }
  return found;
}

json_t *
bench_machine_json (struct bench *bench, GError **error)
{
  struct utsname host;
  double load[1] = {0};
  uname (&host);
  (void)getloadavg (load, 1);
  g_autofree char *processor = processor_name ();
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  g_autoptr (GError) problem = NULL;
  json_t *packages = versions (bench, &problem);
  if (problem) {
    g_propagate_error (error, g_steal_pointer (&problem));
    json_decref (packages);
    return NULL;
  }
  return json_pack ("{s:s, s:s, s:s, s:o, s:i, s:I, s:f, s:b, s:o, s:s, s:s, s:s, s:o, s:s}", "date", date,
                    "kernel", host.release, "architecture", host.machine, "processor",
                    json_text_or_null (processor), "cores", (int)g_get_num_processors (), "memory_bytes",
                    (json_int_t)sysconf (_SC_PHYS_PAGES) * (json_int_t)sysconf (_SC_PAGESIZE), "load_average",
                    load[0], "root", geteuid () == 0, "isolation", machine_isolation (bench), "adder",
                    adder_version (), "environment", bench->environment->name, "python",
                    bench->environment->version, "packages", packages, "storing", "sqlite, directory");
}

void
bench_print_machine (FILE *stream, const json_t *machine)
{
  const char *processor = json_string_value (json_object_get (machine, "processor"));
  const char *name;
  json_t *version;
  fprintf (stream, "adder %s, Linux %s, %d cores%s%s, %.1f GB, isolation level %d, load %.1f\n",
           json_string_value (json_object_get (machine, "adder")),
           json_string_value (json_object_get (machine, "kernel")),
           (int)json_integer_value (json_object_get (machine, "cores")), processor ? " of " : "",
           processor ? processor : "",
           (double)json_integer_value (json_object_get (machine, "memory_bytes")) / 1e9,
           (int)json_integer_value (json_object_get (json_object_get (machine, "isolation"), "level")),
           json_real_value (json_object_get (machine, "load_average")));
  fprintf (stream, "environment %s: Python %s", json_string_value (json_object_get (machine, "environment")),
           json_string_value (json_object_get (machine, "python")));
  json_object_foreach (json_object_get (machine, "packages"), name, version)
      fprintf (stream, ", %s %s", name, json_string_value (version));
  fprintf (stream, "\nrecords and files of all runs are kept: %s\n\n",
           json_string_value (json_object_get (machine, "storing")));
}
