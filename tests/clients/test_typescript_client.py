# SPDX-License-Identifier: Apache-2.0
"""clients/typescript against a daemon: the package as npm would install it, used by typed programs in Node and in a browser.
tests/clients/typescript has the programs."""
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse

import pytest

import ports
from harness import DEADLINE, REPOSITORY, wait_until
from installed import npm_version
from served import Served, configuration

BUILD = REPOSITORY / "build"
PACKAGE = REPOSITORY / "clients" / "typescript"
PROGRAMS = pathlib.Path(__file__).with_name("typescript")
NODE, TOOLS = BUILD / "node" / "bin" / "node", BUILD / "typescript-packages" / "node_modules"
NPM = BUILD / "node/wheel/lib/node_modules/npm/bin/npm-cli.js"
# Each Node that this machine has, of the versions that the package is for.
NODES = [pytest.param(NODE, id="node"), pytest.param(pathlib.Path("/usr/bin/node"), id="system-node")]
BROWSER = "chromium-headless-shell"
STEPS = re.findall(r"^  async (\w+)\(\) \{$", (PROGRAMS / "steps.ts").read_text(), re.M)
STRICT = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noPropertyAccessFromIndexSignature"]
IN_NODE = [*STRICT, "--module", "nodenext", "--target", "es2022", "--lib", "es2024,esnext.disposable", "--types", "node"]
IN_BROWSER = [*STRICT, "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022", "--types", "",
              "--lib", "es2022,dom,dom.iterable,dom.asynciterable"]  # fmt: skip


def run(*command, **options):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=DEADLINE * 4, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def tsc(*arguments, cwd):
    return run(NODE, TOOLS / "typescript" / "bin" / "tsc", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def package(common_directory):
    """A program's directory where adder-client is installed from what `npm pack` makes, with the programs of the tests."""
    if not NODE.exists() or not TOOLS.exists():
        pytest.skip("no Node: . scripts/common.sh && node_packages")
    top = common_directory / "typescript"
    source, program = top / "source", top / "program"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("dist", "node_modules"))
    (source / "node_modules").symlink_to(TOOLS.resolve())
    builds = {**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"}
    run(NODE, NPM, "pack", "--offline", "--cache", top / "cache", cwd=source, env=builds)
    installed = program / "node_modules" / "adder-client"
    installed.mkdir(parents=True)
    run("tar", "-xzf", next(source.glob("*.tgz")), "-C", installed, "--strip-components=1")
    (program / "node_modules" / "@types").symlink_to((TOOLS / "@types").resolve())
    (program / "package.json").write_text('{"type": "module"}')
    for each in PROGRAMS.glob("*.ts"):
        shutil.copy(each, program)
    tsc(*IN_NODE, "steps.ts", "own_daemon.ts", cwd=program)
    return program


def own_row(client_row, place):
    version = npm_version(PACKAGE.parent, PACKAGE.name)
    client_row("HTTP", f"`adder-client` for {place}", version, "all members of a result, with types", "part of Adder")


def node_of(param):
    if not param.exists():
        pytest.skip(f"no {param}")
    version = run(param, "--version").strip()
    if int(version[1:].split(".")[0]) < 20:
        pytest.skip(f"{param} is {version}, and 20.3 is needed")
    return param


def as_user(adder):
    """The command that runs Node as ADDER's user, whom alone the socket serves."""
    ended = subprocess.run([*adder.user.prefix, NODE, "--version"], capture_output=True)
    if ended.returncode:
        pytest.skip(f"{adder.user.name} cannot run {NODE}")
    return [*adder.user.prefix, NODE]


# ---- the package ----


def test_it_has_what_a_package_of_npm_has(package):
    installed = package / "node_modules" / "adder-client"
    described = json.loads((installed / "package.json").read_text())
    assert described["license"] == "Apache-2.0" and "dependencies" not in described
    assert (installed / "LICENSE").read_text() == (REPOSITORY / "LICENSE").read_text()
    assert f'"{described["version"]}"' in (PACKAGE / "src" / "version.ts").read_text()
    targets = [described["main"], described["types"], *leaves(described["exports"])]
    assert [target for target in targets if not (installed / target).is_file()] == []
    links = re.findall(r"\]\(([^)]+)\)", (installed / "README.md").read_text())
    assert [link for link in links if not re.match(r"https://|#", link)] == [], "a page of npm resolves no others"


def leaves(value):
    return [value] if isinstance(value, str) else [leaf for each in value.values() for leaf in leaves(each)]


def test_compilers_know_its_types(package):
    tsc(*IN_NODE, "--noEmit", "types.ts", cwd=package)
    tsc(*IN_BROWSER, "--noEmit", "types.ts", "page.ts", cwd=package)


def test_both_entries_have_the_same_names(package):
    script = """
    const [web, node] = await Promise.all(["index.js", "index.node.js"].map((name) => import(`adder-client-dist/${name}`)));
    console.log(JSON.stringify([Object.keys(web), Object.keys(node)]));
    """
    script = script.replace("adder-client-dist", (package / "node_modules/adder-client/dist").as_uri())
    web, node = json.loads(run(NODE, "--input-type=module", "-e", script))
    assert web == node and "Adder" in web and "Conflict" in web


def bundled(package):
    out = package / "bundle.js"
    options = ["--bundle", "--format=esm", "--platform=browser", f"--outfile={out}"]
    run(NODE, TOOLS / "esbuild" / "bin" / "esbuild", "page.ts", *options, cwd=package)
    return out


def test_browsers_load_nothing_of_node(package):
    made = bundled(package).read_text()
    assert "new Adder(" in made and not re.search(r"[\"']node:|\bprocess\.|\bBuffer\b|\brequire\(", made)
    resolved = run(NODE, "--input-type=module", "-e", "console.log(import.meta.resolve('adder-client'))", cwd=package)
    assert resolved.strip().endswith("/dist/index.node.js")


def with_references(document):
    """DOCUMENT with each object that has members, and each list of forms, as a named schema."""
    schemas = {}

    def moved(value):
        if isinstance(value, list):
            return [moved(each) for each in value]
        if not isinstance(value, dict):
            return value
        value = {name: moved(each) for name, each in value.items()}
        if (value.get("type") == "object" and isinstance(value.get("properties"), dict)) or isinstance(value.get("anyOf"), list):
            name = f"Moved{len(schemas)}"
            schemas[name] = {name: each for name, each in value.items() if name != "description"}
            said = {"description": value["description"]} if "description" in value else {}
            return {"$ref": f"#/components/schemas/{name}", **said}
        return value

    paths = moved(document["paths"])
    kept = document["components"]
    return {**document, "paths": paths, "components": {**kept, "schemas": {**kept["schemas"], **schemas}}}


def test_named_schemas_give_the_same_types(monkeypatch, tmp_path):
    document = json.loads(run(BUILD / "adder", "serve", "--openapi"))
    specification = importlib.util.spec_from_file_location("make_types", PACKAGE / "make_types.py")
    make_types = importlib.util.module_from_spec(specification)
    monkeypatch.setattr(sys, "path", list(sys.path))
    specification.loader.exec_module(make_types)
    for each in (document, with_references(document)):
        assert make_types.text_of(each) == (PACKAGE / "src" / "api.ts").read_text()


def examples():
    text = (PACKAGE / "README.md").read_text()
    found = []
    for number, block in enumerate(re.finditer(r"^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", text, re.S | re.M)):
        heading = re.findall(r"^#+ (.*)$", text[: block.start()], re.M)[-1]
        found.append(pytest.param(block[1], block[2], id=f"{heading}-{number}"))
    return found


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("code, output", examples())
def test_examples_of_the_readme(package, served, code, output, node, request):
    """As they stand: the compiler takes the types out, and each Node knows the rest."""
    name = re.sub(r"\W+", "_", request.node.name)
    (package / f"{name}.ts").write_text(code)
    (package / "data.csv").write_text("a,b\n1,2\n3,4\n")
    tsc(*IN_NODE, "--target", "esnext", f"{name}.ts", cwd=package)
    said = run(node_of(node), f"{name}.js", cwd=package, env=served.variables())
    assert output is None or said == output


# ---- in Node ----


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("step", STEPS)
def test_step(package, served, breaking, client_row, step, node):
    variables = {**served.variables(), "PERSON_TOKEN": served.token("person"), "BREAKING_URL": breaking.url}
    run(node_of(node), package / "steps.js", step, env=variables)
    own_row(client_row, "Node")


@pytest.mark.parametrize("step", ["a_result_is_whole", "files_go_in_and_out", "leaving_a_stream_cancels", "a_signal_cancels"])
def test_step_over_a_unix_socket(package, served, step):
    run(*as_user(served.adder), package / "steps.js", step, env=served.variables(unix=True), cwd=served.adder.scratch)


@pytest.mark.both_users
def test_without_an_address_it_finds_or_starts_the_daemon(package, make_adder):
    adder = make_adder()
    adder.configure(configuration(adder.runtime))
    program = [*as_user(adder), package / "own_daemon.js"]
    path = f"{adder.installation.program.parent}:/usr/bin:/bin"
    variables = {**adder.process_environment(), "PATH": path, "ADDER_TOKEN": "of another server"}
    assert adder.daemon() is None
    first, again = (json.loads(run(*program, env=variables, cwd=adder.scratch)) for _ in range(2))
    assert first["texts"] == again["texts"] == ["42", "42", "42"]
    assert first["places"] == again["places"] and first["places"][0].startswith(f"unix:{adder.runtime}/")
    adder.stop()

    def refused(**changed):
        ended = subprocess.run(list(map(str, program)), capture_output=True, text=True, env={**variables, **changed}, cwd=adder.scratch)
        assert ended.returncode != 0
        return ended.stderr

    installed = path.split(":")[0]
    assert "there is no program adder" in refused(PATH=path.removeprefix(f"{installed}:"))
    assert "there is no program /none" in refused(ADDER_PROGRAM="/none")
    assert adder.daemon() is None
    # In a directory that is open to others, anybody may have put the socket: nothing is sent to it.
    place = adder.runtime / "adder.http.sock"
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as somebody:
        somebody.bind(str(place))
        place.chmod(0o666)
        somebody.listen()
        somebody.setblocking(False)
        adder.runtime.chmod(0o755)
        assert "must be a directory of this user's with mode 0700" in refused()
        with pytest.raises(BlockingIOError):
            somebody.accept()
    adder.runtime.chmod(0o700)
    place.unlink()


# ---- in a browser ----


class Page:
    """A server of one page at a reserved port, which hears what the page tells."""

    def __init__(self, bundle):
        self.told, heard = threading.Event(), self
        self.reserved = ports.reserve()
        self.origin = f"http://localhost:{ports.number_of(self.reserved)}"

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                is_script = self.path == "/bundle.js"
                content = bundle.read_bytes() if is_script else b'<!doctype html><script type="module" src="/bundle.js"></script>'
                self.send_response(200)
                self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
                self.end_headers()
                self.wfile.write(content)

            def do_POST(self):
                heard.value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()
                heard.told.set()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_port = True

            def server_bind(self):
                self.socket.setsockopt(ports.socket.SOL_SOCKET, ports.socket.SO_REUSEPORT, 1)
                super().server_bind()

        self.server = Server(("127.0.0.1", ports.number_of(self.reserved)), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()
        self.reserved.close()


def test_in_a_browser(package, make_adder, client_row, tmp_path):
    browser = shutil.which(BROWSER)
    if not browser:
        pytest.skip(f"no {BROWSER} (Debian's package of that name)")
    page = Page(bundled(package))
    adder = make_adder()
    adder.configure(configuration(adder.runtime) + f"origins = {page.origin}\n")
    world = Served(adder)
    asked = urllib.parse.urlencode({"url": world.url, "token": world.token("client")})
    command = [browser, "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--remote-debugging-port=0"]
    with subprocess.Popen([*command, f"{page.origin}/?{asked}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(page.told.is_set, "the page", DEADLINE * 4)
        finally:
            process.kill()
            page.end()
            world.end()
    assert page.value == {
        "events": ["started", "h\u00e9\n", "42"],
        "same": True,
        "read": "('t', 200000)",
        "variables": ["1"],
        "reason": "enough",
        "outcome": "cancelled",
        "missing": True,
        "nameless": "AdderError: new Adder() needs a url here: new Adder({ url, token })",
    }
    own_row(client_row, "browsers")
