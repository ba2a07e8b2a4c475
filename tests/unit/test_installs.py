# SPDX-License-Identifier: Apache-2.0
"""Which commands would install a package that is not there."""

import pytest

import test_runner  # noqa: F401 - makes the package

from adder_runner import installs

pytestmark = pytest.mark.quick

# The command, and what it would install; pytest is there, and nothing is called as the others are.
COMMANDS = [
    ("pip install no-such-package", "pip install no-such-package"),
    ("pip3.11 -q install no-such-package pytest", "pip3.11 -q install no-such-package"),
    ("/usr/bin/python3 -m pip install --upgrade no-such-package", "pip install no-such-package"),
    ("cd x && python -m pip install 'no-such-package>=2' 2>/dev/null || true", "pip install no-such-package>=2"),
    ("uv pip install no-such-package | tail -1", "uv pip install no-such-package"),
    ("conda install -y -c conda-forge no-such-package", "conda install no-such-package"),
    ("uv add no-such-package", "uv add no-such-package"),
    ("pip install pytest>=9999", "pip install pytest>=9999"),
    ("pip install https://example.org/x-1-py3-none-any.whl", "pip install https://example.org/x-1-py3-none-any.whl"),
    ("pip install git+https://example.org/x", "pip install git+https://example.org/x"),
    ("pip install a b c d e f g h i j", "pip install a b c d e f g h"),
    ("pip install pytest", None),
    ("pip install 'pytest>=2'", None),
    ("pip install -r requirements.txt", None),
    ("pip install --find-links wheels no-such-package", None),
    ("pip install -e .", None),
    ("pip install ./x.whl --target lib", None),
    ("pip list | grep install", None),
    ("echo pipeline install x", None),
    ("apt-get install no-such-package", None),
    ("", None),
]


@pytest.mark.parametrize("command, missing", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_missing(command, missing):
    assert installs.missing(command) == missing


def test_what_is_there():
    assert installs.is_met_by_what_is_there("pip install -q pytest")
    for command in ("pip install pytest no-such-package", "pip list", "pip install", "pip install -r x.txt"):
        assert not installs.is_met_by_what_is_there(command), command
