# SPDX-License-Identifier: Apache-2.0
"""Builds a release, and checks it; scripts/release runs this. See scripts/release --help."""
import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import checks
import parts
import sbom
import signing
import versions

FINISH = ("sbom", "checksums", "signature")
ALL = (*parts.PARTS, *FINISH)


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass
class Release:
    commit: str
    version: str
    output: pathlib.Path

    @property
    def logs(self):
        return self.output / "log"

    @property
    def bill(self):
        return self.output / f"adder-{self.version}.cdx.json"

    def files(self, part):
        patterns = [pattern.format(version=self.version) for pattern in parts.PARTS[part].files]
        return sorted(path for pattern in patterns for path in self.output.glob(pattern))


def make_bill(build, output, version):
    """Of what is in OUTPUT."""
    build.run("sbom", "sh", "-euc", ". scripts/common.sh; configure build-sbom -Dtests=none -Dweb=false -Dcluster=true")
    text = sbom.bill(build.source, build.source / "build-sbom", output.glob("adder_runtime-*.whl"), build.epoch)
    (output / f"adder-{version}.cdx.json").write_text(text)


def build_all(release, names, output, variation):
    """The parts NAMES into OUTPUT. Returns the names of files."""
    files = []
    if not any(name in parts.PARTS or name == "sbom" for name in names):
        return files
    with parts.Build(release.commit, release.version, variation, release.logs) as build:
        for name in names:
            if name in parts.PARTS:
                part = parts.PARTS[name]
                say(f"Building {part.title}")
                made, seconds = build.make(part, output)
                files += made
                for file in made:
                    say(f"  {file}, {(output / file).stat().st_size / 1e6:.1f} MB, {seconds:.0f} s")
        if "sbom" in names:
            say("Writing the bill of materials")
            make_bill(build, output, release.version)
            files.append(release.bill.name)
    return files


def sign(output):
    key = os.environ.get("ADDER_RELEASE_KEY")
    if not key:
        say("NOT SIGNED: ADDER_RELEASE_KEY names no key (docs/releases.md)")
        return
    signing.sign(output, key)
    say(f"Signed {output / signing.SUMS}")
    try:
        signing.verify(output)
    except signing.Unsigned as unsigned:
        say(f"Nobody can verify this signature with the keys in {signing.KEYS}: {unsigned}")


def rows(release, names, made, second, scratch):
    """What is checked of the parts NAMES, whose files are MADE; the directory SECOND has those of another build."""
    log = release.logs / "checks.log"
    for name in sorted({*made, *(path.name for path in second.iterdir())}):
        yield f"{name} is reproducible", lambda name=name: checks.is_same(release.output / name, second / name, release.logs)
    yield "versions agree", lambda: checks.version(release.commit, scratch)
    if "debian" in names:
        yield "lintian", lambda: checks.lintian(release.files("debian"), log)
    for wheel in release.files("wheel") if "wheel" in names else ():
        yield f"auditwheel show {wheel.name}", lambda wheel=wheel: checks.platform(wheel, log)
    packages = [file for name in ("wheel", "python") if name in names for file in release.files(name)]
    if packages:
        yield "twine check --strict", lambda: checks.metadata(packages, log)
    if "sbom" in names:
        yield f"{release.bill.name} is valid", lambda: checks.bill(release.bill)
    if "signature" in names:
        yield "the signature is valid", lambda: checks.signature(release.output)
    if "source" in names:
        yield "libadder runs programs of the release before", lambda: checks.interface(release.commit, release.logs)


def judge(look):
    """passed, failed or skipped, and what there is to say about it."""
    try:
        wrong = look()
        return ("failed" if wrong else "passed"), wrong
    except checks.Skipped as reason:
        return "skipped", str(reason)
    except parts.Failed as failed:
        return "failed", f"{failed}; {failed.log}"
    except FileNotFoundError as missing:
        return "failed", f"cannot be checked: {missing}"


def check(release, names, made, scratch):
    """Whether nothing failed."""
    second = scratch / "second"
    second.mkdir()
    if "sbom" in names and "wheel" not in names:
        for wheel in release.files("wheel"):  # whose libraries the bill lists
            shutil.copy(wheel, second)
    say("Building all of it again, in a different environment")
    build_all(release, names, second, parts.SECOND)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, look in rows(release, names, made, second, scratch):
        outcome, wrong = judge(look)
        counts[outcome] += 1
        say(f"{outcome:7}  {name}")
        if wrong:
            say("         " + "\n         ".join(wrong.rstrip().splitlines()))
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return counts["failed"] == 0


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/release", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Builds a release from a commit, with nothing that is not committed: the parts named, or all.",
        epilog="Parts:\n" + "\n".join(f"  {part.name:14} {part.title}" for part in parts.PARTS.values())
        + """
  sbom           the bill of materials (CycloneDX) of the others
  checksums      SHA256SUMS of all files in the directory
  signature      SHA256SUMS.sig, with the key that ADDER_RELEASE_KEY names: a private key, or the public key of one that the
                 SSH agent has

Exit status: 0, or 1 when something failed, or 2 when used wrongly. Logs are in DIR/log. docs/releases.md has the procedure.""")
    parser.add_argument("--check", action="store_true",
                        help="build twice, in different environments, compare, and check what was built; ends with a line as scripts/test's")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=parts.CHECKOUT / "dist", help="dist by default")
    parser.add_argument("--commit", default="HEAD", help="HEAD by default")
    parser.add_argument("parts", metavar="PART", nargs="*", help="all by default")
    options = parser.parse_args()
    for name in options.parts:
        if name not in ALL:
            parser.error(f"there is no part {name}; --help lists them")
    return options


def prepare(options):
    """The release that is asked for; its directory is there, and all tools that its parts need."""
    commit = parts.git("rev-parse", "--verify", f"{options.commit}^{{commit}}", text=True).strip()
    version = versions.text_version(parts.git("show", f"{commit}:meson.build", text=True))
    release = Release(commit, version, options.output.absolute())
    if not options.parts and release.output.exists() and any(release.output.iterdir()):
        raise parts.Failed(f"{release.output} is not empty: remove it, or name another directory with --output")
    release.logs.mkdir(parents=True, exist_ok=True)
    changed = parts.git("status", "--porcelain", "--untracked-files=no", text=True)
    if options.commit == "HEAD" and changed:
        say("Changes that are not committed are left out")
    return release


def fetch_tools(names):
    for tools in dict.fromkeys(parts.PARTS[name].tools for name in names if name in parts.PARTS and parts.PARTS[name].tools):
        if subprocess.run(["sh", "-euc", f". scripts/common.sh; {tools}"], cwd=parts.CHECKOUT, stdin=subprocess.DEVNULL).returncode != 0:
            raise parts.Failed(f"{tools} of scripts/common.sh failed")


def carry_out(options, scratch):
    """The exit status."""
    names = [name for name in ALL if name in (options.parts or ALL)]
    release = prepare(options)
    say(f"Adder {release.version}, {release.commit}, into {release.output}")
    fetch_tools(names)
    made = build_all(release, names, release.output, parts.FIRST)
    if "checksums" in names:
        signing.write_sums(release.output)
    if "signature" in names:
        sign(release.output)
    return 0 if not options.check or check(release, names, made, scratch) else 1


def main():
    options = arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="adder-release-", dir="/var/tmp") as scratch:
            return carry_out(options, pathlib.Path(scratch))
    except (parts.Failed, signing.Unsigned) as failed:
        say(f"scripts/release: {failed}")
        if getattr(failed, "log", None):
            say(f"The end of {failed.log}:\n" + "".join(failed.log.read_text(errors="replace").splitlines(keepends=True)[-30:]))
    except subprocess.CalledProcessError as failed:
        say(f"scripts/release: {' '.join(map(str, failed.cmd))} ended with {failed.returncode}")
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
