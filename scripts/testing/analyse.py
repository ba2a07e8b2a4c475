# SPDX-License-Identifier: Apache-2.0
"""Static analysis of C, file by file: python3 -I scripts/testing/analyse.py tidy|cppcheck|analyzer [--all]

A file is looked at when it, or something that it includes, has changed since the merge base with the upstream branch; with
--all, or where there is no merge base other than HEAD (a fresh clone), every file is. A file that passed before is not looked
at again: the key of a result is a digest of the tool's version, its options and everything that the file includes.
Prints what the tools say of files that fail, then how many files were looked at, and fails when one failed.
"""
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "adder-checks"
KEPT_DAYS = 30  # results that nobody asked for since are removed
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed|^Use -header-filter|^$")

# The analyzer ends a function's paths after a tenth of its usual 225,000 nodes: the rest took six sevenths of the time, and gcc's
# analyzer reads all of them.
TIDY = ["clang-tidy-14", "--quiet"] + [
    f"-extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000")
]

# Not asked for leaks, since it does not know what __attribute__ ((cleanup)) releases: the address sanitizer finds those.
# readdir is safe for streams that no other thread has. missingReturn misreads Py_END_ALLOW_THREADS; the compilers know it.
CPPCHECK = """cppcheck --quiet --std=c11 --language=c --error-exitcode=1 --inline-suppr
    --enable=warning,portability,performance --library=gtk --library=posix
    --suppress=missingInclude --suppress=unknownMacro --suppress=missingReturn
    --suppress=invalidFunctionArg --suppress=memleak --suppress=resourceLeak --suppress=readdirCalled
    -D__linux__ -D__x86_64__ -D_GNU_SOURCE -I src -I include""".split()

# gcc's analyzer differs from version to version, so this one is named. Nothing is suppressed: where it could not know, the
# source says it.
ANALYZER = ["gcc-12", "-fanalyzer"]


@dataclasses.dataclass(frozen=True)
class Tool:
    """`folders` are those whose files it reads, as `build`, a build directory with the compilation database, has them."""

    build: str
    folders: tuple
    program: list  # and its options
    command: object  # (program, unit) -> the whole command
    also: tuple = ()  # files that decide what it says, besides


@dataclasses.dataclass(frozen=True)
class Unit:
    """One file as a build compiles it: its path and those of all that it includes, relative to the checkout where they are in it."""

    path: str
    directory: pathlib.Path
    arguments: tuple  # of the compiler, without the compiler
    includes: tuple


def compiled(program, unit):
    """The compiler's command without its output files."""
    kept = [word for word in unit.arguments if word not in ("-MD", "-MQ", "-MF", "-o")]
    outputs = {after for word, after in zip(unit.arguments, unit.arguments[1:]) if word in ("-MQ", "-MF", "-o")}
    return [*program, *(word for word in kept if word not in outputs), "-o", "/dev/null"]


TOOLS = {
    "tidy": Tool("build-asan", ("src", "examples", "tests"), TIDY, lambda program, unit: [*program, "-p", unit.directory, TOP / unit.path], (".clang-tidy",)),
    "cppcheck": Tool("build", ("src",), CPPCHECK, lambda program, unit: [*program, unit.path]),
    "analyzer": Tool("build", ("src",), ANALYZER, compiled),
}


def output_of(*command, cwd=TOP):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def relative(path, directory):
    full = pathlib.Path(os.path.normpath(directory / path))
    return str(full.relative_to(TOP)) if full.is_relative_to(TOP) else str(full)


def includes_of(directory):
    """{object: paths that it was made from}, as ninja keeps them."""
    found, current = {}, None
    for line in output_of("ninja", "-t", "deps", cwd=directory).splitlines():
        if line and not line.startswith(" "):
            current = found.setdefault(line.split(": #deps")[0], [])
        elif line.strip():
            current.append(relative(line.strip(), directory))
    return found


def units(tool):
    directory = TOP / tool.build
    includes, found = includes_of(directory), {}
    for entry in json.loads((directory / "compile_commands.json").read_text(encoding="utf-8")):
        path, arguments = relative(entry["file"], directory), shlex.split(entry["command"])
        if not path.startswith(tuple(f"{folder}/" for folder in tool.folders)) or not path.endswith(".c"):
            continue
        if entry["output"] not in includes:
            raise SystemExit(f"{path} is not built in {tool.build}")
        compiler = next(index for index, word in enumerate(arguments) if word.startswith("-"))
        found.setdefault(path, Unit(path, directory, tuple(arguments[compiler:]), tuple(includes[entry["output"]])))
    return list(found.values())


@functools.lru_cache(maxsize=None)
def digest(path):
    try:
        return hashlib.sha256((TOP / path).read_bytes()).hexdigest()
    except OSError:
        return "none"


def key(tool, unit, version):
    """Of a result. Paths of the checkout are left out, so that another clone of the same content has the same key."""
    words = [version, *tool.program, *(word.replace(str(TOP), "") for word in unit.arguments)]
    words += [f"{path} {digest(path)}" for path in sorted({unit.path, *unit.includes, *tool.also})]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def changed():
    """The paths that differ from the merge base, also what is not committed; None where there is none to compare with."""
    try:
        base = output_of("git", "merge-base", "HEAD", "@{upstream}").strip()
        different = output_of("git", "diff", "--name-only", base).splitlines()
        different += output_of("git", "ls-files", "--others", "--exclude-standard").splitlines()
        return set(different) if different or base != output_of("git", "rev-parse", "HEAD").strip() else None
    except (OSError, subprocess.CalledProcessError):
        return None


def look_at(tool, unit):
    """What the tool says of the file, or an empty text."""
    directory = unit.directory if tool.command is compiled else TOP
    ended = subprocess.run(
        [str(word) for word in tool.command(tool.program, unit)], cwd=directory, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said = "\n".join(line for line in ended.stdout.splitlines() if not NOISE.match(line))
    return said or (f"{unit.path}: exit status {ended.returncode}" if ended.returncode else "")


def forget_old():
    for entry in CACHE.iterdir():
        if entry.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
            entry.unlink(missing_ok=True)


def main():
    name, *options = sys.argv[1:]
    if name not in TOOLS or options not in ([], ["--all"]):
        sys.exit(f"usage: analyse.py {'|'.join(TOOLS)} [--all]")
    tool = TOOLS[name]
    found, concerned = units(tool), None if options else changed()
    if concerned is not None and not concerned & {*tool.also, "meson.build"}:
        found = [unit for unit in found if concerned & {unit.path, *unit.includes}]
    CACHE.mkdir(parents=True, exist_ok=True)
    version = output_of(tool.program[0], "--version")
    marks = {unit: CACHE / key(tool, unit, version) for unit in found}
    new = [unit for unit in found if not marks[unit].exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, said in zip(new, pool.map(functools.partial(look_at, tool), new)):
            if said:
                print(said, flush=True)
                failed += 1
            else:
                marks[unit].touch()
    for unit in set(found) - set(new):
        marks[unit].touch()
    forget_old()
    print(f"{name}: looked at {len(new)} of {len(found)} files, {failed} failed")
    sys.exit(failed != 0)


main()
