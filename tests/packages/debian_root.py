# SPDX-License-Identifier: Apache-2.0
"""Bare Debian roots to install packages in: copies of build/roots/SUITE, which scripts/debian-root made."""
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROOTS = SOURCE / "build/roots"
RELEASES = {"bookworm": 12, "trixie": 13}  # of Debian
SUITES = tuple(RELEASES)


def release_here():
    """The number of this host's Debian, or 0."""
    host = platform.freedesktop_os_release()
    return int(host.get("VERSION_ID", 0)) if host.get("ID") == "debian" else 0


def is_here(suite):
    return release_here() == RELEASES[suite]


def why_not(suite):
    """Why what was built here cannot be tried there, or None."""
    if os.geteuid() != 0 or not (ROOTS / suite).is_dir():
        return f"no build/roots/{suite}: debian_roots of scripts/common.sh makes it, as root"
    return "what is built on a newer Debian is not for an older one" if release_here() > RELEASES[suite] else None


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
