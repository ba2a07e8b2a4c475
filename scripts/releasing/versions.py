# SPDX-License-Identifier: Apache-2.0
"""The version of a release, which several files have.

    versions.py          prints it; names the files that have another, and fails
    versions.py VERSION  puts VERSION into those that programs read, and says which files a person has to write
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
# The first file is what others are compared with. Each match's first group is the version.
FILES = {
    "meson.build": r"^project\('adder', 'c',\n  version: '([^']+)'",
    "clients/python/src/adder_client/_wire.py": r'^VERSION = "([^"]+)"',
    "clients/typescript/src/version.ts": r'^export const VERSION = "([^"]+)"',
    "clients/typescript/package.json": r'^  "version": "([^"]+)"',
    "clients/typescript/package-lock.json": r'^  "version": "([^"]+)"|^      "name": "adder-client",\n      "version": "([^"]+)"',
    "packaging/helm/Chart.yaml": r"^(?:version|appVersion): (\S+)",
}
# These say more than the version, so that no program can write them.
WRITTEN = {
    "CHANGES.md": r"\A.*?^## ([0-9][^\s,]*)",
    "debian/changelog": r"\Aadder \(([^)]+?)(?:-[^)-]*)?\)",
}
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def matches(name, top=TOP):
    pattern = {**FILES, **WRITTEN}[name]
    return list(re.finditer(pattern, (top / name).read_text(), re.MULTILINE | re.DOTALL))


def found(name, top=TOP):
    return [next(filter(None, match.groups())) for match in matches(name, top)]


def text_version(text):
    """Of meson.build, whose TEXT this is."""
    return re.search(FILES["meson.build"], text, re.MULTILINE)[1]


def current(top=TOP):
    return text_version((top / "meson.build").read_text())


def differences(top=TOP):
    """A sentence for each file whose version is not that of meson.build. A file that does not exist has none."""
    version, said = current(top), []
    for name in (*FILES, *WRITTEN):
        if (top / name).exists():
            here = found(name, top)
            said += [f"{name} has no version where one is expected"] if not here else []
            said += [f"{name} has version {other}, and meson.build {version}" for other in here if other != version]
    return said


def is_open(top=TOP):
    """Whether CHANGES.md calls the version one that is not released yet."""
    heading = matches("CHANGES.md", top)[0]
    return "not released" in heading.string[heading.end() :].partition("\n")[0]


def replace(version, top=TOP):
    for name in FILES:
        text = (top / name).read_text()
        for match in reversed(matches(name, top)):
            group = next(number for number, value in enumerate(match.groups(), 1) if value)
            text = text[: match.start(group)] + version + text[match.end(group) :]
        (top / name).write_text(text)


def main(arguments):
    if len(arguments) > 1 or arguments and not VERSION.fullmatch(arguments[0]):
        sys.exit("usage: versions.py [MAJOR.MINOR.PATCH]")
    if arguments:
        replace(arguments[0])
    else:
        print(current())
    said = differences()
    print("\n".join(said), end="\n" if said else "", file=sys.stderr)
    return 0 if arguments else bool(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
