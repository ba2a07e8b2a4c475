# SPDX-License-Identifier: Apache-2.0
"""A web service whose users each have a live Python session and files of their own.

    python service.py 8000
    curl -d 'x = 6 * 7' -H 'X-User: anna' http://127.0.0.1:8000
    curl -d 'print(x)' -H 'X-User: anna' http://127.0.0.1:8000

X-User stands for what your service knows of whoever is logged in. The service asks the daemon of this machine, or ADDER_URL with a token
that was made with `adder token new service --acts-for-users`. Nothing of one user is seen by another.
"""
import http.server
import sys

from adder_client import Adder, AdderError

adder = Adder(retries=5)  # a queue that is full is a moment to wait


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        code = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        try:
            user = adder.for_user(self.headers.get("X-User", ""))
            status, text = 200, user.sessions.ensure("notebook").run(code).for_model()
        except (AdderError, ValueError) as problem:
            status, text = 400, str(problem)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128  # clients that connect at the same moment


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
