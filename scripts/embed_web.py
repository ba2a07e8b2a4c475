#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds web/ and makes the source of the module adder-web of it: all files in one, and a table that says where each is.

    embed_web.py CHECKOUT NODE PACKAGES VERSION SOURCE.c FILES.bin DEPENDENCIES.d

Runs Vite with NODE on a copy of CHECKOUT/web, beside the packages in PACKAGES/node_modules. What compresses well is held as gzip
alone.
"""
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Served by routes of their own (src/interfaces/http/routes_web.c); all others are in assets/.
AT_THE_TOP = {"index.html", "favicon.svg", "frame.html", "frame.js"}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
ASSET = re.compile(r"assets/[A-Za-z0-9_.-]+-[A-Za-z0-9_-]{6,}\.[a-z0-9]+")
SOURCES = ("web", "clients/typescript/src")
WORTHWHILE = 0.9  # gzip must be at most this much of the original


def fail(text):
    sys.exit(f"embed_web.py: {text}")


def build(checkout, node, packages, version, scratch):
    """The page, in a folder of SCRATCH. Modules find packages in a folder above them, and nothing is written to the checkout."""
    out = scratch / "out"
    for name in SOURCES:
        shutil.copytree(checkout / name, scratch / name, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (scratch / "node_modules").symlink_to(packages / "node_modules")
    settings = {"ADDER_WEB_OUT": out, "ADDER_WEB_CACHE": scratch / "cache", "ADDER_WEB_VERSION": version, "NODE_ENV": "production"}
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    command = [str(node), str(packages / "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"]
    ended = subprocess.run(command, cwd=scratch / "web", env=environment, stdin=subprocess.DEVNULL, check=False)
    if ended.returncode != 0:
        fail("the page could not be built")
    return out


def read(out):
    """What is served: path -> (type, whether it is gzip, bytes, their unpacked length)."""
    found = {}
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        name = file.relative_to(out).as_posix()
        if name not in AT_THE_TOP and not ASSET.fullmatch(name):
            fail(f"{name} has no route (src/interfaces/http/routes_web.c), or no hash in its name")
        if file.suffix not in TYPES:
            fail(f"{name}: the type of {file.suffix} is unknown")
        content = file.read_bytes()
        packed = gzip.compress(content, 9, mtime=0)
        small = len(packed) <= WORTHWHILE * len(content)
        found["/" + name] = (TYPES[file.suffix], small, packed if small else content, len(content))
    if "/index.html" not in found:
        fail("there is no index.html")
    return found


def table(found, binary):
    """The module's source, which names BINARY."""
    rows, place = [], 0
    for path, (kind, packed, content, length) in found.items():
        tag = hashlib.sha256(content).hexdigest()[:32]
        rows.append(f'  {{"{path}", "{kind}", "{tag}", adder_web_files + {place}, {len(content)}, {length if packed else 0}}},')
        place += len(content)
    whole = hashlib.sha256(b"".join(content for _, _, content, _ in found.values())).hexdigest()
    return f"""/* SPDX-License-Identifier: Apache-2.0 */
/* Made by scripts/embed_web.py; the files' digest is {whole}. */
#include "interfaces/http/web_assets.h"

__asm__ (".section .rodata\\n"
         ".hidden adder_web_files\\n"
         ".global adder_web_files\\n"
         "adder_web_files:\\n"
         ".incbin \\"{binary}\\"\\n"
         ".byte 0\\n"
         ".previous\\n");
extern const unsigned char adder_web_files[];

static const struct web_asset assets[] = {{
{chr(10).join(rows)}
  {{0}},
}};

__attribute__ ((visibility ("default"))) extern const struct web_assets adder_web_assets;
const struct web_assets adder_web_assets = {{assets}};
"""


def dependencies(checkout, target):
    """All that the page is made of, for ninja; folders too, to which files may be added."""
    found = [path for name in SOURCES for path in (checkout / name, *(checkout / name).rglob("*"))]
    files = [path for path in found if "node_modules" not in path.parts and (path.is_file() or path.is_dir())]
    return f"{target}: " + " ".join(str(path).replace(" ", "\\ ") for path in sorted(files)) + "\n"


def main():
    checkout, node, packages = (pathlib.Path(word).absolute() for word in sys.argv[1:4])
    version, source, binary, listed = sys.argv[4:8]
    with tempfile.TemporaryDirectory(prefix="web-", dir=pathlib.Path(source).absolute().parent) as scratch:
        found = read(build(checkout, node, packages, version, pathlib.Path(scratch)))
    pathlib.Path(binary).write_bytes(b"".join(content for _, _, content, _ in found.values()))
    pathlib.Path(source).write_text(table(found, pathlib.Path(binary).absolute()))
    pathlib.Path(listed).write_text(dependencies(checkout, source))


if __name__ == "__main__":
    main()
