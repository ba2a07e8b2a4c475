# SPDX-License-Identifier: Apache-2.0
"""Writes layers, which are tar archives, into one archive that is an OCI image layout (podman, skopeo, docker from 25 on) and has
the manifest.json of `docker save` (every docker). The same layers and options give the same bytes."""
import argparse
import datetime
import hashlib
import io
import json
import os
import tarfile
import zlib

NAME = "adder-server"


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--dockerfile", required=True)
    parser.add_argument("--architecture", required=True)
    parser.add_argument("--gzip", type=int, default=6)
    parser.add_argument("--output", required=True)
    parser.add_argument("layers", nargs="+")
    return parser.parse_args()


def compress(path, level):
    """The file compressed in PATH.gz, and the digests before and after. A header without a time or a name."""
    plain, packed = hashlib.sha256(), hashlib.sha256()
    deflate = zlib.compressobj(level, zlib.DEFLATED, 31)
    with open(path, "rb") as source, open(f"{path}.gz", "wb") as target:
        while block := source.read(1 << 20):
            plain.update(block)
            part = deflate.compress(block)
            packed.update(part)
            target.write(part)
        part = deflate.flush()
        packed.update(part)
        target.write(part)
    return plain.hexdigest(), packed.hexdigest()


# How a container is started, in the words of a Dockerfile: what each instruction, which has one line, adds to the
# configuration. docs/server-image.md describes it.


def duration(text):
    """In nanoseconds."""
    return int(text.removesuffix("s")) * 1_000_000_000


def health_check(text):
    options, _, command = text.partition(" CMD ")
    given = dict(word.removeprefix("--").split("=") for word in options.split())
    return {"Healthcheck": {"Test": ["CMD", *json.loads(command)], "Interval": duration(given["interval"]), "Timeout": duration(given["timeout"]),
                            "StartPeriod": duration(given["start-period"]), "Retries": int(given["retries"])}}


def label(text):
    name, _, value = text.partition("=")
    return {"Labels": {name: json.loads(value)}}


INSTRUCTIONS = {
    "USER": lambda text: {"User": text},
    "ENV": lambda text: {"Env": [text]},
    "WORKDIR": lambda text: {"WorkingDir": text},
    "VOLUME": lambda text: {"Volumes": {path: {} for path in json.loads(text)}},
    "EXPOSE": lambda text: {"ExposedPorts": {text: {}}},
    "STOPSIGNAL": lambda text: {"StopSignal": text},
    "HEALTHCHECK": health_check,
    "ENTRYPOINT": lambda text: {"Entrypoint": json.loads(text)},
    "CMD": lambda text: {"Cmd": json.loads(text)},
    "LABEL": label,
}


def started(dockerfile):
    """What the lines of DOCKERFILE from USER on say."""
    found = {}
    with open(dockerfile, encoding="utf-8") as file:
        lines = file.read().partition("\nUSER ")
    for line in (lines[1] + lines[2]).split("\n"):
        if not line or line.startswith("#"):
            continue
        word, _, text = line.partition(" ")
        for key, value in INSTRUCTIONS[word](text).items():
            if isinstance(value, dict):
                found.setdefault(key, {}).update(value)
            else:
                found[key] = found.get(key, []) + value if word == "ENV" else value
    return found


def config(options, created, diffs):
    run = started(options.dockerfile)
    run["Labels"].update({"org.opencontainers.image.version": options.version, "org.opencontainers.image.created": created})
    return {
        "created": created,
        "architecture": options.architecture,
        "os": "linux",
        "config": run,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff}" for diff in diffs]},
        "history": [{"created": created, "created_by": f"packaging/server-image/build: {os.path.basename(path)}"} for path in options.layers],
    }


class Archive:
    def __init__(self, path, when):
        self.tar, self.when = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT), when

    def add(self, name, file, size):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, 0o644, self.when
        self.tar.addfile(entry, file)

    def blob(self, text):
        """A text under its digest: as a descriptor has it."""
        digest = hashlib.sha256(text).hexdigest()
        self.add(f"blobs/sha256/{digest}", io.BytesIO(text), len(text))
        return {"digest": f"sha256:{digest}", "size": len(text)}

    def text(self, name, value):
        text = encoded(value)
        self.add(name, io.BytesIO(text), len(text))


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main():
    options = parse()
    when = int(os.environ["SOURCE_DATE_EPOCH"])
    created = datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    digests = [compress(path, options.gzip) for path in options.layers]
    archive = Archive(f"{options.output}.new", when)
    layers = []
    for path, (_, packed) in zip(options.layers, digests):
        size = os.path.getsize(f"{path}.gz")
        with open(f"{path}.gz", "rb") as file:
            archive.add(f"blobs/sha256/{packed}", file, size)
        os.unlink(f"{path}.gz")
        layers.append({"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": f"sha256:{packed}", "size": size})
    described = config(options, created, [plain for plain, _ in digests])
    image = {"mediaType": "application/vnd.oci.image.config.v1+json", **archive.blob(encoded(described))}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": image, "layers": layers,
                "annotations": described["config"]["Labels"]}
    name = f"{NAME}:{options.version}"
    entry = {"mediaType": manifest["mediaType"], **archive.blob(encoded(manifest)),
             "platform": {"architecture": options.architecture, "os": "linux"},
             "annotations": {"io.containerd.image.name": f"docker.io/library/{name}", "org.opencontainers.image.ref.name": options.version}}
    archive.text("index.json", {"schemaVersion": 2, "manifests": [entry]})
    archive.text("oci-layout", {"imageLayoutVersion": "1.0.0"})
    blob = "blobs/sha256/{}".format
    archive.text("manifest.json", [{"Config": blob(image["digest"].removeprefix("sha256:")), "RepoTags": [name],
                                    "Layers": [blob(packed) for _, packed in digests]}])
    archive.tar.close()
    os.rename(f"{options.output}.new", options.output)


main()
