# SPDX-License-Identifier: Apache-2.0
"""A daemon with a page and something to show, for the scripts that look at it outside of tests."""
import contextlib
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402
import http_bed  # noqa: E402
import world  # noqa: E402


@contextlib.contextmanager
def served(lines=""):
    """The daemon (http_bed.Served) of an installation of the build, which ends with the block."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="adder-web-", dir="/var/tmp"))
    place.chmod(0o755)
    try:
        installed = harness.Installation(harness.build_directory(), place / "installed")
        adder = harness.Adder(installed, harness.users()[0], harness.new_directory(place, "own"))
        adder.environment = "science" if adder.has_environment("science") else "system"
        adder.configure(f"[environment]\ndefault = {adder.environment}\n{world.configuration(adder)}{lines}")
        daemon = http_bed.Served(adder)
        try:
            yield daemon
        finally:
            daemon.stop()
            adder.kill()
    finally:
        shutil.rmtree(place, ignore_errors=True)
