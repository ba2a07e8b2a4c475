# SPDX-License-Identifier: Apache-2.0
"""A collector of traces (OTLP over HTTP): takes what the schema of OpenTelemetry allows, strictly, and prints each span as one line
of JSON. Prints its port first. Ends with its standard input."""
import http.server
import json
import os
import sys
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

NUMBERS = {"stringValue": str, "intValue": int, "boolValue": bool}


def attributes(list_):
    return {each["key"]: NUMBERS[kind](value) for each in list_ for kind, value in each["value"].items()}


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
        json_format.ParseDict(body, ExportTraceServiceRequest())
        for resource in body["resourceSpans"]:
            node = attributes(resource["resource"]["attributes"])
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16
                    print(json.dumps({**span, "attributes": attributes(span.get("attributes", [])), "resource": node}), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.server_port, flush=True)
server.serve_forever()
