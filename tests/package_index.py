# SPDX-License-Identifier: Apache-2.0
"""An index of packages for pip, at 127.0.0.1, with wheels that the test makes. It counts what is asked for. And daemons that know
that index alone."""
import base64
import contextlib
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import threading
import zipfile

import http_bed
import pytest


def wheel(name, version, files, requires=()):
    """The bytes of a wheel of pure Python that has FILES beside its metadata."""
    about = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    contents = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    records = []
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in contents.items():
            data = text if isinstance(text, bytes) else text.encode()
            archive.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}\n")
        archive.writestr(f"{about}/RECORD", "".join(records) + f"{about}/RECORD,,\n")
    return packed.getvalue()


class Index:
    def __init__(self):
        self.files = {}  # file name -> bytes
        self.asked = []  # paths
        self.gate = threading.Event()  # nothing is answered before it is set
        self.gate.set()
        self.held = set()  # names of packages about which nothing is answered before HELD has them no more
        self.let = threading.Condition()
        self.arrived = threading.Event()
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                index.answer(self)

            def log_message(self, *ignored):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"

    def add(self, name, version="1.0", files=None, requires=(), archive=None):
        files = files or {f"{name}.py": f"version = {version!r}\n"}
        file = archive or f"{name}-{version}-py3-none-any.whl"
        self.files[file] = wheel(name, version, files, requires)

    def answer(self, request):
        self.asked.append(request.path)
        self.arrived.set()
        self.gate.wait(120)
        parts = request.path.strip("/").split("/")
        with self.let:
            self.let.wait_for(lambda: parts[-1] not in self.held, 120)
        if parts[0] == "files":
            self.reply(request, self.files.get(parts[1]), "application/octet-stream")
            return
        name = parts[-1].replace("-", "_")
        links = [f'<a href="/files/{file}">{file}</a>' for file in self.files if file.startswith(f"{name}-")]
        self.reply(request, "\n".join(links).encode() if links else None, "text/html")

    @staticmethod
    def reply(request, data, kind):
        try:
            request.send_response(200 if data is not None else 404)
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(data or b"")))
            request.end_headers()
            request.wfile.write(data or b"")
        except OSError:
            pass  # whoever asked is gone

    def installs_of(self, name):
        """How often a file of the package NAME was fetched."""
        return sum(path.startswith(f"/files/{name}-") for path in self.asked)

    def release(self):
        with self.let:
            self.held.clear()
            self.let.notify_all()

    def close(self):
        self.gate.set()
        self.release()
        self.server.shutdown()
        self.server.server_close()


# ---- daemons ----

PIP = pathlib.Path("/usr/lib/python3/dist-packages/pip")


def adders(make_adder, index):
    """Makes Adders whose daemons know INDEX alone."""

    def make(config="", **variables):
        adder = make_adder(config)
        if not PIP.exists() and not adder.has_environment("science"):
            pytest.skip("no environment has pip")
        adder.environment = "system" if PIP.exists() else "science"
        adder.variables.update(PIP_INDEX_URL=index.url, PIP_CONFIG_FILE=os.devnull, PIP_RETRIES="0", **variables)
        return adder

    return make


@contextlib.contextmanager
def served(adder):
    """ADDER over HTTP; the profile `open` allows packages."""
    profiles = adder.config / "profiles"
    profiles.mkdir(mode=0o755)
    (profiles / "open.conf").write_text("[packages]\nwith = true\n")
    before = (adder.config / "adder.conf").read_text()
    adder.configure(re.sub(r"(?m)^default = .*$", f"default = {adder.environment}", before))
    bed = http_bed.Served(adder)
    try:
        yield bed
    finally:
        bed.stop()


def kept(adder):
    """The environments with packages: {name: packages}."""
    listed = json.loads(adder.call("env", "list", "--json").stdout)
    return {each["name"]: each["packages"] for each in listed if each["base"]}


def refusal(adder, *packages):
    """What is said of a run with PACKAGES that does not come to pass."""
    options = [word for package in packages for word in ("--with", package)]
    result = adder.run("print('ran')", *options)
    assert result.stdout == "" and result.outcome in ("failed", "refused", "busy"), result
    return result.error["message"]


def pools(adder):
    """Those of environments with packages."""
    return [pool for pool in adder.status()["engine"]["pools"] if pool["environment"].startswith("with-")]


def zygotes(adder):
    return sum(pool["zygotes"] for pool in pools(adder))
