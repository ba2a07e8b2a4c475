# SPDX-License-Identifier: Apache-2.0
"""A real model, end to end: SmolLM2 in llama.cpp's server on this machine is asked about a table, writes a plan, code that the guard
lets through and an answer. It is as small as models come, so the question is as plain as questions come."""
import json
import subprocess

import pytest

import ask_answers
import harness

PINS = harness.REPOSITORY / "tests/small_model.txt"
TABLE = ask_answers.DATA / "global-temp.csv"


@pytest.fixture(scope="module")
def address():
    place = harness.REPOSITORY / "build/small-model"
    if not (place / "pins").exists() or (place / "pins").read_text() != PINS.read_text():
        pytest.skip("the packages of tests/small_model.txt are not in build/small-model: scripts/test installs them where they can be had")
    server = subprocess.Popen(
        [place / "bin/python", "-I", harness.REPOSITORY / "tests/small_model.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        told = server.stdout.readline().strip()
        assert told.startswith("http://127.0.0.1:"), f"the server told no address, and ended with {server.poll()}"
        yield told
    finally:
        server.stdin.close()
        try:
            server.wait(harness.DEADLINE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.mark.slow
def test_a_real_model_answers_a_question(science, address):
    table = science.file("global-temp.csv", TABLE.read_bytes())
    added = science.call("model", "new", "small", "--provider=llama.cpp", f"--base-url={address}/v1", "--model=smollm2", "--output-tokens=200", "--replace")
    assert added.returncode == 0, added
    try:
        ended = science.call("ask", "--json", "--model=small", "--tests=none", table, "What is the mean of temp?", timeout=900)
    finally:
        science.call("model", "rm", "small")
    state = json.loads(ended.stdout)
    assert (ended.returncode, state["outcome"]) == (0, "ok"), state["errors"]
    values = ask_answers.numbers(ask_answers.read("global-temp"), "temp")
    assert state["table"]["value"] == pytest.approx(ask_answers.mean(values))
    assert 'df["temp"].mean()' in state["code"] and state["plan"]["steps"] and state["answer"]
    assert state["model"]["replay"] is False and state["model"]["name"] == "small"
    assert state["usage"]["output_tokens"] > 0 and state["usage"]["input_tokens"] > 0
