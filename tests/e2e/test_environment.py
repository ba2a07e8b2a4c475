# SPDX-License-Identifier: Apache-2.0
"""Environments: any interpreter serves, and one that changed on disk is noticed."""
import os
import subprocess
import tempfile

import pytest

import harness

pytestmark = pytest.mark.both_users


@pytest.fixture
def adopted(make_adder):
    """An Adder with an environment `mine`: a small venv that somebody made and Adder adopted."""
    adder = make_adder()
    adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(adder.folder("environments"))
    adder.venv = adder.scratch / "venv"
    subprocess.run(
        [*adder.user.prefix, "/usr/bin/python3", "-m", "venv", "--without-pip", adder.venv],
        check=True,
        cwd=adder.scratch,
        env=adder.process_environment(),
    )
    [adder.packages] = adder.venv.glob("lib/python3*/site-packages")
    adder.environment = "mine"
    return adder


def install(adder, name, text):
    """What pip does, as far as it shows: a module and its metadata in site-packages."""
    (adder.packages / f"{name}.py").write_text(text)
    metadata = adder.packages / f"{name}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    for path in (adder.packages / f"{name}.py", metadata, metadata / "METADATA"):
        adder.own(path)


def create(adder, *options):
    ended = adder.call("env", "new", "mine", "--python", adder.venv / "bin/python", *options)
    assert ended.returncode == 0


def starts(adder):
    """How many zygotes were started for it."""
    return sum(pool["starts"] for pool in adder.status()["engine"]["pools"] if pool["environment"] == "mine")


@pytest.mark.quick
def test_adopted_environment(adopted):
    create(adopted)
    result = adopted.run("import sys\nprint(sys.prefix, sys.executable)")
    assert result.stdout == f"{adopted.venv} {adopted.venv}/bin/python\n"
    shown = harness.strict_json(adopted.call("env", "show", "mine", "--json").stdout)
    assert shown["python"] == str(adopted.venv / "bin/python")
    assert adopted.call("env", "rm", "mine").returncode == 0
    assert adopted.venv.exists(), "what was adopted is not Adder's to delete"
    assert adopted.run("1").outcome == "failed"
    adopted.stop()


def test_runs_that_name_none(adopted):
    """They have `science`, and the system's Python until somebody makes that."""
    where = ("run", "-c", "import sys; print(sys.executable)")
    adopted.configure("")  # without the default that tests have
    assert adopted.call(*where).stdout == "/usr/bin/python3\n"
    create(adopted)
    folder = adopted.scratch / "environments"
    (folder / "mine").rename(folder / "science")
    assert adopted.call(*where).stdout == f"{adopted.venv}/bin/python\n"
    adopted.stop()


def test_packages_are_seen(adopted):
    install(adopted, "something", "x = 1\n")
    create(adopted)
    assert adopted.run("import something\nprint(something.x)").stdout == "1\n"
    adopted.stop()


def test_package_installed_later_gets_a_new_zygote(adopted):
    create(adopted)
    assert adopted.run("import something").outcome == "error"
    assert starts(adopted) == 1
    install(adopted, "something", "x = 2\n")
    assert adopted.run("import something\nprint(something.x)").stdout == "2\n"
    assert starts(adopted) == 2, "one that knows of it"
    adopted.at_rest()
    adopted.stop()


def test_unchanged_environment_keeps_its_zygote(adopted):
    create(adopted)
    for _ in range(5):
        adopted.run("1")
    assert starts(adopted) == 1
    adopted.stop()


def test_runs_under_way_survive_a_change(adopted):
    create(adopted)
    gate = adopted.start("print('started', flush=True)\nimport time\ntime.sleep(2)\nprint('done')")
    assert gate.stdout.readline() == b"started\n"
    install(adopted, "something", "x = 3\n")
    assert adopted.run("import something\nprint(something.x)").stdout == "3\n"
    assert gate.communicate(timeout=60)[0] == b"done\n" and gate.returncode == 0
    adopted.stop()


def test_names_of_environments(adopted):
    for name in ("../x", "Upper", "a b", "", "x" * 65, "system"):
        ended = adopted.call("env", "new", name, "--python", adopted.venv / "bin/python")
        assert ended.returncode != 0 and ended.stderr.strip(), name
    assert os.listdir(adopted.variables["ADDER_ENVIRONMENTS_DIR"]) == []


def test_interpreter_that_does_not_serve(adopted):
    for python in ("/bin/true", "/nonexistent/python", adopted.scratch):
        ended = adopted.call("env", "new", "mine", "--python", python)
        assert ended.returncode != 0 and str(python) in ended.stderr
    assert os.listdir(adopted.variables["ADDER_ENVIRONMENTS_DIR"]) == [], "whole or not at all"


def test_an_environment_below_a_place_of_sandboxes(adder):
    """It is refused before anything is made, with the reason and what to do."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o777)
        ended = adder.call("env", "new", "hidden", env={**adder.process_environment(), "ADDER_ENVIRONMENTS_DIR": place})
        assert ended.returncode == 125 and os.listdir(place) == []
        assert "every sandbox has a /tmp of its own; put the environment into another directory" in ended.stderr
        subprocess.run(["/usr/bin/python3", "-I", "-m", "venv", "--without-pip", f"{place}/venv"], check=True)
        ended = adder.call("env", "new", "hidden", "--python", f"{place}/venv/bin/python")
        assert ended.returncode == 125 and "every sandbox has a /tmp of its own" in ended.stderr
