# SPDX-License-Identifier: Apache-2.0
"""Databases of materials for tests: real ones (optimade_server.py), and one server that does in one place each what a database
should not. Both are told to an Adder by materials.conf. `python3 tests/materials_world.py >materials.conf` serves them to try
things by hand, until standard input ends."""
import functools
import gzip
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import zlib

import harness
import ports

WAIT = 20  # seconds that a database waits for the others before it gives up; less than what a search may take


class Databases:
    """The real ones, and what their own client finds in them."""

    def __init__(self):
        python = harness.REPOSITORY / "build/optimade/bin/python"
        if not python.exists():
            raise FileNotFoundError("no databases of materials in build/optimade: scripts/test installs them")
        self.process = subprocess.Popen(
            [python, harness.REPOSITORY / "tests/optimade_server.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        first = self.process.stdout.readline()
        assert first, "the databases of materials do not start"
        self.urls = json.loads(first)
        assert all(self.find("nelements>=1").values()), "a database of materials is empty"

    def find(self, text, *names):
        """{NAME: entries}, all that the filter TEXT has there."""
        self.process.stdin.write(json.dumps({"filter": text, "names": names or list(self.urls)}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.communicate(timeout=harness.DEADLINE)


def conf(urls, **lines):
    """The text of materials.conf for {NAME: URL}; LINES are more of a provider, by name."""
    return "".join(f"[{name}]\nurl = {url}\n{lines.get(name.replace('-', '_'), '')}\n" for name, url in urls.items())


def configure(adder, urls, **lines):
    path = adder.config / "materials.conf"
    path.write_text(conf(urls, **lines))
    path.chmod(0o600)
    adder.own(path)


# ---- answers ----


def entry(name, number, **attributes):
    """A structure like no other: its volume grows with NUMBER."""
    length = 3.0 + 0.5 * number
    return {
        "id": f"{name}-{number}",
        "type": "structures",
        "attributes": {
            "chemical_formula_reduced": "O2Ti",
            "elements": ["O", "Ti"],
            "nelements": 2,
            "nsites": 6,
            "lattice_vectors": [[length, 0, 0], [0, length, 0], [0, 0, length]],
            "species": [{"name": n, "chemical_symbols": [n], "concentration": [1.0]} for n in ("O", "Ti")],
            "species_at_sites": ["O", "O", "O", "O", "Ti", "Ti"],
            "last_modified": "2024-01-01T00:00:00Z",
            **attributes,
        },
    }


def entries(ask, first=0, count=3):
    return [entry(ask.name, number) for number in range(first, first + count)]


def page(data, link=None, **meta):
    """One page, as text. LINK: where the next is."""
    return json.dumps({"data": data, "links": {"next": link}, "meta": {"more_data_available": link is not None, **meta}})


def answer(body, status="200 OK", kind="application/vnd.api+json", headers=()):
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def errors(detail, status="400 Bad Request"):
    code, _, title = status.partition(" ")
    return answer(json.dumps({"errors": [{"status": code, "title": title, "detail": detail}], "meta": {}}), status)


def pages(ask, count, each=3, more=None):
    """The page that was asked for, of COUNT."""
    link = ask.url(page_offset=ask.offset + each) if ask.offset + each < count * each else more
    return answer(page(entries(ask, ask.offset, each), link))


# ---- what it does: a function of what is asked, which returns an answer or sends what it likes ----


def good(ask):
    return pages(ask, 2)


def html(ask):
    return answer("<!DOCTYPE html><html><body>We are <b>down</b> for maintenance</body></html>", kind="text/html")


def empty(ask):
    return answer("")


def cut(ask):
    whole = answer(page(entries(ask)))
    ask.send(whole[: len(whole) // 2])


def cut_later(ask):
    return pages(ask, 2) if ask.offset == 0 else cut(ask)


def closed(ask):
    pass


def noise(ask):
    ask.send(b"\x00\x01\x02 220 mail.example ESMTP\r\n\r\n")


def refuses(ask):
    return errors("Unknown property 'colour' in the filter")


def escapes(ask):
    return errors("no \x1b[31mred\x1b[0m\r\nline " + "x" * 100000)


def errors_of_200(ask):
    return answer(json.dumps({"errors": [{"detail": "the database is being moved"}]}))


def forbidden(ask):
    return errors("Not for you", "403 Forbidden")


def missing(ask):
    return answer("not here", "404 Not Found", "text/plain")


def broken(ask):
    return answer("<html>Internal Server Error</html>", "500 Internal Server Error", "text/html")


def busy_once(ask):
    if ask.number == 1:
        return answer("{}", "429 Too Many Requests", headers=["Retry-After: 0"])
    return pages(ask, 1)


def away_once(ask):
    if ask.number == 1:
        return answer("{}", "503 Service Unavailable", headers=["Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"])
    return pages(ask, 1)


def busy_long(ask):
    return answer("{}", "429 Too Many Requests", headers=["Retry-After: 360000"])


def busy_always(ask):
    return answer("{}", "503 Service Unavailable", headers=["Retry-After: 0"])


def endless(ask):
    return pages(ask, 10**9)


def looping(ask):
    return answer(page(entries(ask), ask.url(page_offset=0)))


def circling(ask):
    return answer(page(entries(ask, 0 if ask.offset == 0 else 3), ask.url(page_offset=3 - ask.offset)))


def hollow(ask):
    return answer(page([], ask.url(page_offset=ask.offset + 1)))


def away(ask):
    return pages(ask, 1, more=f"{ask.server.other}/stolen/v1/structures")


def file_next(ask):
    return pages(ask, 1, more="file:///etc/passwd")


def sent_away(ask):
    return answer("", "302 Found", headers=[f"Location: {ask.server.other}/stolen/v1/structures"])


def sent_round(ask):
    return answer("", "302 Found", headers=[f"Location: {ask.url(page_offset=ask.offset + 1)}"])


def big(ask):
    ask.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n")
    pour(ask, b'{"data": "' + b"x" * 65526, b"x" * 65536)


def big_chunked(ask):
    ask.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    pour(ask, chunk, chunk)


def bomb(ask):
    return answer(blanks(), headers=["Content-Encoding: gzip"])


@functools.lru_cache(maxsize=None)
def blanks():
    """Some ten thousand bytes that become 64 MiB."""
    packing = zlib.compressobj(1, wbits=31)
    return packing.compress(b'{"data": [') + b"".join(packing.compress(b" " * (1 << 20)) for _ in range(64)) + packing.flush()


def packed(ask):
    return answer(gzip.compress(page(entries(ask)).encode()), headers=["Content-Encoding: gzip"])


def many_bytes(ask):
    return answer(page(entries(ask, ask.offset, 1), ask.url(page_offset=ask.offset + 1), notes="x" * 400000))


def silent(ask):
    ask.server.over.wait(harness.DEADLINE)


def trickling(ask):
    ask.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
    while not ask.server.over.wait(0.05):
        ask.send(b" ")


def long_head(ask):
    ask.send(b"HTTP/1.1 200 OK\r\n")
    line = b"X-More: " + b"x" * 4000 + b"\r\n"
    pour(ask, line, line)


def old_http(ask):
    ask.send(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + page(entries(ask)).encode())


def plain_text(ask):
    return answer(page(entries(ask)), kind="text/plain")


def no_meta(ask):
    return answer(json.dumps({"data": entries(ask)}))


def object_next(ask):
    if ask.offset:
        return pages(ask, 2)
    return answer(page(entries(ask), {"href": ask.url(page_offset=3)}))


def lies(ask):
    return answer(page(entries(ask), data_returned=5000000, data_available=-1))


def greedy(ask):
    return answer(page(entries(ask, 0, 500)))


def object_data(ask):
    return answer(json.dumps({"data": {"id": "one"}}))


def null_data(ask):
    return answer(json.dumps({"data": None}))


def list_top(ask):
    return answer(json.dumps(entries(ask)))


def nested(ask):
    return answer('{"data": ' + "[" * 200000 + "]" * 200000 + "}")


def not_a_number(ask):
    return answer(page(entries(ask)).replace('"nsites": 6', '"nsites": NaN'))


def huge_number(ask):
    return answer(page(entries(ask)).replace('"nsites": 6', '"nsites": 1e999999'))


def not_utf8(ask):
    return answer(page(entries(ask)).encode().replace(b"O2Ti", b"O2\xff\xfe"))


def wrong_types(ask):
    odd = {
        "nelements": "three", "nsites": -4, "elements": [1, None], "lattice_vectors": [["a"], 5], "species": {},
        "chemical_formula_reduced": ["O2Ti"], "species_at_sites": "O", "last_modified": 5,
    }  # fmt: skip
    return answer(page([entry(ask.name, 0), entry(ask.name, 1, **odd), 7, None, {"id": 5}, {"type": "structures"}, []]))


def twice(ask):
    link = ask.url(page_offset=3) if ask.offset == 0 else None
    return answer(page([*entries(ask), entry(ask.name, 1), *entries(ask, ask.offset)], link))


def odd_ids(ask):
    made = entries(ask)
    for one, name in zip(made, ('=cmd()|" /C calc"!A0, "x"', "\x1b[2Jgone\r\nline", "../../../etc/passwd")):
        one["id"] = name
    return answer(page(made))


def wants_key(ask):
    if ask.headers.get("x-api-key") != "sesame-open":
        return errors(f"{ask.headers.get('x-api-key')} is no key", "401 Unauthorized")
    return pages(ask, 1)


def together(ask):
    """Answers when as many as there shall be have asked for the same page: those who are asked in turn never do."""
    try:
        ask.server.meet(ask.offset).wait(WAIT)
    except threading.BrokenBarrierError:
        return errors("the others did not come", "500 Internal Server Error")
    return pages(ask, 2)


def held(ask):
    """The second page comes when the test says so."""
    if ask.offset:
        ask.server.reached.set()
        ask.server.go_on.wait(harness.DEADLINE)
    return pages(ask, 2)


def family(ask):
    """A thousand of them in pages of fifty."""
    return pages(ask, 20, 50)


def stolen(ask):
    return pages(ask, 1)


def index(ask):
    """What the test put into `links` under its name."""
    return answer(page(ask.server.links.get(ask.name, [])))


def link(name, url, kind="external", **attributes):
    """A line of an index."""
    described = {"name": f"{name} of the index", "description": "", "base_url": url, "homepage": None, "link_type": kind}
    return {"id": name, "type": "links", "attributes": {**described, **attributes}}


def pour(ask, first, more):
    """Sends without end, or until the test is over."""
    ask.send(first)
    while not ask.server.over.is_set():
        ask.send(more)


class Ask:
    """A request: `name` and `behaviour` of the database, `number` from 1, `offset` of the page."""

    def __init__(self, server, connection, target, headers):
        parts = urllib.parse.urlsplit(target)
        self.server, self.connection, self.target = server, connection, target
        self.path, self.headers = parts.path, headers
        self.name = parts.path.strip("/").split("/")[0]
        self.parameters = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.filter = self.parameters.get("filter")
        offset = self.parameters.get("page_offset", "0")
        self.offset = int(offset) if offset.isdecimal() else 0
        self.number = None

    def url(self, **parameters):
        """This place with other parameters."""
        return f"{self.server.url}{self.path}?{urllib.parse.urlencode({**self.parameters, **parameters})}"

    def send(self, data):
        self.connection.sendall(data)
        with self.server.lock:
            self.server.sent[self.name] = self.server.sent.get(self.name, 0) + len(data)


class Hostile:
    """A server with a database at /NAME for each function above; "NAME-3" does as NAME does. What was asked of a database is
    in `asked`, how many bytes it sent in `sent`; `asked_elsewhere` are requests at an origin that is nobody's;
    `connections` counts those to both."""

    def __init__(self, together=10, address="127.0.0.1"):
        self.parties, self.meetings, self.links = together, {}, {}
        self.asked, self.sent, self.asked_elsewhere = {}, {}, []
        self.lock, self.over, self.reached, self.go_on = threading.Lock(), *(threading.Event() for _ in range(3))
        self.socket, self.elsewhere = (socket.create_server((address, 0), backlog=100) for _ in range(2))
        self.url, self.other = (f"http://{address}:{one.getsockname()[1]}" for one in (self.socket, self.elsewhere))
        self.threads, self.connections = [], 0
        for listening in (self.socket, self.elsewhere):
            self.begin(self.accept, listening)

    def begin(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        thread.start()
        self.threads.append(thread)

    def urls(self, *names):
        return {name: f"{self.url}/{name}" for name in names}

    def meet(self, offset):
        with self.lock:
            return self.meetings.setdefault(offset, threading.Barrier(self.parties))

    def accept(self, listening):
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
            self.begin(self.serve, connection, listening is self.elsewhere)

    def serve(self, connection, is_elsewhere):
        with connection, connection.makefile("rb") as lines:
            try:
                first = lines.readline().decode().split()
                headers = {}
                while line := lines.readline().decode().strip():
                    name, value = line.split(":", 1)
                    headers[name.lower()] = value.strip()
                if len(first) == 3:
                    self.answer(Ask(self, connection, first[1], headers), is_elsewhere)
            except OSError:
                pass

    def answer(self, ask, is_elsewhere):
        with self.lock:
            if is_elsewhere:
                self.asked_elsewhere.append(ask)
            asked = self.asked.setdefault(ask.name, [])
            asked.append(ask)
            ask.number = len(asked)
        if not ask.path.endswith(("/structures", "/links")):
            ask.send(answer("nothing here", "404 Not Found", "text/plain"))
            return
        data = BEHAVIOURS[ask.name.split("-")[0]](ask)
        if data:
            ask.send(data)

    def end(self):
        self.over.set()
        self.go_on.set()
        for barrier in self.meetings.values():
            barrier.abort()
        for listening, thread in zip((self.socket, self.elsewhere), self.threads):
            harness.end_accepting(listening, thread)
        until = time.monotonic() + harness.DEADLINE
        for thread in self.threads:
            thread.join(max(0, until - time.monotonic()))


BEHAVIOURS = {
    function.__name__: function
    for function in (
        good, html, empty, cut, cut_later, closed, noise, refuses, escapes, errors_of_200, forbidden, missing, broken,
        busy_once, away_once, busy_long, busy_always, endless, looping, circling, hollow, away, file_next, sent_away,
        sent_round, big, big_chunked, bomb, packed, many_bytes, silent, trickling, long_head, old_http, plain_text, no_meta,
        object_next, lies, greedy, object_data, null_data, list_top, nested, not_a_number, huge_number, not_utf8, wrong_types,
        twice, odd_ids, wants_key, together, held, family, stolen, index,
    )
}  # fmt: skip


@functools.cache
def nobody_there():
    return ports.reserve()


def nobody():
    """A URL at whose port nobody listens, nor will."""
    return f"http://127.0.0.1:{ports.number_of(nobody_there())}"


if __name__ == "__main__":
    real, odd = Databases(), Hostile()
    print(conf({**real.urls, **odd.urls(*BEHAVIOURS)}), end="", flush=True)
    sys.stdin.read()
    odd.end()
    real.end()
