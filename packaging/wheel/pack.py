# SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree with the libraries that it needs as a wheel: pack.py BUILD TREE OUTPUT."""
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

import description

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DISTRIBUTION = "adder_runtime"

# From the tree into the wheel. What is missing here is left out: headers and libadder, which a compiler needs, and the units
# of systemd, which hold the paths of an installation by root. The data has the distribution's name, because `pip install --user` installs below ~/.local, whose share/adder holds the user's environments.
PLACES = {
    "bin/adder": "scripts/adder",
    "libexec/adder": "data/libexec/adder",
    "share/adder": "data/share/adder-runtime",
    "share/man": "data/share/man",
    "share/bash-completion": "data/share/bash-completion",
    "share/fish": "data/share/fish",
    "share/zsh": "data/share/zsh",
}
LIBRARIES = "data/libexec/adder/lib"

# `uvx adder-runtime` runs the command that is named like the package.
SECOND_COMMAND = """#!/bin/sh
exec "$(dirname -- "$(readlink -f -- "$0")")/adder" "$@"
"""

# glibc's own, which every host has in one version.
PLATFORM = re.compile(r"(lib(c|m|dl|rt|pthread|resolv|util|anl|nsl)|ld-linux(-[a-z0-9_-]+)?)\.so\.\d+")

CLASSIFIERS = [
    "Development Status :: 4 - Beta",
    "Environment :: Console",
    "Intended Audience :: Developers",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C",
    "Programming Language :: Python :: 3 :: Only",
    "Programming Language :: Python :: Implementation :: CPython",
    "Topic :: Software Development :: Interpreters",
]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Elf:
    """What a file in ELF needs: libraries, and a version of glibc."""

    def __init__(self, path):
        said = output_of("readelf", "--wide", "--file-header", "--dynamic", "--version-info", str(path))
        self.machine = re.search(r"Machine:\s+(.*)", said)[1]
        self.needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
        self.glibc = max([(2, 0), *((2, int(minor)) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", said))])


MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}
LIBRARY_DIRECTORIES = ("usr/lib/{}-linux-gnu", "lib/{}-linux-gnu")


class Wheel:
    def __init__(self):
        self.files = {}  # path below .data or .dist-info -> (content, whether it is executable)

    def add(self, path, content, executable=False):
        assert path not in self.files, path
        self.files[path] = (content, executable)

    def add_file(self, path, file):
        self.add(path, file.read_bytes(), os.access(file, os.X_OK))

    def write(self, output, name, tag, dist_info, data):
        """RECORD is the last, as the specification recommends."""
        names = {(data if path.startswith(("data/", "scripts/")) else dist_info) + "/" + path: value for path, value in self.files.items()}
        names = dict(sorted(names.items(), key=lambda item: (item[0].startswith(dist_info), item[0])))
        record = [f"{path},sha256={digest(content)},{len(content)}" for path, (content, _) in names.items()]
        names[f"{dist_info}/RECORD"] = ("\n".join([*record, f"{dist_info}/RECORD,,", ""]).encode(), False)
        when = max(time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6], (1980, 1, 1, 0, 0, 0))
        target = output / f"{name}-py3-none-{tag}.whl"
        unfinished = target.with_suffix(".new")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, (content, executable) in names.items():
                info = zipfile.ZipInfo(path, when)
                info.create_system = 3  # Unix, which the mode is of
                info.external_attr = (0o100755 if executable else 0o100644) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        return unfinished.rename(target)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def files_of(tree):
    """(file, path in the wheel)"""
    for source, target in PLACES.items():
        for file in sorted(path for path in [tree / source, *(tree / source).rglob("*")] if path.is_file() and path.suffix != ".pyc"):
            yield file, str(pathlib.PurePath(target, file.relative_to(tree / source)))


def add_tree(wheel, tree):
    for file, path in files_of(tree):
        wheel.add_file(path, file)
    wheel.add("scripts/adder-runtime", SECOND_COMMAND.encode(), executable=True)
    # pip removes a directory only if a file is directly in it.
    wheel.add_file(f"{PLACES['share/adder']}/LICENSE", SOURCE / "LICENSE")


def find_library(name, machine, root):
    for directory in LIBRARY_DIRECTORIES:
        path = root / directory.format(machine) / name
        if path.exists():
            return path
    sys.exit(f"pack.py: there is no {name} for {machine}")


def bundle_libraries(wheel, tree, root):
    """Adds the libraries that the programs need, in turn. Returns their paths by name, the machine, and the glibc that all need."""
    waiting = [file for file, path in files_of(tree) if wheel.files[path][0].startswith(b"\x7fELF")]
    libraries, glibc, machines = {}, (2, 0), set()
    while waiting:
        elf = Elf(waiting.pop())
        machines.add(MACHINES[elf.machine])
        glibc = max(glibc, elf.glibc)
        for name in elf.needed:
            if not PLATFORM.fullmatch(name) and name not in libraries:
                libraries[name] = find_library(name, MACHINES[elf.machine], root)
                waiting.append(libraries[name])
    (machine,) = machines
    for name, path in sorted(libraries.items()):
        wheel.add(f"{LIBRARIES}/{name}", path.read_bytes())
    return libraries, machine, glibc


class DebianPackages:
    """Of the root directory ROOT: which package a library is from, and its terms."""

    def __init__(self, root):
        self.root = root
        self.query = ("dpkg-query", f"--admindir={root / 'var/lib/dpkg'}")

    def owner(self, library):
        """(package, version, source, version of the source). Some packages register paths as before /lib was a link into /usr."""
        path = "/" + str(library.resolve().relative_to(self.root.resolve()))
        result = subprocess.run([*self.query, "--search", path, path.removeprefix("/usr")], capture_output=True, text=True)
        owners = {line.split(": ")[0] for line in result.stdout.splitlines()}
        if len(owners) != 1:
            sys.exit(f"pack.py: {path} belongs to {owners or 'no package'}")
        (package,) = owners
        fields = "${Package}\t${Version}\t${source:Package}\t${source:Version}"
        return tuple(output_of(*self.query, "--show", f"--showformat={fields}", package).split("\t"))

    def terms(self, package):
        return (self.root / "usr/share/doc" / package / "copyright").read_bytes()

    def common_terms(self, name):
        return (self.root / "usr/share/common-licenses" / name).read_bytes()


def add_terms(wheel, libraries, packages):
    """Our own licence, and of each bundled library its package's file of terms, with the texts that it refers to."""
    wheel.add_file("licenses/LICENSE", SOURCE / "LICENSE")
    rows, common, seen = [], set(), set()
    for name, path in sorted(libraries.items()):
        package, version, source, source_version = packages.owner(path)
        rows.append("\t".join((name, package, version, source, source_version)))
        if package not in seen:
            seen.add(package)
            terms = packages.terms(package)
            wheel.add(f"licenses/libraries/{package}.txt", terms)
            common.update(re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9][A-Za-z0-9.+-]*[A-Za-z0-9])", terms))
    for name in sorted(common):
        wheel.add(f"licenses/common/{name.decode()}.txt", packages.common_terms(name.decode()))
    header = "library\tpackage\tversion\tsource\tsource version"
    wheel.add("licenses/libraries.tsv", "\n".join([header, *rows, ""]).encode())


def metadata(wheel, version):
    licences = sorted(path.removeprefix("licenses/") for path in wheel.files if path.startswith("licenses/"))
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", DISTRIBUTION.replace("_", "-")),
        ("Version", version),
        ("Summary", "Runs Python written by language models in isolated, pre-warmed CPython interpreters"),
        ("Keywords", "sandbox,code execution,agents,llm,mcp"),
        ("License-Expression", "Apache-2.0"),
        *(("License-File", path) for path in licences),
        *(("Classifier", name) for name in CLASSIFIERS),
        ("Requires-Python", ">=3.9"),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{head}\n{description.for_index(SOURCE)}".encode()


def main(build, tree, output, root="/"):
    build, tree, output, root = map(pathlib.Path, (build, tree, output, root))
    version = json.loads(output_of("meson", "introspect", "--projectinfo", str(build)))["version"]
    wheel = Wheel()
    add_tree(wheel, tree)
    libraries, machine, (major, minor) = bundle_libraries(wheel, tree, root)
    add_terms(wheel, libraries, DebianPackages(root))
    tag = f"manylinux_{major}_{minor}_{machine}"
    wheel.add("METADATA", metadata(wheel, version))
    wheel.add("WHEEL", f"Wheel-Version: 1.0\nGenerator: adder {version}\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode())
    name = f"{DISTRIBUTION}-{version}"
    print(wheel.write(output, name, tag, f"{name}.dist-info", f"{name}.data"))


if __name__ == "__main__":
    main(*sys.argv[1:])
