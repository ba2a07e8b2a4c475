# SPDX-License-Identifier: Apache-2.0
"""The two ends of scripts/docs.

    site.py pages PAGES OPENAPI.JSON NODE_MODULES    gathers in PAGES what docs/site/mkdocs.yml names, and what that links to
    site.py check SITE                               fails where a page of SITE asks others for something

Pages keep their places, so that links between them hold as they are. Directories have no page: their README stands for them."""
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^( *)```.*?^\1```$", re.S | re.M)
SHIPPED = {"swagger-ui-dist/swagger-ui.css": "swagger-ui.css", "swagger-ui-dist/swagger-ui-bundle.js": "swagger-ui-bundle.js",
           "iframe-worker/shim/index.js": "iframe-worker.js"}

API = """# HTTP API

What `adder serve --openapi` prints, by operation. [HTTP](docs/http.md) describes the server.

<iframe src="viewer/openapi.html" title="The OpenAPI description" style="width: 100%; height: 85vh; border: 0"></iframe>
"""
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Adder: HTTP API</title>
<link rel="stylesheet" href="swagger-ui.css">
<div id="api"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="description.js"></script>
<script>
  SwaggerUIBundle({spec: description, dom_id: "#api", docExpansion: "none", supportedSubmitMethods: [], validatorUrl: null});
</script>
</html>
"""


def named_pages():
    return re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "docs/site/mkdocs.yml").read_text(), re.M)


def with_links(path, text, found):
    """TEXT of the page PATH, whose links lead to files. They are added to FOUND."""

    def link(match):
        target = pathlib.Path(os.path.normpath(path.parent / match[2]))
        if (ROOT / target).is_dir():
            if not (ROOT / target / "README.md").is_file():
                return match[0]  # mkdocs says so
            target /= "README.md"
        if (ROOT / target).is_file():
            found.append(target)
            return match[1] + os.path.relpath(target, path.parent) + match[3]
        return match[0]

    return LINK.sub(link, text)


def gather(pages, openapi, modules):
    shutil.rmtree(pages, ignore_errors=True)
    waiting = [pathlib.Path(name) for name in named_pages() if name != "api.md"]
    waiting += [path.relative_to(ROOT) for path in (ROOT / "docs").glob("*.md")]  # one that nobody names is found
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        copy = pages / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            copy.write_text(with_links(path, (ROOT / path).read_text(), waiting))
        else:
            shutil.copyfile(ROOT / path, copy)
    (pages / "api.md").write_text(API)
    place = pages / "viewer"
    place.mkdir()
    for name, shipped in SHIPPED.items():
        shutil.copyfile(modules / name, place / shipped)
    (place / "openapi.html").write_text(PAGE)
    (place / "description.js").write_text(f"const description = {json.dumps(json.loads(openapi.read_text()))};\n")


ASKS = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//[^"'\s>]+""", re.I)
STYLE_ASKS = re.compile(r"""(?:@import\s*|url\(\s*)["']?(?:https?:)?//[^"')\s]+""")


def check(site):
    problems = []
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css"):
            pattern = ASKS if path.suffix == ".html" else STYLE_ASKS
            problems += [f"{path}: {match[0]}" for match in pattern.finditer(path.read_text())]
    if not (site / "index.html").exists():
        problems.append(f"{site} has no first page")
    print("\n".join(problems))
    return 1 if problems else 0


if sys.argv[1:2] == ["pages"] and len(sys.argv) == 5:
    gather(*map(pathlib.Path, sys.argv[2:]))
elif sys.argv[1:2] == ["check"] and len(sys.argv) == 3:
    sys.exit(check(pathlib.Path(sys.argv[2])))
else:
    sys.exit(__doc__)
