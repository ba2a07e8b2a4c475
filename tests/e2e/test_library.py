# SPDX-License-Identifier: Apache-2.0
"""libadder as a stranger's program uses it: header, pkg-config file, the example."""
import os
import pathlib
import shutil
import subprocess

import pytest

import harness

ONE_AFTER_ANOTHER = r"""
#include <adder.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static gpointer cancel_soon (gpointer run) { adder_run_cancel (run); return NULL; }

int
main (void)
{
  g_autoptr (GError) error = NULL;
  AdderEngine *engine = adder_engine_new (NULL, &error);
  if (!engine || !adder_engine_warm (engine, "system", &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  for (int i = 0; i < 20; i++) {
    g_autofree char *code = g_strdup_printf ("print(%d)", i);
    g_autoptr (AdderRequest) request = adder_request_new (code, -1);
    adder_request_set_environment (request, "system");
    g_autoptr (AdderResult) result = adder_run (engine, request);
    if (adder_result_outcome (result) != ADDER_OUTCOME_OK)
      return puts (adder_result_json (result)), 2;
  }

  g_autoptr (AdderRequest) request = adder_request_new ("print('s', flush=True)\nwhile True: pass", -1);
  adder_request_set_environment (request, "system");
  if (adder_request_set_limit (request, "no_such_limit", 1, NULL) || !adder_request_set_limit (request, "wall_ms", 60000, NULL))
    return 3;
  AdderRun *run = adder_run_start (engine, request);
  AdderEvent event;
  gboolean started = FALSE;
  GThread *thread = NULL;
  while (adder_run_next (run, &event)) {
    started |= event.kind == ADDER_EVENT_STARTED;
    if (event.kind == ADDER_EVENT_STDOUT && !thread)
      thread = g_thread_new ("cancel", cancel_soon, run);
    if (event.kind == ADDER_EVENT_RESULT) {
      if (adder_result_outcome (event.result) != ADDER_OUTCOME_CANCELLED || adder_result_exit_code (event.result) != 130)
        return puts (adder_result_json (event.result)), 4;
      adder_result_free (event.result);
    }
  }
  g_thread_join (thread);
  adder_run_free (run);
  adder_engine_free (engine);

  struct sigaction now;
  sigaction (SIGCHLD, NULL, &now);
  if (!started || now.sa_handler != SIG_DFL)
    return 5;
  sigaction (SIGPIPE, NULL, &now);
  if (now.sa_handler != SIG_DFL)
    return 6;
  puts ("all well");
  return 0;
}
"""

SESSIONS = r"""
#include <adder.h>
#include <stdio.h>
#include <unistd.h>

int
main (void)
{
  g_autoptr (GError) error = NULL;
  AdderEngine *engine = adder_engine_new (NULL, &error);
  g_autoptr (AdderRequest) options = adder_request_new ("", -1);
  adder_request_set_environment (options, "system");
  const char *const names[] = {"one", "two", "three"};
  for (int i = 0; i < 3; i++) {
    g_autofree char *session = adder_session_new (engine, options, names[i], &error);
    g_autoptr (AdderRequest) cell = adder_request_new ("import subprocess\nchild = subprocess.Popen(['sleep', '600'])", -1);
    adder_request_set_session (cell, names[i], TRUE);
    g_autoptr (AdderResult) result = adder_run (engine, cell);
    if (!session || adder_result_outcome (result) != ADDER_OUTCOME_OK)
      return puts (error ? error->message : adder_result_json (result)), 1;
  }
  puts ("ready");
  fflush (stdout);
  pause ();
}
"""


@pytest.fixture
def built(own_adder, installation):
    """Compiles a program against the installed library, for the user of the test."""
    for tool in ("cc", "pkg-config"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    [found] = installation.prefix.glob("lib/**/pkgconfig/adder.pc")
    # As it would be with that prefix; --define-prefix guesses wrong below lib/MACHINE.
    text = found.read_text().replace("prefix=/usr/local\n", f"prefix={installation.prefix}\n")
    folder = own_adder.folder("pkgconfig")
    (folder / "adder.pc").write_text(text)
    variables = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "adder"],
        check=True,
        text=True,
        capture_output=True,
        env=variables,
    ).stdout.split()

    def build(source):
        program = own_adder.scratch / "program"
        subprocess.run(["cc", "-Wall", "-Werror", "-o", program, source, *flags], check=True)
        program.chmod(0o755)
        own_adder.variables["LD_LIBRARY_PATH"] = str(found.parent.parent)
        return program

    return build


def execute(adder, program, *arguments):
    ended = subprocess.run(
        [*adder.user.prefix, str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=adder.process_environment(),
        cwd=adder.scratch,
        stdin=subprocess.DEVNULL,
    )
    harness.gathered.append((ended.args, ended.returncode, ended.stdout, ended.stderr))
    return ended


def left(installation, before):
    """Processes that were not there BEFORE, without what other daemons, which were, have started since and perhaps ended again."""
    found = set(installation.processes()) - before
    of_others = {child for process in before for child in harness.descendants(process.pid)} if found else set()
    return {process for process in found - of_others if process.alive()}


@pytest.mark.quick
def test_example(own_adder, built):
    sources = [path for path in (harness.REPOSITORY / "examples").rglob("embed*.c")]
    if not sources:
        pytest.skip("the example is not there yet")
    before = set(own_adder.installation.processes())
    ended = execute(own_adder, built(sources[0]))
    assert ended.returncode == 0 and ended.stdout
    assert own_adder.daemon() is None
    assert not left(own_adder.installation, before)


def test_program_of_a_stranger(own_adder, built):
    before = set(own_adder.installation.processes())
    ended = execute(own_adder, built(own_adder.file("stranger.c", ONE_AFTER_ANOTHER)))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "all well\n", "")
    assert not left(own_adder.installation, before)


def test_killed_with_sessions(own_adder, built):
    """Nothing is left of sessions whose process had no time to end them."""
    program = built(own_adder.file("sessions.c", SESSIONS))
    holder = subprocess.Popen(
        [*own_adder.user.prefix, str(program)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=own_adder.process_environment(),
        cwd=own_adder.scratch,
    )
    try:
        assert holder.stdout.readline() == "ready\n"

        def names():
            return [process.name for process in harness.descendants(holder.pid)]

        # Who starts a program goes on a moment before that has its name.
        harness.wait_until(lambda: names().count("sleep") == 3, "the programs of the cells")
        below = harness.descendants(holder.pid)
    finally:
        holder.kill()
        holder.communicate()
    harness.wait_until(lambda: not [p for p in below if p.alive()], "the sandboxes to end with their engine")


def test_header_is_c_plus_plus_too(own_adder, installation):
    if not shutil.which("c++"):
        pytest.skip("no c++")
    glib = subprocess.run(
        ["pkg-config", "--cflags", "glib-2.0"], check=True, capture_output=True, text=True
    ).stdout.split()
    source = own_adder.file(
        "x.cc", "#include <adder.h>\n" "int main () { return adder_version () == nullptr; }\n"
    )
    subprocess.run(
        ["c++", "-fsyntax-only", "-Wall", f"-I{installation.prefix}/include", *glib, source], check=True
    )


def test_only_the_public_names_are_exported(installation):
    if not shutil.which("nm"):
        pytest.skip("no nm")
    [library] = [
        path for path in pathlib.Path(installation.prefix).glob("lib/**/libadder.so") if path.exists()
    ]
    text = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[-1] for line in text.splitlines()}
    assert "adder_run" in names
    assert not [name for name in names if not name.startswith("adder_")]


def test_it_may_be_loaded_again(installation):
    """As a plug-in of a program that closes what it opened: what GLib knows of it stays."""
    (library,) = [path for path in pathlib.Path(installation.prefix).glob("lib/**/libadder.so") if path.exists()]
    code = "\n".join(
        (
            "import ctypes, _ctypes, sys",
            "for _ in range(2):",
            "    library = ctypes.CDLL(sys.argv[1])",
            "    library.adder_version.restype = ctypes.c_char_p",
            "    print(library.adder_version().decode())",
            "    _ctypes.dlclose(library._handle)",
        )
    )
    ended = subprocess.run(["/usr/bin/python3", "-I", "-c", code, str(library)], capture_output=True, text=True)
    assert ended.returncode == 0 and len(ended.stdout.split()) == 2 and not ended.stderr, ended
