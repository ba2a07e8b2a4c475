# SPDX-License-Identifier: Apache-2.0
"""What scripts/release --check looks at: rows of a name and a function that returns what is wrong ("" where nothing is), or
raises Skipped."""
import re
import subprocess
import sys

import abi
import parts
import sbom
import signing
import versions


class Skipped(Exception):
    pass


def output_of(command, log):
    """What COMMAND says, with its status; it is added to LOG."""
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(map(str, command))}\n{ended.stdout}")
    return ended.returncode, ended.stdout


def is_same(first, second, logs):
    """Bit for bit. diffoscope says where they differ, below LOGS."""
    if first.read_bytes() == second.read_bytes():
        return ""
    report = logs / f"{first.name}.diff"
    said = subprocess.run(["diffoscope", "--text", report, first, second], stderr=subprocess.PIPE, text=True, errors="replace")
    if not report.exists():
        return f"two builds differ, and diffoscope failed: {said.stderr.strip()}"
    return f"two builds differ: {report}\n" + "".join(report.read_text(errors="replace").splitlines(keepends=True)[:40])


def lintian(packages, log):
    status, said = output_of(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", *packages], log)
    return said if status else ""


def platform(wheel, log):
    """The wheel's name promises what auditwheel finds in it, or less."""
    status, said = output_of([sys.executable, "-I", "-m", "auditwheel", "show", wheel], log)
    found = re.search(r'platform\s+tag:\s+"manylinux_(\d+)_(\d+)_(\w+)"', said)
    promised = re.search(r"manylinux_(\d+)_(\d+)_(\w+)\.whl$", wheel.name)
    if status or not found or not promised:
        return said or "the wheel's name has no platform"
    (*needed, machine), (*given, named) = found.groups(), promised.groups()
    if machine != named or [int(part) for part in needed] > [int(part) for part in given]:
        return f"{wheel.name} promises less than auditwheel finds:\n{said}"
    return ""


def metadata(files, log):
    status, said = output_of([sys.executable, "-I", "-m", "twine", "check", "--strict", *files], log)
    return said if status else ""


def bill(file):
    return sbom.validate(file.read_text()) or ""


def signature(directory):
    if not (directory / signing.SIGNATURE).exists():
        raise Skipped("the release is not signed")
    try:
        signing.verify(directory)
    except signing.Unsigned as unsigned:
        return str(unsigned)
    return ""


def interface(commit, logs):
    tag = abi.previous_release(commit)
    if not tag:
        raise Skipped("there is no earlier release to compare libadder with")
    said = abi.differences(tag, commit, logs)
    return f"programs linked with libadder of {tag} break:\n{said}" if said else ""


def version(commit, scratch):
    """Of the files of COMMIT, which are put into SCRATCH, and of its tags."""
    source = scratch / "source"
    source.mkdir()
    archive = parts.git("archive", "--format=tar", commit)
    subprocess.run(["tar", "--extract", "--directory", source], input=archive, check=True)
    said = versions.differences(source)
    here = versions.current(source)
    for tag in parts.git("tag", "--points-at", commit, "--list", "v[0-9]*", text=True).split():
        if tag != f"v{here}":
            said.append(f"the tag {tag} is not v{here}")
        if versions.is_open(source):
            said.append(f"CHANGES.md says that {here} is not released yet, and there is the tag {tag}")
    return "\n".join(said)
