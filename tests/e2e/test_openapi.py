# SPDX-License-Identifier: Apache-2.0
"""/openapi.json, judged by those who read such documents for a living: it is valid, strict, and true."""
import json
import os
import pathlib
import subprocess

import harness
import http_bed
import pytest

SECONDS = 25
# What fits the schema and cannot be meant is refused, which the first takes for a fault: JSON Schema, as rows of fields
# make it, cannot say that exactly one of three members must be there, or what a moment may look like. The second takes the
# 404 of a checkpoint that a body names for one of the session that the path names.
LEFT_OUT = "positive_data_acceptance,ensure_resource_availability"


@pytest.fixture(scope="module")
def judges():
    """Folder of the programs; scripts/test installs them."""
    folder = pathlib.Path(os.environ.get("ADDER_BUILD", "build")).absolute() / "schemathesis" / "bin"
    if not (folder / "schemathesis").exists():
        pytest.skip("schemathesis is not installed: scripts/test does it")
    return folder


@pytest.fixture
def served(make_adder):
    bed = http_bed.Served(make_adder("[http]\nrate = 6000000\nfailures = 6000\n"))
    yield bed
    bed.stop()


def loose(schema, path=""):
    """Where SCHEMA has objects of which it says nothing."""
    if isinstance(schema, list):
        return [found for i, each in enumerate(schema) for found in loose(each, f"{path}/{i}")]
    if not isinstance(schema, dict):
        return []
    own = []
    if schema.get("type") == "object" and "properties" not in schema and "additionalProperties" not in schema:
        own = [path]
    return own + [found for name, each in schema.items() for found in loose(each, f"{path}/{name}")]


def test_the_description_is_valid_and_strict(served, judges, tmp_path):
    document = served.get("/openapi.json", secret="").json()
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document))
    subprocess.run([judges / "openapi-spec-validator", file], check=True, capture_output=True)
    named = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(named) == len(set(named)) and len(named) > 40
    for path in document["paths"].values():
        for operation in path.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            assert body is None or body["schema"]["additionalProperties"] is False, operation["operationId"]
            assert "500" in operation["responses"]
            assert ("401" in operation["responses"]) == bool(operation["security"])


# What is refused is refused by the status that says why, which is not on the judge's list of them. A session that was
# ended is still shown, with the reason and its history.
SETTINGS = """
[checks]
negative_data_rejection.expected-statuses = ['4xx']

[[operations]]
include-path-regex = "^/v1/sessions/"
checks.use_after_free.enabled = false
"""


def test_the_server_does_what_it_says(served, judges, tmp_path):
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    file = tmp_path / "openapi.json"
    file.write_bytes(served.get("/openapi.json", secret="").body)
    ended = subprocess.run(
        [judges / "schemathesis", "--no-color", "run", file, "--url", f"http://127.0.0.1:{served.port}"]
        + ["-H", f"Authorization: Bearer {served.secret}", "--exclude-checks", LEFT_OUT, "--seed", "1"]
        + ["--max-examples", "3", "--max-time", str(SECONDS), "--request-timeout", "30", "--warnings", "off"]
        + ["--suppress-health-check", "all"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=harness.DEADLINE + 10 * SECONDS,
    )
    assert ended.returncode == 0, "\n".join(line[:300] for line in ended.stdout.splitlines())[-6000:] + ended.stderr[-2000:]
    assert served.get("/healthz", secret="").status == 200
