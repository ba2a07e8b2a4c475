# SPDX-License-Identifier: Apache-2.0
"""Bare Debian roots to install packages in: copies of build/roots/SUITE, which scripts/debian-root made."""
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROOTS = SOURCE / "build/roots"
SUITES = ("bookworm", "trixie")  # Debian 12 and 13


class Root:
    """A copy of its own, with an ordinary user `someone`. Use it as a context manager: its end removes it."""

    def __init__(self, suite):
        # Below a directory that every user may pass, since programs there run as `someone` too.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"adder-root-{suite}-", dir="/var/tmp"))
        self.path = self.directory / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", ROOTS / suite, self.path], check=True)

    def run(self, *command, user="root", binds=None, check=True, timeout=300):
        """Runs COMMAND in the root; all that it starts ends with it. BINDS: from paths of this host to paths there."""
        options = [word for source, target in (binds or {}).items() for word in ("--bind", source, target)]
        result = subprocess.run([SOURCE / "scripts/debian-root", "run", "--user", user, *options, self.path, *command],
                                capture_output=True, text=True, timeout=timeout)
        assert not check or result.returncode == 0, f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
        return result

    def shell(self, script, **options):
        return self.run("sh", "-euc", script, **options)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        shutil.rmtree(self.directory)
