/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes that stay, for the other side of measures of sessions. Each reads lines, a JSON string of
 * code each, and answers with a line, an object that has "ms" and "stdout", or "error". A kernel's first line
 * comes unasked: "ready", or "missing" with the reason. They end with their standard input, so also when the
 * bench is killed. */
#include "bench/helper.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "common/json.h"

/* Debian's packages are the system interpreter's. */
#define SYSTEM_PYTHON "/usr/bin/python3"

struct bench_helper {
  GPid pid;
  FILE *to, *from;
};

static const char python_script[] = "import json, sys, time\n"
                                    "names = {}\n"
                                    "for line in sys.stdin:\n"
                                    "    try:\n"
                                    "        code = compile(json.loads(line), 'bench', 'exec')\n"
                                    "        start = time.monotonic()\n"
                                    "        exec(code, names)\n"
                                    "        told = {'ms': 1000 * (time.monotonic() - start), 'stdout': ''}\n"
                                    "    except Exception as error:\n"
                                    "        told = {'error': repr(error)}\n"
                                    "    print(json.dumps(told), flush=True)\n";

/* The kernel of scripts/peers/kernels.py: the interpreter and all packages are the environment's; only
 * ipykernel and what it needs beyond them are Debian's, last on the path. */
static const char kernel_script[] =
    "import json, os, subprocess, sys, time\n"
    "python, directory = sys.argv[1:]\n"
    "try:\n"
    "    import ipykernel\n"
    "    from jupyter_client import BlockingKernelClient, write_connection_file\n"
    "except ImportError as error:\n"
    "    print(json.dumps({'missing': str(error)}), flush=True)\n"
    "    sys.exit()\n"
    "launch = '''import sys\n"
    "sys.path.append('/usr/lib/python3/dist-packages')\n"
    "from ipykernel.kernelapp import launch_new_instance\n"
    "launch_new_instance()\n"
    "'''\n"
    "connection, _ = write_connection_file(directory + '/connection.json')\n"
    /* The kernel ends with this process, as with its manager. */
    "own = {'JPY_PARENT_PID': str(os.getpid()), 'IPYTHONDIR': directory + '/ipython'}\n"
    "kernel = subprocess.Popen([python, '-I', '-Xfrozen_modules=off', '-c', launch, '-f', connection],\n"
    "    cwd=directory, env=dict(os.environ, **own), stdin=subprocess.DEVNULL,\n"
    "    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)\n"
    "client = BlockingKernelClient(connection_file=connection)\n"
    "client.load_connection_file()\n"
    "client.start_channels()\n"
    "until = time.monotonic() + 120\n"
    "while True:\n"
    "    try:\n"
    "        client.wait_for_ready(timeout=120)\n"
    "        print(json.dumps({'ready': ipykernel.__version__}), flush=True)\n"
    "        break\n"
    /* The client holds a kernel for dead that misses a heartbeat, as one does that starts on a busy machine.
     */
    "    except RuntimeError as error:\n"
    "        if kernel.poll() is not None or time.monotonic() > until:\n"
    "            print(json.dumps({'missing': 'the kernel does not start: %s' % error}), flush=True)\n"
    "            break\n"
    "def run(code):\n"
    "    printed = []\n"
    "    def listen(message):\n"
    "        if message['msg_type'] == 'stream' and message['content']['name'] == 'stdout':\n"
    "            printed.append(message['content']['text'])\n"
    "    start = time.monotonic()\n"
    "    reply = client.execute_interactive(code, output_hook=listen, store_history=False, timeout=120)\n"
    "    took = 1000 * (time.monotonic() - start)\n"
    "    if reply['content']['status'] != 'ok':\n"
    "        return {'error': '%s: %s' % (reply['content'].get('ename'), reply['content'].get('evalue'))}\n"
    "    return {'ms': took, 'stdout': ''.join(printed)}\n"
    "for line in sys.stdin:\n"
    "    try:\n"
    "        told = run(json.loads(line))\n"
    "    except (TimeoutError, RuntimeError) as error:\n"
    "        told = {'error': repr(error)}\n"
    "    print(json.dumps(told), flush=True)\n"
    "client.stop_channels()\n"
    "kernel.kill()\n"
    "kernel.wait()\n";

static struct bench_helper *
helper_start (struct bench *bench, const char *const *arguments, GError **error)
{
  struct bench_helper *helper = g_new0 (struct bench_helper, 1);
  int to, from;
  if (!g_spawn_async_with_pipes (bench->directory, (char **)arguments, bench->plain_variables,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                 &helper->pid, &to, &from, NULL, error)) {
    g_free (helper);
    return NULL;
  }
  helper->to = fdopen (to, "w");
  helper->from = fdopen (from, "r");
  return helper;
}

/* The next line, or NULL. The caller's. */
static json_t *
helper_read_answer (struct bench_helper *helper, GError **error)
{
  char *line = NULL;
  size_t size = 0;
  json_t *answer = getline (&line, &size, helper->from) > 0 ? json_loads (line, JSON_ALLOW_NUL, NULL) : NULL;
  free (line);
  if (!answer)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "a Python of the bench's own ended unasked");
  return answer;
}

struct bench_helper *
bench_helper_python (struct bench *bench, GError **error)
{
  const char *arguments[] = {bench->environment->python, "-c", python_script, NULL};
  return helper_start (bench, arguments, error);
}

struct bench_helper *
bench_helper_kernel (struct bench *bench, GError **error)
{
  const char *arguments[] = {SYSTEM_PYTHON,    "-I", "-c", kernel_script, bench->environment->python,
                             bench->directory, NULL};
  if (!g_file_test (SYSTEM_PYTHON, G_FILE_TEST_IS_EXECUTABLE)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "there is no %s", SYSTEM_PYTHON);
    return NULL;
  }
  struct bench_helper *helper = helper_start (bench, arguments, error);
  g_autoptr (json_t) answer = helper ? helper_read_answer (helper, error) : NULL;
  const char *missing = json_string_value (json_object_get (answer, "missing"));
  if (missing)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s (Debian packages python3-jupyter-client and python3-ipykernel)", missing);
  if (answer && !missing)
    return helper;
  bench_helper_free (helper);
  return NULL;
}

gboolean
bench_helper_run (struct bench_helper *helper, const char *code, double *ret_ms, char **ret_stdout,
                  GError **error)
{
  g_autoptr (json_t) text = json_string (code);
  json_dumpf (text, helper->to, JSON_ENCODE_ANY);
  fputc ('\n', helper->to);
  fflush (helper->to);
  g_autoptr (json_t) answer = helper_read_answer (helper, error);
  const char *problem = json_string_value (json_object_get (answer, "error"));
  if (problem)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the other side of the bench: %s", problem);
  if (!answer || problem)
    return FALSE;
  *ret_ms = json_number_value (json_object_get (answer, "ms"));
  if (ret_stdout)
    *ret_stdout = g_strdup (json_string_value (json_object_get (answer, "stdout")));
  return TRUE;
}

void
bench_helper_free (struct bench_helper *helper)
{
  if (!helper)
    return;
  fclose (helper->to);
  fclose (helper->from);
  waitpid (helper->pid, NULL, 0);
  g_free (helper);
}
