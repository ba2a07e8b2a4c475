# SPDX-License-Identifier: Apache-2.0
"""The two ends of scripts/docs.

    site.py pages PAGES OPENAPI.JSON NODE_MODULES    gathers in PAGES what docs/site/mkdocs.yml names, and what that links to
    site.py check SITE                               fails where a page of SITE asks others for something
    site.py versions SITES                           lists the versions in SITES for their selector, and leads to the first

Pages keep their places, so that links between them hold as they are. Directories have no page: their README stands for them."""
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\[[\w/-]+\.md(?=\])|)(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
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
  // As the page around it is, where that may be looked at: not of files.
  try {
    document.documentElement.classList.toggle("dark-mode", parent.document.body.dataset.mdColorScheme == "slate");
  } catch { document.body.style.background = "white"; }
  SwaggerUIBundle({spec: description, dom_id: "#api", docExpansion: "none", supportedSubmitMethods: [], validatorUrl: null});
</script>
</html>
"""


# Of each page in the navigation its title there.
NAMED = {page: title for title, page in re.findall(r"^ +- (.*): (\S+\.md)$", (ROOT / "docs/site/mkdocs.yml").read_text(), re.M)}


def with_links(path, text, found):
    """TEXT of the page PATH, whose links lead to files. They are added to FOUND. Links that are called by a file's name get the
    title of its page."""

    def link(match):
        target = pathlib.Path(os.path.normpath(path.parent / match[3]))
        if (ROOT / target).is_dir():
            if not (ROOT / target / "README.md").is_file():
                return match[0]  # mkdocs says so
            target /= "README.md"
        if (ROOT / target).is_file():
            found.append(target)
            title = "[" + NAMED.get(str(target), match[1][1:]) if match[1] else ""
            return title + match[2] + os.path.relpath(target, path.parent) + match[4]
        return match[0]

    return LINK.sub(link, text)


def gather(pages, openapi, modules):
    shutil.rmtree(pages, ignore_errors=True)
    waiting = [pathlib.Path(name) for name in NAMED if name != "api.md"]
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
    shutil.copyfile(ROOT / "docs/site/site.css", pages / "site.css")
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


DEVELOPMENT = "development"  # what scripts/docs builds where no version is named


def versions(sites):
    """versions.json is in the form of mike, which mkdocs-material reads. Releases come first, the newest of them at the top."""
    names = [path.parent.name for path in sites.glob("*/index.html")]
    names.sort(key=lambda name: (name != DEVELOPMENT, [int(number) for number in re.findall(r"\d+", name)]), reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in names]
    (sites / "versions.json").write_text(json.dumps(listed) + "\n")
    (sites / "index.html").write_text(
        f'<!doctype html>\n<title>Adder</title>\n<meta http-equiv="refresh" content="0; url={names[0]}/index.html">\n'
    )


if sys.argv[1:2] == ["pages"] and len(sys.argv) == 5:
    gather(*map(pathlib.Path, sys.argv[2:]))
elif sys.argv[1:2] == ["check"] and len(sys.argv) == 3:
    sys.exit(check(pathlib.Path(sys.argv[2])))
elif sys.argv[1:2] == ["versions"] and len(sys.argv) == 3:
    versions(pathlib.Path(sys.argv[2]))
else:
    sys.exit(__doc__)
