# SPDX-License-Identifier: Apache-2.0
"""Whether programs that were linked with one libadder run with another: libabigail compares what two commits build."""
import pathlib
import re
import subprocess
import tempfile

import parts


def previous_release(commit):
    """The newest tag `v*` before COMMIT, or None."""
    said = subprocess.run(["git", "-C", parts.CHECKOUT, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "--exclude", "*-*", f"{commit}^"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return said.stdout.strip() or None


# With debugging information, which tells libabigail the types. Compilers' results are shared with other builds.
BUILD = """
. scripts/common.sh
configure build -Dtests=none -Dweb=false -Dbuildtype=debugoptimized
ninja -C build "$(ninja -C build -t targets rule c_LINKER | grep '^libadder[.]so')"
"""


def build_library(commit, source, logs):
    """Builds libadder of COMMIT in SOURCE. Returns its headers and the library."""
    log = logs / f"abi-{re.sub('[^A-Za-z0-9.]', '-', commit)}.log"
    source.mkdir()
    subprocess.run(["tar", "--extract", "--directory", source], input=parts.git("archive", "--format=tar", commit), check=True)
    with open(log, "wb") as file:
        ended = subprocess.run(["sh", "-euc", BUILD], cwd=source, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    if ended.returncode != 0:
        raise parts.Failed(f"libadder of {commit} cannot be built", log)
    return source / "include", (source / "build/libadder.so").resolve()


def soname(library):
    said = subprocess.run(["readelf", "--dynamic", "--wide", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", said)[1]


def compare(old, new):
    """What breaks programs that were linked with OLD, as abidiff says it; "" where nothing does. Each is (headers, library).
    Additions break nothing, and a library with another soname is another library."""
    if soname(old[1]) != soname(new[1]):
        return ""
    said = subprocess.run(["abidiff", "--no-added-syms", "--headers-dir1", old[0], "--headers-dir2", new[0], old[1], new[1]],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return said.stdout or f"abidiff ended with {said.returncode}" if said.returncode else ""


def differences(old, new, logs):
    with tempfile.TemporaryDirectory(prefix="adder-abi-", dir="/var/tmp") as scratch:
        built = [build_library(commit, pathlib.Path(scratch) / name, logs) for name, commit in (("old", old), ("new", new))]
        return compare(*built)
