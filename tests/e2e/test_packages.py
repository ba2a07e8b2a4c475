# SPDX-License-Identifier: Apache-2.0
"""Packages that an environment lacks: nothing installs them from inside a run, and code is told so at once."""
import pytest

pytestmark = pytest.mark.both_users


@pytest.fixture
def new_session(adder, science):
    """Starts a session; returns a function that runs a cell."""
    made = []

    def start(name):
        made.append(name)
        assert adder.call("session", "new", "--env", "science", "--name", name).returncode == 0
        return lambda code: cell(adder, code, name)

    yield start
    for name in made:
        adder.call("session", "rm", name)


def cell(adder, code, session):
    """Cells have the environment of their session."""
    environment, adder.environment = adder.environment, None
    try:
        return adder.run(code, "--session", session)
    finally:
        adder.environment = environment

MISSING = "no-such-package"

# Each tries to install a package that is not there. In one second of processor time pip starts, and asks no index; it would
# wait ten seconds for one.
FORMS = {
    "a command": "import subprocess\nsubprocess.run(['pip', 'install', 'no-such-package'])",
    "a command line": "import os\nos.system('pip install no-such-package')",
    "a module": "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', 'no-such-package'])",
    "a module of a command line": "import subprocess, sys\nsubprocess.run(f'{sys.executable} -m pip install no-such-package', shell=True)",
    "checked": "import subprocess\nsubprocess.check_call(['pip', 'install', 'no-such-package'])",
    "captured": "import subprocess\nsubprocess.run(['pip', 'install', 'no-such-package'], capture_output=True)",
    "in the process": "import pip\npip.main(['install', 'no-such-package'])",
    "by its modules": "from pip._internal import main\nmain(['install', 'no-such-package'])",
    "uv": "import subprocess\nsubprocess.run(['uv', 'pip', 'install', 'no-such-package'])",
    "a command line of uv": "import os\nos.system('uv pip install no-such-package')",
    "another process": "import os\nos.popen('python3 -m pip install no-such-package').read()",
    "asyncio": (
        "import asyncio\n"
        "async def main():\n"
        "    process = await asyncio.create_subprocess_exec('pip', 'install', 'no-such-package')\n"
        "    await process.wait()\n"
        "asyncio.run(main())"
    ),
}

CELLS = {
    "a line": "!pip install no-such-package",
    "its interpreter": "import sys\n!{sys.executable} -m pip install no-such-package",
}


def installs(result):
    """The denials of installations; their hints say that nothing can be installed."""
    found = [denial for denial in result.denials if denial["kind"] == "install"]
    assert all("Nothing can be installed" in denial["hint"] for denial in found)
    return found


def asked_an_index(result):
    return "Retrying" in result.stderr or "network" in [denial["kind"] for denial in result.denials]


@pytest.mark.parametrize("code", FORMS.values(), ids=FORMS)
def test_every_form_fails_at_once_and_says_why(adder, science, code):
    result = adder.run(code)
    assert not asked_an_index(result), result
    [denial] = installs(result)
    assert denial["detail"].endswith(f"install {MISSING}")


@pytest.mark.parametrize("code", CELLS.values(), ids=CELLS)
def test_cells(new_session, code):
    result = new_session("packages-cells")(code)
    assert not asked_an_index(result), result
    assert installs(result)


def test_a_script(new_session):
    """What a program reads from its standard input is not seen; it fails as fast, and its failure has the hint."""
    result = new_session("packages-script")(f"%%bash\npip install {MISSING}")
    assert not asked_an_index(result), result
    assert result.error["type"] == "CalledProcessError" and "Nothing can be installed" in result.error["hint"]


def test_a_magic(new_session):
    run = new_session("packages-magic")
    refused = run(f"%pip install {MISSING}")
    assert refused.error["type"] == "UsageError" and "No packages can be installed" in refused.error["message"]
    there = run("%pip install numpy pandas")
    assert (there.outcome, there.stdout) == ("ok", "All of these are installed already.\n")


def test_what_is_there_is_installed(adder, science):
    """Code that makes sure of its packages goes on."""
    result = adder.run("import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', '-q', 'numpy'])\nimport numpy")
    assert result.outcome == "ok" and not result.denials, result


def test_the_errors_that_follow_have_the_hint(adder, science):
    checked = adder.run(FORMS["checked"])
    assert checked.error["type"] == "CalledProcessError" and "Nothing can be installed" in checked.error["hint"]
    unknown = adder.run(FORMS["uv"])
    assert unknown.error["type"] == "FileNotFoundError" and "Nothing can be installed" in unknown.error["hint"]
    missing = adder.run("import no_such_package")
    assert missing.error["type"] == "ModuleNotFoundError" and "none can be installed" in missing.error["hint"]


def test_command_lines(adder):
    for command in ("python3 -m pip install x", "pip install x", "uv pip install x", "conda install x"):
        result = adder.run(command, "--profile", "shell", env="shell")
        assert result.outcome == "refused", result
        assert "installed" in result.violations[0]["hint"] or "Interpreters" in result.violations[0]["hint"]


def test_a_run_with_a_network_may_ask_an_index(make_adder, science):
    """There an installation into the workspace can succeed, and a proxy that refuses is asked once."""
    adder = make_adder()
    profiles = adder.config / "profiles"
    profiles.mkdir(mode=0o755)
    (profiles / "net.conf").write_text("[network]\nmode = allow\nallow = example.org\n")
    names = "('PIP_NO_INDEX', 'UV_OFFLINE', 'PIP_RETRIES')"
    code = f"import os\nprint([os.environ.get(name) for name in {names}])"
    assert adder.run(code).stdout == "['1', '1', '0']\n"
    assert adder.run(code, "--profile", "net").stdout == "[None, None, '0']\n"
    assert adder.run(code, "--profile", "net", "--set-env", "PIP_NO_INDEX=1").stdout == "['1', None, '0']\n"
    adder.stop()
