# SPDX-License-Identifier: Apache-2.0
"""What code makes of an environment that others use: a start-up file, settings, an interpreter. Nothing of it may run outside of a
sandbox, show sandboxes more of the host, or reach the runs of another owner."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import http_bed

pytestmark = pytest.mark.both_users

LEVEL_1 = "[sandbox]\nisolation = process\nmin_isolation = 1\n"


class Adopted:
    """An Adder with the environment `mine`: a virtual environment in a project of the user's, which was adopted."""

    def __init__(self, adder):
        self.adder = adder
        self.environments = adder.folder("environments")
        adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(self.environments)
        self.project = adder.folder("project")
        self.prefix = self.project / "venv"
        words = [*adder.user.prefix, "/usr/bin/python3", "-I", "-m", "venv", "--without-pip", self.prefix]
        subprocess.run(words, check=True, cwd=adder.scratch, env=adder.process_environment())
        (packages,) = self.prefix.glob("lib/python3*/site-packages")
        self.packages = packages.relative_to(self.project)
        self.mark = pathlib.Path(f"/var/tmp/adder-environment-mark-{os.getpid()}-{adder.user.uid}")
        ended = adder.call("env", "new", "mine", "--python", self.prefix / "bin/python3")
        assert ended.returncode == 0, ended.stderr
        adder.environment = "mine"

    def plants(self):
        """{kind: {path below the project: text}}: each leaves the mark where it runs and /var/tmp is the host's."""
        python = f"import os; os.path.isdir('/var/tmp') and open({str(self.mark)!r}, 'w')\n"
        early = f"import posix\ntry: posix.open({str(self.mark)!r}, posix.O_CREAT)\nexcept OSError: pass\nfrom planted import x\n"
        shell = f"#!/bin/sh\n[ -d /var/tmp ] && touch {self.mark}\n"
        library = pathlib.Path("other/lib") / self.packages.parent.name
        return {
            "path file": {self.packages / "planted.pth": python},
            "interpreter": {pathlib.Path("venv/bin/python3"): f'{shell}exec /usr/bin/python3 "$@"\n'},
            "settings": {
                pathlib.Path("venv/pyvenv.cfg"): f"home = {self.project}/other/bin\n",
                library / "os.py": "",
                library / "encodings/__init__.py": early,
            },
        }

    def plant(self, kind):
        for path, text in self.plants()[kind].items():
            target = self.project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.write_text(text)
            target.chmod(0o755)
            self.adder.own(target)

    def code_that_plants(self, kind):
        lines = ["import os"]
        for path, text in self.plants()[kind].items():
            lines += [
                f"os.makedirs({str(path.parent)!r}, exist_ok=True)",
                f"if os.path.lexists({str(path)!r}): os.unlink({str(path)!r})",
                f"with open({str(path)!r}, 'w') as file: file.write({text!r})",
                f"os.chmod({str(path)!r}, 0o755)",
            ]
        return "\n".join(lines)

    def look(self):
        """All that is done with environments but to make them and to run something in them."""
        for words in ("env list", "env list --json", "env show mine", "env show mine --json", "tools --toolset workbench --format mcp"):
            self.adder.call(*words.split())


KINDS = ["path file", "interpreter", "settings"]


@pytest.fixture
def adopted(request, make_adder):
    made = Adopted(make_adder(getattr(request, "param", "")))
    yield made
    made.adder.stop()
    made.mark.unlink(missing_ok=True)


# ---- on the host ----


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_run_plants_runs_in_no_other_place(adopted, kind):
    adopted.adder.run(adopted.code_that_plants(kind), "--workdir", f"{adopted.project}:rw")
    adopted.look()
    assert adopted.adder.run("print('ran')").stdout == "ran\n"
    adopted.adder.stop()
    assert adopted.adder.run("print('ran')").stdout == "ran\n"
    assert not adopted.mark.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_what_somebody_plants_runs_in_no_other_place(adopted, kind):
    """However it came there. The zygote runs it, in a tree where there is nothing to mark."""
    assert adopted.adder.run("print('ran')").stdout == "ran\n"
    adopted.plant(kind)
    adopted.look()
    adopted.adder.run("print('ran')")
    adopted.adder.stop()
    adopted.adder.run("print('ran')")
    adopted.adder.call("doctor")
    assert not adopted.mark.exists()


@pytest.mark.parametrize("adopted", [LEVEL_1], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_looking_runs_nothing_without_namespaces(adopted, kind):
    """At level 1 a zygote runs it unconfined, so no run may plant it; nor does anybody run it who only looks."""
    adopted.plant(kind)
    adopted.look()
    assert not adopted.mark.exists()


# ---- what sandboxes are shown ----


def test_a_path_file_shows_nothing_more(adopted):
    secret = adopted.adder.file("secret/diary.txt", "dear diary").parent
    secret.chmod(0o755)
    (adopted.project / adopted.packages / "planted.pth").write_text(f"{secret}\n")
    code = f"import os, sys\nprint({str(secret)!r} in sys.path, os.path.exists({str(secret)!r}))"
    assert adopted.adder.run(code).stdout == "False False\n"


def test_an_interpreter_does_not_say_what_is_shown(adopted):
    """One that is a program of somebody's, and says what Adder's probe would be told, with another directory."""
    secret = adopted.adder.file("secret/diary.txt", "dear diary").parent
    secret.chmod(0o755)
    answer = {
        "executable": "/usr/bin/python3", "implementation": "CPython", "version": "3.11.2", "minor": 11, "free_threaded": False,
        "prefixes": ["/usr"], "needed": [str(secret)], "packages": [str(adopted.project / adopted.packages)], "wanted": [],
    }  # fmt: skip
    python = adopted.prefix / "bin/python3"
    python.unlink()
    text = f"#!/bin/sh\ncase \"$*\" in *implementation*) echo '{json.dumps(answer)}' ;; *) exec /usr/bin/python3 \"$@\" ;; esac\n"
    python.write_text(text)
    python.chmod(0o755)
    adopted.adder.own(python)
    result = adopted.adder.run(f"import os\nprint(os.path.exists({str(secret)!r}))")
    assert result.stdout == "False\n", result


@pytest.mark.parametrize("target", ["/", "secret"])
def test_a_link_in_its_place_is_not_followed(adopted, target):
    """What is put in its place would serve as an environment, and has more beside it."""
    secret = adopted.adder.file("secret/diary.txt", "dear diary").parent
    shutil.copytree(adopted.prefix, secret, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(adopted.prefix)
    adopted.prefix.symlink_to(secret if target == "secret" else target)
    result = adopted.adder.run(f"import os\nprint(os.listdir({str(adopted.prefix)!r}))")
    assert result.outcome == "failed" and result.stdout == ""
    assert "which it did not when it was made" in result.error["message"]


# ---- what runs may change ----


def places(adopted):
    """{name: a directory that would be bind-mounted, and what would be within reach in it}"""
    libexec = adopted.adder.installation.program.parent.parent / "libexec/adder"
    return {
        "itself": (adopted.prefix, "the environment mine"),
        "above": (adopted.project, "the environment mine"),
        "below": (adopted.project / adopted.packages, "the environment mine"),
        "by a link": (adopted.adder.scratch / "link", "the environment mine"),
        "manifest": (adopted.environments / "mine", "Adder"),
        "environments": (adopted.environments, "Adder"),
        "system": (pathlib.Path("/usr/local/lib"), "the environment system"),
        "programs": (libexec, "Adder"),
    }


@pytest.mark.parametrize("name", ["itself", "above", "below", "by a link", "manifest", "environments", "system", "programs"])
def test_no_run_changes_an_environment(adopted, name):
    (adopted.adder.scratch / "link").symlink_to(adopted.prefix)
    path, whose = places(adopted)[name]
    if not path.is_dir():
        pytest.skip(f"there is no {path}")
    for words in ([f"{path}:rw"], [path, "--review"]):
        result = adopted.adder.run("print('ran')", "--workdir", *words, env="system")
        assert result.outcome == "refused" and result.stdout == "", result
        assert f"where {whose} loads code from for other runs as well" in result.error["message"]
    for words in ([path], [f"{path}:overlay"]):
        result = adopted.adder.run("print('ran')", "--workdir", *words, env="system")
        assert result.stdout == "ran\n", result


def test_one_that_is_broken_is_not_put_in_order_by_code(adopted):
    (adopted.prefix / "bin/python3").unlink()
    result = adopted.adder.run("open('planted', 'w')", "--workdir", f"{adopted.project}:rw", env="system")
    assert result.outcome == "refused" and "the environment mine" in result.error["message"]


def test_beside_an_environment_runs_change_what_they_like(adopted):
    beside = adopted.adder.folder("project/beside")
    assert adopted.adder.run("open('made', 'w').write('new')", "--workdir", f"{beside}:rw").outcome == "ok"
    assert (beside / "made").read_text() == "new"


def test_one_owner_does_not_change_what_another_loads(adopted):
    """Two tokens, one of which may write where the environment lies that both run in."""
    adder = adopted.adder
    adopted.project.joinpath("beside").mkdir()
    adder.own(adopted.project / "beside")
    adder.configure(f"[environment]\ndefault = mine\n[http]\nroots = data={adopted.project}:rw\n")
    bed = http_bed.Served(adder)
    try:
        alice, bob = bed.token("alice", "--roots", "data"), bed.token("bob")
        code = "import sys\nprint(hasattr(sys, 'planted'))"
        path = adopted.packages / "planted.pth"
        plant = f"open({str(path)!r}, 'w').write('import sys; sys.planted = True')"
        for mode in ("rw", "review"):
            tried = bed.run(plant, secret=alice, workdir={"root": "data", "mode": mode})
            assert tried["outcome"] == "refused" and "the environment mine" in tried["error"]["message"], tried
        assert bed.run(code, secret=bob)["stdout"] == "False\n"
        allowed = {"root": "data", "path": "beside", "mode": "rw"}
        assert bed.run("open('made', 'w')", secret=alice, workdir=allowed)["outcome"] == "ok"
    finally:
        bed.stop()
