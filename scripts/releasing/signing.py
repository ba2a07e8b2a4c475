# SPDX-License-Identifier: Apache-2.0
"""Checksums of a release, and their signature, made and verified by ssh-keygen."""
import hashlib
import pathlib
import subprocess

KEYS = pathlib.Path(__file__).resolve().parents[2] / "packaging/release-keys"
SUMS = "SHA256SUMS"
SIGNATURE = f"{SUMS}.sig"
NAMESPACE = "adder-release"  # so that a signature made for something else is none of a release
PRINCIPAL = "releases"


class Unsigned(Exception):
    pass


def files(directory):
    return sorted(path for path in directory.iterdir() if path.is_file() and path.name not in (SUMS, SIGNATURE))


def write_sums(directory):
    """As sha256sum --check reads it. An older signature is of other sums."""
    (directory / SIGNATURE).unlink(missing_ok=True)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files(directory)]
    (directory / SUMS).write_text("".join(lines))


def sign(directory, key):
    """With the private key KEY, or by the agent that has the private part of the public key KEY."""
    (directory / SIGNATURE).unlink(missing_ok=True)
    signed = subprocess.run(["ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, directory / SUMS], stderr=subprocess.PIPE, text=True)
    if signed.returncode != 0 or not (directory / SIGNATURE).exists():
        raise Unsigned(f"cannot sign {directory / SUMS} with {key}: {signed.stderr.strip()}")


def verify(directory, keys=KEYS):
    """Raises Unsigned, which says why, unless all files are those that a key in KEYS signed. See docs/releases.md for the commands."""
    if not (directory / SIGNATURE).exists():
        raise Unsigned(f"{directory / SIGNATURE} does not exist")
    command = ["ssh-keygen", "-Y", "verify", "-f", keys / "allowed_signers", "-r", keys / "revoked_keys", "-I", PRINCIPAL,
               "-n", NAMESPACE, "-s", directory / SIGNATURE]
    with open(directory / SUMS, "rb") as sums:
        said = subprocess.run(command, stdin=sums, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if said.returncode != 0:
        raise Unsigned(f"{directory / SIGNATURE} is not valid: {said.stdout.strip()}")
    said = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=directory, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if said.returncode != 0:
        raise Unsigned(f"files are not those of {directory / SUMS}: {said.stdout.strip()}")
