# SPDX-License-Identifier: Apache-2.0
"""`adder mcp install`: the files of MCP clients, with Adder in them and all else as it was."""
import json
import os
import stat
import tomllib

import pytest

URL = "http://127.0.0.1:7117"

# Of each client: its file below the home or, in a project, below the current directory; the key of servers; an entry over
# HTTP, and one that starts a program but for the program.
CLIENTS = {
    "claude-desktop": (".config/Claude/claude_desktop_config.json", None, "mcpServers", {}, None),
    "claude-code": (
        ".claude.json",
        ".mcp.json",
        "mcpServers",
        {"type": "stdio"},
        {"type": "http", "url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${ADDER_TOKEN}"}},
    ),
    "vscode": (
        ".config/Code/User/mcp.json",
        ".vscode/mcp.json",
        "servers",
        {"type": "stdio"},
        {"type": "http", "url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${input:adder-token}"}},
    ),
    "cursor": (
        ".cursor/mcp.json",
        ".cursor/mcp.json",
        "mcpServers",
        {},
        {"url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${env:ADDER_TOKEN}"}},
    ),
    "codex": (
        ".codex/config.toml",
        ".codex/config.toml",
        "mcp_servers",
        {},
        {"url": f"{URL}/mcp", "bearer_token_env_var": "ADDER_TOKEN"},
    ),
}


TITLES = {
    "claude-desktop": "Claude Desktop",
    "claude-code": "Claude Code",
    "vscode": "VS Code",
    "cursor": "Cursor",
    "codex": "Codex",
}


def parse(path, text):
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


class Place:
    def __init__(self, adder):
        self.adder = adder

    def install(self, client, *options, status=0):
        ended = self.adder.call("mcp", "install", "--client", client, *options)
        assert ended.returncode == status, ended
        return ended

    def refused(self, client, *options):
        ended = self.install(client, *options, status=125)
        assert ended.stdout == "" and ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended
        return ended.stderr

    def file(self, client, text=None):
        path = self.adder.home / CLIENTS[client][0]
        if text is not None:
            for parent in reversed(path.relative_to(self.adder.home).parents):
                if not (self.adder.home / parent).exists():
                    self.adder.own(self._made(self.adder.home / parent))
            path.write_bytes(text.encode())
            self.adder.own(path)
        return path

    @staticmethod
    def _made(path):
        path.mkdir()
        return path

    def entry(self, client):
        """What stdio looks like there."""
        settings = {
            name: value
            for name, value in self.adder.process_environment().items()
            if name in ("ADDER_RUNTIME_DIR", "ADDER_CONFIG_DIR", "ADDER_STATE_DIR", "ADDER_ENVIRONMENTS_DIR")
        }
        program = os.path.realpath(self.adder.installation.program)
        return {**CLIENTS[client][3], "command": program, "args": ["mcp"], "env": settings}


@pytest.fixture
def place(own_adder):
    return Place(own_adder)


@pytest.mark.quick
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_where_it_looks(place, client_row, client):
    path, key = place.file(client), CLIENTS[client][2]
    said = place.install(client).stdout
    assert said.startswith(f'{path}: "adder" is in {key} now\n') and "as it was" not in said
    assert parse(path, path.read_text()) == {key: {"adder": place.entry(client)}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.stat().st_mtime_ns
    assert "already" in place.install(client).stdout and path.stat().st_mtime_ns == before
    place.install(client, "--name", "sums", "--toolset", "compute")
    sums = {**place.entry(client), "args": ["mcp", "--toolset", "compute"]}
    assert parse(path, path.read_text()) == {key: {"adder": place.entry(client), "sums": sums}}
    done = f"`adder mcp install --client {client}` registers `adder mcp`"
    client_row("MCP", f"{TITLES[client]}, its configuration", "", "not tested", done, "its file")


@pytest.mark.parametrize("client", [name for name in CLIENTS if CLIENTS[name][1]])
def test_a_project_has_a_file_of_its_own(place, client):
    place.install(client, "--scope", "project")
    path = place.adder.scratch / CLIENTS[client][1]
    expected = {**CLIENTS[client][3], "command": "adder", "args": ["mcp"]}
    assert parse(path, path.read_text()) == {CLIENTS[client][2]: {"adder": expected}}
    assert not place.file(client).exists()


@pytest.mark.parametrize("client", [name for name in CLIENTS if CLIENTS[name][4]])
@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/mcp"])
def test_over_http_no_token_is_written(place, client, url):
    ended = place.install(client, "--url", url, "--print")
    path, key = place.file(client), CLIENTS[client][2]
    assert ended.stderr.endswith(f" reads {path}\n") and not path.exists()
    printed = parse(path, ended.stdout)
    assert printed.pop(key) == {"adder": CLIENTS[client][4]}
    assert [each["id"] for each in printed.pop("inputs", [])] == (["adder-token"] if client == "vscode" else [])
    assert printed == {}
    assert "adder token new" in place.install(client, "--url", url).stdout


def test_what_cannot_be_is_said(place):
    assert "names programs only" in place.refused("claude-desktop", "--url", URL)
    assert "one configuration for all" in place.refused("claude-desktop", "--scope", "project")
    assert "there are claude-desktop, claude-code, vscode" in place.refused("emacs")
    assert "the token says which toolset" in place.refused("cursor", "--url", URL, "--toolset", "compute")
    assert "toolset" in place.refused("cursor", "--toolset", "nothing")
    assert "password" in place.refused("cursor", "--url", "http://me:secret@127.0.0.1/mcp")
    assert "--url" in place.refused("cursor", "--url", "ftp://127.0.0.1")
    assert "--name" in place.refused("cursor", "--name", 'a"b')
    assert "--scope" in place.refused("cursor", "--scope", "here")
    assert not place.file("cursor").exists()


JSON_FILES = [
    "{}",
    " \n",
    '{"a": 1.10e5, "mcpServers": {}}',
    '{"mcpServers":{"x":{"command":"y"}}}\n',
    '{\n\t"mcpServers": {\n\t\t"x": {"command": "a\\u0041 }{[", "n": 0.1}\n\t},\n\t"z": [1, {"k": "\\"}"}]\n}\n',
    '{\n  "big": 12345678901234567,\n  "mcpServers": {\n    "adder": {"command": "old"},\n    "other": {}\n  }\n}',
    '{"mcp\\u0053ervers": {"x": 1}}',
    '{"z":{"mcpServers":{"q":1}},"y":-1.5E-3,"w":null,"t":true}',
    '\r\n{\r\n  "a": 1\r\n}\r\n',
]


def test_all_else_in_json_stays_byte_for_byte(place):
    for text in JSON_FILES:
        path = place.file("cursor", text)
        path.chmod(0o640)
        said = place.install("cursor").stdout
        new = path.read_bytes().decode()
        expected = json.loads(text if text.strip() else "{}")
        expected.setdefault("mcpServers", {})["adder"] = place.entry("cursor")
        assert json.loads(new) == expected, text
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        backup = path.with_name(path.name + ".before-adder")
        assert backup.read_bytes().decode() == text and f"The file as it was: {backup}" in said
        backup.unlink()
        if "adder" not in text:  # nothing was taken out: without what came in, it is the same text
            common = os.path.commonprefix([text.rstrip(), new.rstrip()])
            assert new.rstrip().endswith(text.rstrip()[len(common) :]) or not text.strip("{} \n"), (text, new)


@pytest.mark.parametrize(
    "text",
    ['{"a":1,}', "// mine\n{}", "[1]", '{"mcpServers": 3}', '{"a":1,"a":2}', "nonsense", '{"a":"\0"}', '{"a": "'],
    ids=lambda text: repr(text)[1:-1],
)
def test_json_that_is_not_plain_is_left_alone(place, text):
    path = place.file("cursor", text)
    assert str(path) in place.refused("cursor")
    assert path.read_text() == text and list(path.parent.iterdir()) == [path]


TOML_FILES = [
    'model = "x"',
    '# c\nmodel = """a\n[mcp_servers.adder]\n"""\n[mcp_servers.other]\ncommand = \'x # [\'\nargs = [ # hi ]\n"a", "]",\n]\n',
    '[mcp_servers.adder]\ncommand = "old"\nargs = []\n[mcp_servers.adder.env]\nX = "1"\n\n# c\n[p."a b"]\nx = { y = [2] }\n',
    '[mcp_servers]\n[mcp_servers."adder"]\ncommand="q"\n[[list]]\na=1\n[[list]]\na=2\n',
    "x = '''a''''\ny = \"\"\"b\\\"\"\"\"\"\"\n",
    "d = 2020-01-01T00:00:00Z\r\n[a.b]\r\nc = 1\r\n",
]


def test_all_else_in_toml_stays(place):
    for text in TOML_FILES:
        path = place.file("codex", text)
        place.install("codex")
        expected = tomllib.loads(text)
        expected.setdefault("mcp_servers", {})["adder"] = place.entry("codex")
        new = path.read_bytes().decode()
        assert tomllib.loads(new) == expected, (text, new)
        assert [line for line in text.split("\n") if line.startswith("#")] == [
            line for line in new.split("\n") if line.startswith("#")
        ]


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}",
        'mcp_servers.adder.command = "x"',
        '[mcp_servers]\nadder = {command="x"}',
        "[[mcp_servers]]\na=1",
        "[[mcp_servers.adder]]\na=1",
        'x = "abc',
        "[a",
        "x = [1",
        "= 3",
        "x",
    ],
    ids=lambda text: repr(text)[1:-1],
)
def test_toml_that_cannot_be_changed_is_left_alone(place, text):
    path = place.file("codex", text)
    assert str(path) in place.refused("codex")
    assert path.read_text() == text and list(path.parent.iterdir()) == [path]


def test_a_link_stays_one(place):
    real = place.adder.file("dotfiles/config.toml", 'model = "x"\n')
    link = place.file("codex", "")
    link.unlink()
    link.symlink_to(real)
    place.install("codex")
    assert link.is_symlink() and tomllib.loads(real.read_text())["mcp_servers"]["adder"]["args"] == ["mcp"]


def test_variables_say_where_files_are(place):
    place.adder.variables = {"CODEX_HOME": str(place.adder.scratch / "x"), "CLAUDE_CONFIG_DIR": str(place.adder.scratch / "y")}
    place.install("codex")
    place.install("claude-code")
    assert (place.adder.scratch / "x/config.toml").exists() and (place.adder.scratch / "y/.claude.json").exists()


PROJECTS = [name for name in CLIENTS if CLIENTS[name][1]]


@pytest.mark.parametrize("client", PROJECTS)
def test_a_project_leads_nowhere_else(place, client):
    """Who checks something out has the links of those who made it."""
    text = "" if client == "codex" else "{}"
    outside = place.adder.file("../outside/settings", text)
    path = place.adder.scratch / CLIENTS[client][1]
    if path.parent != place.adder.scratch:
        place.adder.own(Place._made(path.parent))
    for target in (outside, outside.parent / "new"):
        path.symlink_to(target)
        assert "leads out of the project" in place.refused(client, "--scope", "project")
        path.unlink()
    if path.parent != place.adder.scratch:
        path.parent.rmdir()
        path.parent.symlink_to(outside.parent)
        assert "leads out of the project" in place.refused(client, "--scope", "project")
        path.parent.unlink()
        place.adder.own(Place._made(path.parent))
    assert list(outside.parent.iterdir()) == [outside] and outside.read_text() == text
    inside = place.adder.file("kept/settings", text)
    path.symlink_to(inside)
    place.install(client, "--scope", "project")
    assert path.is_symlink() and "adder" in inside.read_text()


@pytest.mark.quick
def test_what_was_there_first_is_kept(place):
    path = place.file("cursor", '{"mine": 1}')
    place.install("cursor")
    once = path.read_text()
    said = place.install("cursor", "--name", "other").stdout
    first, second = (path.with_name(path.name + ".before-adder" + end) for end in ("", "-2"))
    assert first.read_text() == '{"mine": 1}' and second.read_text() == once and f"as it was: {second}\n" in said
