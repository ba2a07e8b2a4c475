# SPDX-License-Identifier: Apache-2.0
"""The parts of a release, and how they are built: from a commit, in a directory with nothing else, by the program of each part."""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Part:
    """PROGRAM OUTPUT, of the source, makes FILES (patterns; {version} is the release's). What else it writes is kept with the
    logs. TOOLS is a function of scripts/common.sh that puts TOOLED into build/."""

    name: str
    title: str
    files: tuple
    program: str = ""
    tools: str = ""
    tooled: tuple = ()


PAGE = {"tools": "web_tools", "tooled": ("node", "web-packages")}
PARTS = {
    part.name: part
    for part in (
        Part("source", "the source", ("adder-{version}.tar.xz",)),
        Part("wheel", "the wheel with the program", ("adder_runtime-{version}-*.whl",), "packaging/wheel/build", **PAGE),
        Part("debian", "the Debian packages", ("*_{version}*.deb",), "packaging/debian/build", **PAGE),
        Part("image", "the server's image", ("adder-server-{version}*.tar",), "packaging/server-image/build", **PAGE),
        Part("python", "the Python client", ("adder_client-{version}.tar.gz", "adder_client-{version}-py3-none-any.whl"),
             "clients/python/build", "release_tools", ("release-tools",)),
        Part("typescript", "the TypeScript client", ("adder-client-{version}.tgz",), "clients/typescript/build",
             "typescript_tools", ("node", "typescript-packages")),
        Part("documentation", "the documentation", ("adder-{version}-documentation.tar.xz",), "docs/site/build",
             "site_tools", ("node", "docs-tools", "docs-packages")),
    )
}


class Failed(Exception):
    """A sentence, and the log that says more or None."""

    def __init__(self, sentence, log=None):
        super().__init__(sentence)
        self.log = log


def git(*arguments, **options):
    return subprocess.run(["git", "-C", CHECKOUT, *arguments], check=True, stdout=subprocess.PIPE, **options).stdout


def date_of(commit):
    return int(git("log", "-1", "--format=%ct", commit))


def archive(commit, version):
    """The files of COMMIT as git has them, with their modes but for the user's umask and configuration, below adder-VERSION/."""
    return git("-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix=adder-{version}/", commit)


@dataclasses.dataclass(frozen=True)
class Variation:
    """What the bytes must not depend on. The second build has another than the first."""

    name: str
    folder: str  # the source's, below a temporary directory
    umask: int
    variables: dict
    host: str = ""  # set where the user may
    copied: bool = False  # what TOOLS fetched is there as copies, not as links


FIRST = Variation("first", "adder", 0o022, {"TZ": "UTC", "LC_ALL": "C.UTF-8"})
SECOND = Variation(
    "second", "another/directory/with-a-longer-name", 0o002,
    {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANGUAGE": "fr", "USER": "somebody", "LOGNAME": "somebody", "EDITOR": "ed"},
    host="another-host", copied=True)
# What builders would take from whoever runs them.
DROPPED = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "LANG", "DEB_BUILD_OPTIONS", "DEB_BUILD_PROFILES", "DEBFULLNAME", "DEBEMAIL")


def may_name_host():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL).returncode == 0


class Build:
    """The source of COMMIT in a directory of its own, which is removed at the end. Use it as a context manager."""

    def __init__(self, commit, version, variation, logs):
        self.version, self.variation, self.logs = version, variation, logs
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="adder-release-", dir="/var/tmp"))
        self.source = self.top / variation.folder
        self.source.mkdir(parents=True)
        (self.top / "home").mkdir()
        self.epoch = date_of(commit)
        self.archive = archive(commit, version)
        subprocess.run(["tar", "--extract", "--strip-components=1", "--directory", self.source], input=self.archive, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        shutil.rmtree(self.top)

    def environment(self):
        """Where the user has settings for pip and npm, they hold also without their home directory. Nothing compiled is taken
        from another build, unless a program says that it may (docs/site/build)."""
        home = pathlib.Path.home()
        kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
        for name, file in (("PIP_CONFIG_FILE", home / ".config/pip/pip.conf"), ("NPM_CONFIG_USERCONFIG", home / ".npmrc")):
            if file.exists():
                kept.setdefault(name, str(file))
        kept.setdefault("CCACHE_DIR", str(pathlib.Path(kept.get("XDG_CACHE_HOME", home / ".cache")) / "adder-ccache"))
        return {**kept, "HOME": str(self.top / "home"), "SOURCE_DATE_EPOCH": str(self.epoch), "CCACHE_DISABLE": "1",
                "GIT_CEILING_DIRECTORIES": str(self.top), **self.variation.variables}

    def run(self, name, *command):
        """COMMAND in the source; its output is in the log NAME."""
        log = self.logs / f"{name}-{self.variation.name}.log"
        if self.variation.host and may_name_host():
            command = ("unshare", "--uts", "sh", "-euc", f'hostname {self.variation.host} && exec "$@"', "sh", *command)
        with open(log, "wb") as file:
            ended = subprocess.run(command, cwd=self.source, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, umask=self.variation.umask)
        if ended.returncode != 0:
            raise Failed(f"{name}: {' '.join(map(str, command[-2:]))} ended with {ended.returncode}", log)

    def give_tools(self, part):
        (self.source / "build").mkdir(exist_ok=True)
        for name in part.tooled:
            target, origin = self.source / "build" / name, CHECKOUT / "build" / name
            if not origin.exists():
                raise Failed(f"{part.name}: {origin} does not exist: {part.tools} of scripts/common.sh could not make it")
            if not target.exists():
                if self.variation.copied:
                    shutil.copytree(origin, target, symlinks=True)
                else:
                    target.symlink_to(origin)

    def make(self, part, output):
        """Builds PART into OUTPUT. Returns the names of its files and the seconds it took."""
        began = time.monotonic()
        made = self.top / "made" / part.name
        made.mkdir(parents=True)
        if part.program:
            self.give_tools(part)
            if not (self.source / part.program).exists():
                raise Failed(f"{part.name}: the commit has no {part.program}")
            self.run(part.name, self.source / part.program, made)
        else:
            name = made / f"adder-{self.version}.tar.xz"
            name.write_bytes(subprocess.run(["xz", "--threads=1"], input=self.archive, stdout=subprocess.PIPE, check=True).stdout)
        names = []
        for pattern in part.files:
            found = sorted(made.glob(pattern.format(version=self.version)))
            if not found:
                raise Failed(f"{part.name}: {part.program} made no {pattern.format(version=self.version)}",
                             self.logs / f"{part.name}-{self.variation.name}.log")
            for file in found:
                names.append(file.name)
                shutil.move(file, output / file.name)
        for file in made.iterdir():
            if file.is_file():
                shutil.move(file, self.logs / f"{self.variation.name}-{file.name}")
        return names, time.monotonic() - began
