# SPDX-License-Identifier: Apache-2.0
"""scripts/release: what is built twice is the same, differences are found, and users can verify what was signed.

Releases are made of a copy of the repository, with the changes that are not committed. Here they have the parts that are quick to
build; all of them are built, twice, in the deep tier."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts/releasing"))
import abi  # noqa: E402
import parts  # noqa: E402

GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
SECONDS = 600


def git(directory, *arguments, **options):
    return subprocess.run([*GIT, "-C", directory, *arguments], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A copy with the checkout's files as they are, all committed, and the tools that were installed for the checkout."""
    if subprocess.run(["git", "-C", SOURCE, "rev-parse"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("a release is made of commits, and this is no git repository")
    copy = tmp_path_factory.mktemp("release") / "adder"
    subprocess.run(["git", "clone", "--quiet", "--shared", SOURCE, copy], check=True)
    names = [name for name in git(SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0") if name]
    git(copy, "rm", "-r", "--quiet", "--cached", ".")
    for name in names:
        if (SOURCE / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, copy / name, follow_symlinks=False)
    git(copy, "add", "--all", "--force", "--", *(name for name in names if (SOURCE / name).exists()))
    git(copy, "commit", "--quiet", "--allow-empty", "--message", "all")
    (copy / "build").mkdir(exist_ok=True)
    (copy / "build/release-tools").symlink_to(SOURCE / "build/release-tools")
    return copy


def change(repository, path, replace, by):
    """A commit of REPOSITORY with another text in PATH; the checkout there stays as it is."""
    old = git(repository, "rev-parse", "HEAD").strip()
    text = (repository / path).read_text()
    assert replace in text
    (repository / path).write_text(text.replace(replace, by))
    git(repository, "commit", "--quiet", "--all", "--message", f"change {path}")
    commit = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "reset", "--quiet", "--hard", old)
    return commit


def release(repository, output, *arguments, key=None):
    """Its outcome, with standard error in `stderr`."""
    environment = {name: value for name, value in os.environ.items() if name != "ADDER_RELEASE_KEY"}
    environment |= {"ADDER_RELEASE_KEY": str(key)} if key else {}
    return subprocess.run([repository / "scripts/release", "--output", output, *arguments], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    """Two keys of nobody: `one`, which is allowed to sign, and `other`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("one", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    for name in ("allowed_signers", "revoked_keys"):
        shutil.copy(SOURCE / "packaging/release-keys" / name, folder)
    with open(folder / "allowed_signers", "a") as file:
        file.write(f'releases namespaces="adder-release" {(folder / "one.pub").read_text()}')
    return folder


@pytest.fixture(scope="session")
def released(repository, keys, tmp_path_factory):
    """(the directory of a release that was built twice and signed, what scripts/release said)"""
    output = tmp_path_factory.mktemp("released") / "dist"
    return output, release(repository, output, "--check", "python", "sbom", "checksums", "signature", key=keys / "one")


def test_two_builds_are_the_same(released):
    output, ended = released
    for name in ("adder_client-", "adder-"):
        assert re.search(rf"passed   {name}.* is reproducible", ended.stderr), ended.stderr
    for row in ("versions agree", "twine check --strict", ".* is valid"):
        assert re.search(rf"passed   {row}", ended.stderr), ended.stderr


def test_a_key_that_nobody_knows_is_a_failure(released):
    """The repository allows no key yet, least of all the test's."""
    _, ended = released
    assert ended.returncode == 1 and ended.stdout.startswith("6 passed, 1 failed, 0 skipped"), ended.stdout + ended.stderr
    assert "failed   the signature is valid" in ended.stderr and "Nobody can verify this signature" in ended.stderr


def test_the_bill_lists_what_is_linked_shown_pinned_and_needed(released):
    output, _ = released
    (file,) = output.glob("*.cdx.json")
    bill = json.loads(file.read_text())
    used = {component["name"]: {entry["value"] for entry in component["properties"] if entry["name"] == "adder:used-in"} | {component.get("version")}
            for component in bill["components"]}
    assert "adder" in used["libseccomp2"] and any("adder" in used[name] for name in used if name.startswith("libnats"))
    assert "the web interface" in used["preact"] and "the Python client" in used["httpx"]
    pinned = re.search(r"^pandas==(\S+)", (SOURCE / "environments/science/requirements.txt").read_text(), re.MULTILINE)[1]
    assert {"the environment science", "the image for containers", pinned} <= used["pandas"]
    assert "vite" not in used, "it builds the page and is not in it"


def test_the_source_does_not_depend_on_the_users_settings(repository, monkeypatch):
    monkeypatch.setattr(parts, "CHECKOUT", repository)
    first = parts.archive("HEAD", "1.2.3")
    git(repository, "config", "tar.umask", "0077")
    (repository / "README.md").chmod(0o600)
    before = os.umask(0o077)
    try:
        assert parts.archive("HEAD", "1.2.3") == first
    finally:
        os.umask(before)
        git(repository, "config", "--unset", "tar.umask")


def test_a_difference_is_found_and_shown(repository, tmp_path):
    """A build that writes the time into a file, as many tools do by default."""
    commit = change(repository, "clients/python/build", "# A copy,", 'date +%N >>clients/python/README.md\n# A copy,')
    ended = release(repository, tmp_path / "dist", "--check", "--commit", commit, "python")
    assert ended.returncode == 1, ended.stderr
    assert re.search(r"failed   adder_client-\S+\.whl is reproducible\n +two builds differ", ended.stderr), ended.stderr
    assert re.search(r"METADATA|[-+]\d{9}$", ended.stderr, re.MULTILINE), "diffoscope names the file inside, or the lines that differ"


# ---- signatures


def commands_of_page():
    page = (SOURCE / "docs/releases.md").read_text()
    return re.search(r"## Verify a release.*?```sh\n(.*?)```", page, re.DOTALL)[1]


def verify(directory):
    """As docs/releases.md tells users."""
    return subprocess.run(["sh", "-c", commands_of_page()], cwd=directory, capture_output=True, text=True)


@pytest.fixture
def downloaded(released, keys, tmp_path):
    """What a user has: the files of a release, and the keys."""
    folder = tmp_path / "downloaded"
    shutil.copytree(released[0], folder, ignore=shutil.ignore_patterns("log"))
    for name in ("allowed_signers", "revoked_keys"):
        shutil.copy(keys / name, folder)
    return folder


def test_users_verify_a_release(downloaded):
    ended = verify(downloaded)
    assert ended.returncode == 0, ended.stderr
    assert 'Good "adder-release" signature for releases' in ended.stdout and ended.stdout.count(": OK") == 3


def test_some_of_the_files_can_be_verified(downloaded):
    next(downloaded.glob("*.whl")).unlink()
    assert verify(downloaded).returncode == 0


def add_byte(path):
    with open(path, "ab") as file:
        file.write(b"\n")


def replace_sums(folder):
    """Somebody changes a file, and its checksum too."""
    wheel = next(folder.glob("*.whl"))
    add_byte(wheel)
    sums = subprocess.run(["sha256sum", wheel.name], cwd=folder, check=True, capture_output=True, text=True).stdout
    (folder / "SHA256SUMS").write_text(sums)


def sign(folder, key, namespace="adder-release"):
    (folder / "SHA256SUMS.sig").unlink()
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, folder / "SHA256SUMS"], check=True)


def revoke(folder, key):
    with open(folder / "revoked_keys", "a") as file:
        file.write(key.with_suffix(".pub").read_text())


TAMPERED = {
    "a file": lambda folder, keys: add_byte(next(folder.glob("*.whl"))),
    "the checksums": lambda folder, keys: replace_sums(folder),
    "the signature is gone": lambda folder, keys: (folder / "SHA256SUMS.sig").unlink(),
    "another key": lambda folder, keys: sign(folder, keys / "other"),
    "a signature for something else": lambda folder, keys: sign(folder, keys / "one", "git"),
    "the key was revoked": lambda folder, keys: revoke(folder, keys / "one"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_what_was_tampered_with_is_refused(downloaded, keys, how):
    TAMPERED[how](downloaded, keys)
    ended = verify(downloaded)
    assert ended.returncode != 0, ended.stdout


def test_a_release_is_signed_later_by_an_agent(released, keys, tmp_path):
    """ADDER_RELEASE_KEY is the public key of one that the agent has."""
    output = tmp_path / "dist"
    shutil.copytree(released[0], output)
    (output / "SHA256SUMS.sig").unlink()
    away = tmp_path / "public"
    away.mkdir()
    shutil.copy(keys / "one.pub", away)
    script = f'ssh-add -q "{keys / "one"}" && exec "{SOURCE / "scripts/release"}" --output "{output}" signature'
    ended = subprocess.run(["ssh-agent", "sh", "-euc", script], env={**os.environ, "ADDER_RELEASE_KEY": str(away / "one.pub")},
                           capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for name in ("allowed_signers", "revoked_keys"):
        shutil.copy(keys / name, output)
    assert verify(output).returncode == 0


def test_it_is_said_that_nothing_is_signed(released, tmp_path):
    output = tmp_path / "dist"
    shutil.copytree(released[0], output)
    ended = release(SOURCE, output, "checksums", "signature")
    assert ended.returncode == 0 and "NOT SIGNED" in ended.stderr
    assert not (output / "SHA256SUMS.sig").exists(), "it would be of other sums"


def test_a_key_that_does_not_exist_is_an_error(released, tmp_path):
    output = tmp_path / "dist"
    shutil.copytree(released[0], output)
    ended = release(SOURCE, output, "signature", key=tmp_path / "none")
    assert ended.returncode == 1 and f"cannot sign {output}/SHA256SUMS with {tmp_path}/none" in ended.stderr


# ---- usage


def test_wrong_use(tmp_path):
    ended = release(SOURCE, tmp_path, "everything")
    assert ended.returncode == 2 and "there is no part everything" in ended.stderr
    (tmp_path / "old.whl").write_text("")
    ended = release(SOURCE, tmp_path)
    assert ended.returncode == 1 and "is not empty" in ended.stderr
    ended = release(SOURCE, tmp_path / "dist", "--commit", "no-such-commit", "source")
    assert ended.returncode == 1 and "no-such-commit" in ended.stderr


def test_a_part_that_fails_shows_its_log(repository, tmp_path):
    commit = change(repository, "clients/python/build", "release_tools\n", "echo the disk is full && exit 3\n")
    ended = release(repository, tmp_path / "dist", "--commit", commit, "python")
    assert ended.returncode == 1 and "ended with 3" in ended.stderr and "the disk is full" in ended.stderr


# ---- versions


@pytest.fixture
def versioned(tmp_path):
    """A copy of the files that have the version, and of the program that knows them."""
    program = tmp_path / "scripts/releasing/versions.py"
    program.parent.mkdir(parents=True)
    shutil.copy(SOURCE / "scripts/releasing/versions.py", program)
    text = program.read_text()
    for name in re.findall(r'^    "([^"]+)": r["\']', text, re.MULTILINE):
        if (SOURCE / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, tmp_path / name)
    return program


def versions(program, *arguments):
    return subprocess.run(["/usr/bin/python3", "-I", program, *arguments], capture_output=True, text=True)


def test_a_version_is_set_everywhere(versioned):
    assert versions(versioned).returncode == 0
    ended = versions(versioned, "7.8.9")
    assert ended.returncode == 0 and "CHANGES.md has version" in ended.stderr, "which a person has to write"
    assert "clients/" not in ended.stderr, "a program wrote those"
    assert versions(versioned).stdout == "7.8.9\n"


@pytest.mark.parametrize("name", ["clients/python/src/adder_client/_wire.py", "clients/typescript/package-lock.json", "CHANGES.md"])
def test_a_file_with_another_version_is_named(versioned, name):
    version = versions(versioned).stdout.strip()
    path = versioned.parents[2] / name
    path.write_text(path.read_text().replace(version, "7.8.9", 1))
    ended = versions(versioned)
    assert ended.returncode == 1 and ended.stderr == f"{name} has version 7.8.9, and meson.build {version}\n"


# ---- the library's interface

HEADER = """
#pragma once
typedef struct { const char *owner; %sint fd; } Caller;
typedef enum { FIRST, %sLAST } Kind;
int call (const Caller *caller, Kind kind);
%s
"""
CODE = """
#include "header.h"
int call (const Caller *caller, Kind kind) { return caller->fd + (int) kind; }
%s
"""


def library(folder, member="", value="", more="", code="", soname="libx.so.0"):
    (folder / "include").mkdir(parents=True)
    (folder / "include/header.h").write_text(HEADER % (member, value, more))
    (folder / "code.c").write_text(CODE % code)
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", f"-Wl,-soname,{soname}", f"-I{folder}/include", folder / "code.c", "-o", folder / "libx.so"], check=True)
    return folder / "include", folder / "libx.so"


ADDED = {"more": "int more (void);", "code": "int more (void) { return 1; }"}
BREAKS = {
    "nothing": ({}, {}, False),
    "a function is added": ({}, ADDED, False),
    "a function is removed": (ADDED, {}, True),
    "a structure has another layout": ({}, {"member": "int watch; "}, True),
    "a value of an enumeration moves": ({}, {"value": "MIDDLE, "}, True),
    "the same under another soname": ({}, {"member": "int watch; ", "soname": "libx.so.1"}, False),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_programs_is_found(tmp_path, what):
    old, new, breaks = BREAKS[what]
    said = abi.compare(library(tmp_path / "old", **old), library(tmp_path / "new", **new))
    assert bool(said) == breaks, said


@pytest.mark.deep
def test_the_library_is_compared_with_the_release_before(repository, tmp_path, monkeypatch):
    """The real one, of which AdderCaller grows in the middle."""
    monkeypatch.setattr(parts, "CHECKOUT", repository)
    git(repository, "tag", "v0.0.1")
    commit = change(repository, "include/adder.h", "  int watch_fd; ", "  int another_fd;\n  int watch_fd; ")
    assert abi.previous_release(commit) == "v0.0.1"
    assert "AdderCaller" in abi.differences("v0.0.1", commit, tmp_path)
