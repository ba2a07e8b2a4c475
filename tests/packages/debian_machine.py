# SPDX-License-Identifier: Apache-2.0
"""Roots that have the Debian packages of build/dist at hand."""
import subprocess

import pytest

import debian_root

DIST = debian_root.SOURCE / "build/dist"
PACKAGES = "/packages"  # where a root has them
APT = "DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io"


def packaged(name):
    """The package NAME in a root."""
    (path,) = DIST.glob(f"{name}_*.deb")
    return f"{PACKAGES}/{path.name}"


def skip_without(suite):
    if not list(DIST.glob("adder_*.deb")):
        pytest.skip("no Debian packages in build/dist: packages of scripts/common.sh builds them")
    if why_not := debian_root.why_not(suite):
        pytest.skip(why_not)


class Machine(debian_root.Root):
    """It shares what apt fetches with others of its release."""

    def __init__(self, suite):
        super().__init__(suite)
        self.binds = {str(DIST): PACKAGES}
        kept = debian_root.SOURCE / "build/apt" / suite
        for name, place in (("archives", "/var/cache/apt/archives"), ("lists", "/var/lib/apt/lists")):
            (kept / name / "partial").mkdir(parents=True, exist_ok=True)
            self.binds[str(kept / name)] = place
        if not (kept / "updated").exists():
            self.do("apt-get -q update")
            (kept / "updated").touch()

    def do(self, script, **options):
        return self.shell(script, binds=self.binds, timeout=900, **options).stdout

    def install(self, *names):
        return self.do(f"{APT} install {' '.join(map(packaged, names))}")

    def paths(self):
        """Of all files and directories."""
        listed = subprocess.run(["find", self.path, "-xdev", "-printf", "/%P\n"], capture_output=True, text=True, check=True)
        return set(listed.stdout.splitlines())
