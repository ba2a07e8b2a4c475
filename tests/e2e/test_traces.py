# SPDX-License-Identifier: Apache-2.0
"""Traces: what a request went through, sent to a collector that reads them by the schema of OpenTelemetry."""
import json
import queue
import subprocess
import threading

import pytest

import harness
from harness import REPOSITORY
from http_bed import Served

PYTHON = REPOSITORY / "build/collector/bin/python"
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collected:
    """A collector, and the spans that came."""

    def __init__(self):
        if not PYTHON.exists():
            pytest.skip("no schema of OTLP in build/collector: scripts/test installs it")
        self.process = subprocess.Popen(
            [PYTHON, REPOSITORY / "tests/collector.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.came, self.spans = queue.Queue(), []
        threading.Thread(target=lambda: [self.came.put(json.loads(line)) for line in self.process.stdout], daemon=True).start()

    def wait(self, fits, count=1):
        """The spans that fit, when there are COUNT."""
        while True:
            found = [span for span in self.spans if fits(span)]
            if len(found) >= count:
                return found
            self.spans.append(self.came.get(timeout=harness.DEADLINE))

    def end(self):
        self.process.stdin.close()
        self.process.wait(harness.DEADLINE)


@pytest.fixture
def collected():
    collector = Collected()
    yield collector
    collector.end()


def served(make_adder, collected, lines=""):
    return Served(make_adder(), f"[tracing]\nendpoint = {collected.url}\n{lines}")


def test_a_run_and_its_parts_are_of_the_callers_trace(make_adder, collected):
    server = served(make_adder, collected)
    reply = server.ask("POST", "/v1/runs", {"code": "1"}, traceparent=f"00-{TRACE}-{CALLER}-01")
    run_id = reply.json()["run_id"]
    spans = {span["name"]: span for span in collected.wait(lambda span: span["traceId"] == TRACE, 5)}
    server.stop()
    assert set(spans) == {"POST /v1/runs", "run", "queue", "execute", "store"}
    request, run = spans["POST /v1/runs"], spans["run"]
    assert request["parentSpanId"] == CALLER and run["parentSpanId"] == request["spanId"]
    assert request["attributes"] == {"http.request.method": "POST", "http.route": "/v1/runs", "http.response.status_code": 200}
    assert run["attributes"]["adder.run_id"] == run_id and run["attributes"]["adder.outcome"] == "ok"
    assert run["resource"]["service.name"] == "adder"
    for part in ("queue", "execute", "store"):
        assert spans[part]["parentSpanId"] == run["spanId"]
        assert int(run["startTimeUnixNano"]) <= int(spans[part]["startTimeUnixNano"]) <= int(spans[part]["endTimeUnixNano"])
        assert int(spans[part]["endTimeUnixNano"]) <= int(run["endTimeUnixNano"])


def test_failures_are_marked(make_adder, collected):
    server = served(make_adder, collected)
    server.post("/v1/runs", {"code": "1/0"})
    (run,) = collected.wait(lambda span: span["name"] == "run")
    server.stop()
    assert run["status"]["code"] == 2 and run["status"]["message"] == "error" and "parentSpanId" in run


def test_calls_over_mcp(make_adder, collected):
    server = served(make_adder, collected)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_python", "arguments": {"code": "1"}, "_meta": {"traceparent": f"00-{TRACE}-{CALLER}-01"}}}  # fmt: skip
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    accepts = {"Accept": "application/json, text/event-stream"}
    session = server.ask("POST", "/mcp", hello, **accepts).headers["Mcp-Session-Id"]
    called = server.ask("POST", "/mcp", call, **accepts, **{"Mcp-Session-Id": session})
    assert called.status == 200, called
    spans = {span["name"]: span for span in collected.wait(lambda span: span["traceId"] == TRACE, 5)}
    server.stop()
    assert set(spans) == {"tools/call", "run", "queue", "execute", "store"}
    assert spans["tools/call"]["parentSpanId"] == CALLER and spans["run"]["parentSpanId"] == spans["tools/call"]["spanId"]


def test_who_is_not_sampled_is_not_sent(make_adder, collected):
    """By the caller's trace, or by [tracing] percent where there is none."""
    server = served(make_adder, collected, "percent = 0\n")
    for _ in range(3):
        server.post("/v1/runs", {"code": "1"})
    server.ask("POST", "/v1/runs", {"code": "1"}, traceparent=f"00-{TRACE}-{CALLER}-00")
    server.ask("POST", "/v1/runs", {"code": "1"}, traceparent=f"00-{TRACE[::-1]}-{CALLER}-01")
    server.ask("POST", "/v1/runs", {"code": "1"}, traceparent="00-nonsense-01")
    collected.wait(lambda span: span["traceId"] == TRACE[::-1], 5)
    server.stop()
    assert {span["traceId"] for span in collected.spans} == {TRACE[::-1]} and collected.came.empty()


def test_runs_do_not_need_the_collector(make_adder):
    server = Served(make_adder(), "[tracing]\nendpoint = http://127.0.0.1:9\n")
    assert server.post("/v1/runs", {"code": "print(1)"}).json()["stdout"] == "1\n"
    harness.wait_until(lambda: "traces are lost" in str(server.log), "it is said")
    server.stop()
