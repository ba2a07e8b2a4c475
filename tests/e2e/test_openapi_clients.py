# SPDX-License-Identifier: Apache-2.0
"""/openapi.json as those read it who make clients of it: two linters, a generator of types, and one of a client that runs code."""
import json
import os
import pathlib
import subprocess

import http_bed
import pytest
from installed import npm_version, python_version

BUILD = pathlib.Path(os.environ.get("ADDER_BUILD", "build")).absolute()
PACKAGES = BUILD / "openapi-packages" / "node_modules"
GENERATOR = BUILD / "openapi-generator" / "bin"


@pytest.fixture(scope="module")
def served(make_shared_adder):
    bed = http_bed.Served(make_shared_adder())
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def document(served):
    return served.get("/openapi.json", secret="").json()


@pytest.fixture
def described(document, tmp_path):
    """Folder with openapi.json."""
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    return tmp_path


def node(folder, package, *arguments):
    """What a program of PACKAGE says, which must end well. It asks nobody whether there is a newer one."""
    if not PACKAGES.exists():
        pytest.skip("the packages are not installed: scripts/test does it")
    variables = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "HOME": str(folder)}
    ended = subprocess.run(
        [BUILD / "node" / "bin" / "node", PACKAGES / package, *arguments], cwd=folder, env=variables, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended.stdout + ended.stderr


def parts(value, path=""):
    """(path, object) of every object in VALUE."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from parts(each, f"{path}/{index}")
    elif isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            yield from parts(each, f"{path}/{name}")


def test_what_generators_trip_over(document):
    schemas = document["components"]["schemas"]
    for path, part in parts(document):
        assert part.get("type") != "array" or "items" in part, path
        assert "type" not in part or not isinstance(part.get("default"), (dict, list)), path
        if "$ref" in part:
            kind, name = part["$ref"].split("/")[2:]
            assert name in document["components"][kind], path
    used = {tag for path in document["paths"].values() for operation in path.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in document["tags"]} and all(tag["description"] for tag in document["tags"])
    assert [server["url"] for server in document["servers"]] == ["http://127.0.0.1:7117"]
    assert {"Result", "RunError", "SessionInfo", "RunBody", "StoredFile", "Problem"} <= set(schemas)
    (reply, _) = document["paths"]["/v1/runs"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
    assert reply == {"$ref": "#/components/schemas/Result"}


def test_what_a_body_may_not_hold_is_said(document):
    assert "at most 64 bits" in document["info"]["description"] and "U+0000" in document["info"]["description"]
    body = document["components"]["schemas"]["RunBody"]["properties"]
    assert body["code"]["pattern"] == "^[^\\u0000]*$"
    (values, _) = body["values"]["anyOf"]
    assert "64 bits" in values["additionalProperties"]["description"] and "U+0000" in values["additionalProperties"]["description"]
    whole = [part for _, part in parts({name: each for name, each in document["components"]["schemas"].items() if name.endswith("Body")})
             if part.get("type") == "integer"]
    assert whole and all(-(2**63) <= part["minimum"] <= part["maximum"] < 2**63 for part in whole)


LINTED = "`/openapi.json`, without findings"


def test_redocly_finds_nothing(described, client_row):
    node(described, "@redocly/cli/bin/cli.js", "lint", "--extends=recommended", "--max-problems=100", "openapi.json")
    client_row("HTTP", "Redocly", npm_version(PACKAGES, "@redocly/cli"), LINTED)


def test_spectral_finds_nothing(described, client_row):
    (described / "rules.yaml").write_text('extends: ["spectral:oas"]\n')
    node(described, "@stoplight/spectral-cli/dist/index.js", "lint", "--fail-severity=hint", "-r", "rules.yaml", "openapi.json")
    client_row("HTTP", "Spectral", npm_version(PACKAGES, "@stoplight/spectral-cli"), LINTED)


TYPES = """
import type { components, paths } from "./schema.d.ts";

type Schemas = components["schemas"];
type Run = paths["/v1/runs"]["post"];
const body: Run["requestBody"]["content"]["application/json"] = { code: "6 * 7", files: [{ name: "a.txt", text: "x" }] };
type Answer = Run["responses"][200]["content"]["application/json"];
export const sum = (answer: Answer): string => ("outcome" in answer ? (answer.error?.message ?? answer.stdout) : answer.run_id);
export const files = (result: Schemas["Result"]): string[] => result.files.map((file) => file.name);
// @ts-expect-error: a body has no such member
export const wrong: typeof body = { code: "1", cod: "2" };
"""


def test_types_for_typescript(described, client_row):
    node(described, "openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.d.ts")
    (described / "program.ts").write_text(TYPES)
    node(described, "typescript/bin/tsc", "--noEmit", "--strict", "--allowImportingTsExtensions", "--module", "nodenext", "program.ts")
    done = "every array has `items`, and schemas have names"
    client_row("HTTP", "openapi-typescript", npm_version(PACKAGES, "openapi-typescript"), "types of requests and replies", done)


PROGRAM = """
import sys

from made import AuthenticatedClient
from made.api.files import get_file, list_files
from made.api.runs import run
from made.api.sessions import end_session, new_session, run_cell
from made.models import InputFile, NewSessionBody, Problem, RunBody, RunCellBody

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
result = run.sync(client=client, body=RunBody(code="print(open('a.txt').read())\\n6 * 7", files=[InputFile(name="a.txt", text="hello")]))
print(result.outcome, result.stdout.strip(), result.value.additional_properties["text/plain"])
failed = run.sync(client=client, body=RunBody(code="1 / 0"))
print(failed.outcome, failed.error.type_)
session = new_session.sync(client=client, body=NewSessionBody())
run_cell.sync(session.session_id, client=client, body=RunCellBody(code="x = 20"))
cell = run_cell.sync(session.session_id, client=client, body=RunCellBody(code="x + 1"))
print(cell.value.additional_properties["text/plain"], cell.session.cell)
print(end_session.sync(session.session_id, client=client).state)
refused = run.sync(client=client, body=RunBody(code="1", profile="none"))
print(type(refused) is Problem, refused.status)
print(list_files.sync(client=client).files)
"""


def test_a_generated_client_runs_code(served, described, client_row):
    if not GENERATOR.exists():
        pytest.skip("the generator is not installed: scripts/test does it")
    variables = {**os.environ, "PATH": f"{GENERATOR}:{os.environ['PATH']}", "PYTHONPATH": str(described)}
    made = subprocess.run(
        [GENERATOR / "openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "made", "--meta", "none"],
        cwd=described, env=variables, capture_output=True, text=True,
    )
    assert made.returncode == 0 and "WARNING" not in made.stdout + made.stderr, made.stdout[-4000:] + made.stderr[-4000:]
    (described / "program.py").write_text(PROGRAM)
    ended = subprocess.run(
        [GENERATOR / "python", "program.py", f"http://127.0.0.1:{served.port}", served.secret],
        cwd=described, env=variables, capture_output=True, text=True,
    )
    assert ended.stdout.splitlines() == ["ok hello 42", "error ZeroDivisionError", "21 2", "ended", "True 404", "[]"], ended
    version = python_version(GENERATOR / "python", "openapi-python-client")
    done = "schemas have names, and no default is an object"
    client_row("HTTP", "openapi-python-client", version, "results, cells of sessions, files and problems as objects", done)
