# SPDX-License-Identifier: Apache-2.0
"""The documentation's site: what scripts/docs, which builds it as a check, takes for an error."""
import json
import subprocess
import sys

import pytest

from harness import REPOSITORY, build_directory

TOOLS = REPOSITORY / "build/docs-tools/bin/python"
MISTAKES = {
    "none": ("", "", None),
    "a dead link": ("docs/chat.md", "[x](nothing.md)", "'docs/nothing.md' is not found"),
    "a dead anchor": ("docs/chat.md", "[x](ask.md#nothing-here)", "does not contain an anchor '#nothing-here'"),
    "a source that is not there": ("docs/chat.md", "[x](../src/nothing.c)", "'../src/nothing.c'"),
    "a page that is not in the navigation": ("docs/orphan.md", "# Orphan", "docs/orphan.md"),
}
ASKS = {
    "a script": '<script src="https://example.org/a.js"></script>',
    "a picture": '<p><img alt="x" src="//example.org/a.png"></p>',
    "a style sheet": '<link rel="stylesheet" href="https://example.org/a.css">',
}


def ends_of_docs(*arguments):
    return subprocess.run([sys.executable, "-I", "docs/site/site.py", *arguments], cwd=REPOSITORY, capture_output=True, text=True)


@pytest.fixture
def pages(tmp_path):
    openapi = tmp_path / "openapi.json"
    openapi.write_bytes(subprocess.run([build_directory() / "adder", "serve", "--openapi"], check=True, capture_output=True).stdout)
    ended = ends_of_docs("pages", tmp_path / "pages", openapi, REPOSITORY / "build/docs-packages/node_modules")
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "mkdocs.yml").write_text(
        f"INHERIT: {REPOSITORY / 'docs/site/mkdocs.yml'}\ndocs_dir: {tmp_path / 'pages'}\nsite_dir: {tmp_path / 'site'}\n"
    )
    return tmp_path / "pages"


@pytest.mark.parametrize("page, text, problem", MISTAKES.values(), ids=MISTAKES)
def test_mistakes(pages, page, text, problem):
    if problem:
        with open(pages / page, "a") as file:
            file.write(f"\n{text}\n")
    command = [TOOLS, "-m", "mkdocs", "build", "--strict", "--config-file", pages.parent / "mkdocs.yml"]
    ended = subprocess.run(command, capture_output=True, text=True)
    if problem:
        assert ended.returncode == 1 and problem in ended.stderr and ended.stderr.count("WARNING -") == 1, ended.stderr
        return
    assert ended.returncode == 0, ended.stderr
    site = pages.parent / "site"
    assert "POST" in (site / "viewer/description.js").read_text().upper() and (site / "viewer/swagger-ui-bundle.js").stat().st_size > 1 << 20
    assert ends_of_docs("check", site).returncode == 0
    home = (site / "index.html").read_text()
    assert '"provider": "mike"' in home and 'data-md-color-scheme="slate"' in home and 'href="api.html"' in home
    assert list(site.glob("search/search_index.js*"))
    assert ">Guard</a>" in (site / "docs/ask.html").read_text(), "a link that is called guard.md has the title of its page"


def test_versions_are_listed(tmp_path):
    for name in ("0.9.0", "development", "0.10.0", "none"):
        (tmp_path / name).mkdir()
        if name != "none":
            (tmp_path / name / "index.html").touch()
    assert ends_of_docs("versions", tmp_path).returncode == 0
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [version["version"] for version in listed] == ["0.10.0", "0.9.0", "development"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "../x"], ["--version", ""], ["--nothing"]])
def test_usage_of_the_script(arguments):
    ended = subprocess.run(["scripts/docs", *arguments], cwd=REPOSITORY, capture_output=True, text=True)
    assert ended.returncode == 1 and "version" in ended.stderr and ended.stdout == ""


@pytest.mark.parametrize("text", ASKS.values(), ids=ASKS)
def test_requests_to_others(tmp_path, text):
    (tmp_path / "index.html").write_text(f"<html><body><a href='https://example.org'>a link is none</a>{text}</body></html>")
    ended = ends_of_docs("check", tmp_path)
    assert ended.returncode == 1 and "example.org/a." in ended.stdout, ended
