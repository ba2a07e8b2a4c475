#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds web/ and makes the source of the module adder-web of it: all files in one, and a table that says where each is.

    embed_web.py SOURCES NODE PACKAGES SOURCE.c FILES.bin DEPENDENCIES.d

Runs Vite with NODE on the folder SOURCES and the packages in PACKAGES/node_modules. What compresses well is held as gzip alone.
"""
import gzip
import hashlib
import os
import pathlib
import re
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
WORTHWHILE = 0.9  # gzip must be at most this much of the original


def fail(text):
    sys.exit(f"embed_web.py: {text}")


def build(sources, node, packages, out):
    """The page, in the folder OUT."""
    environment = {**os.environ, "ADDER_WEB_OUT": str(out), "ADDER_WEB_PACKAGES": str(packages), "NODE_ENV": "production"}
    vite = packages / "node_modules/vite/bin/vite.js"
    command = [str(node), str(vite), "build", "--config", str(sources / "vite.config.js"), "--logLevel", "warn"]
    ended = subprocess.run(command, cwd=sources, env=environment, stdin=subprocess.DEVNULL, check=False)
    if ended.returncode != 0:
        fail("the page could not be built")


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


def dependencies(sources, target):
    """All that the page is made of, for ninja."""
    folders = [sources, sources.parent / "clients/typescript/src"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    return f"{target}: " + " ".join(str(path).replace(" ", "\\ ") for path in sorted(files)) + "\n"


def main():
    sources, node, packages = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    source, binary, listed = sys.argv[4:7]
    with tempfile.TemporaryDirectory(prefix="web-", dir=pathlib.Path(source).parent) as scratch:
        out = pathlib.Path(scratch) / "out"
        build(sources, node, packages, out)
        found = read(out)
    pathlib.Path(binary).write_bytes(b"".join(content for _, _, content, _ in found.values()))
    pathlib.Path(source).write_text(table(found, pathlib.Path(binary).resolve()))
    pathlib.Path(listed).write_text(dependencies(sources, source))


if __name__ == "__main__":
    main()
