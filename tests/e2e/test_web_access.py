# SPDX-License-Identifier: Apache-2.0
"""How a browser gets in: `adder open`, one-time codes and tokens that become a cookie, when that counts, and the files of the page.
docs/tokens.md, docs/http-routes.md"""
import gzip
import http.client
import json
import os
import re
import shutil
import subprocess
import threading

import harness
import http_bed
import ports
import pytest

OWN = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors"}
CODE = {"code": "print(6 * 7)"}


def cookie_of(reply):
    """The one cookie that REPLY sets: its name, its value and its attributes."""
    first, *attributes = reply.headers["Set-Cookie"].split("; ")
    name, _, value = first.partition("=")
    return name, value, attributes


class Browser:
    """Requests as a page of the server at PORT sends them, with the cookies that it was given."""

    def __init__(self, port, cookies=None):
        self.port, self.cookies = port, {} if cookies is None else cookies

    def ask(self, method, path, body=None, **headers):
        sent = {name.replace("_", "-"): value for name, value in {**OWN, **headers}.items() if value is not None}
        if method not in ("GET", "HEAD"):
            sent.setdefault("Origin", f"http://127.0.0.1:{self.port}")
        if self.cookies:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.DEADLINE)
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        with connection.getresponse() as answer:
            reply = http_bed.Reply(answer.status, dict(answer.getheaders()), answer.read())
        connection.close()
        if "Set-Cookie" in reply.headers:
            name, value, attributes = cookie_of(reply)
            self.cookies[name] = value
            if "Max-Age=0" in attributes:
                del self.cookies[name]
        return reply

    def sign_in(self, **by):
        return self.ask("POST", "/v1/sign-in", by)

    def caller(self, **headers):
        return self.ask("GET", "/v1/caller", **headers)


def open_page(adder, *options):
    """What `adder open` answers: port and code."""
    ended = adder.call("open", "--print", *options)
    assert ended.returncode == 0, ended
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#code=([A-Za-z0-9_-]{43})\n", ended.stdout)
    assert found, ended
    return int(found[1]), found[2]


def has_page(installation):
    return (installation.prefix / "libexec/adder/adder-web.so").exists()


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    directory = harness.new_directory(common_directory, "web-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory)
    adder.configure(
        "[environment]\ndefault = system\n[http]\nfailures = 6000\nhosts = app.example\norigins = https://app.example http://localhost:3000\n"
    )
    bed = http_bed.Served(adder)
    yield bed
    bed.stop()


@pytest.fixture
def browser(served):
    port, code = open_page(served.adder)
    assert port == served.port, "it listens on loopback already"
    browser = Browser(port)
    browser.code = code
    return browser


@pytest.fixture
def signed_in(browser):
    assert browser.sign_in(code=browser.code).status == 200
    return browser


# ---- signing in ----


@pytest.mark.quick
@pytest.mark.both_users
def test_a_code_signs_a_browser_in(served, browser):
    assert browser.caller().status == 401
    reply = browser.sign_in(code=browser.code)
    name, secret, attributes = cookie_of(reply)
    assert name == f"adder-token-{served.port}" and secret.startswith("adder_")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=" + attributes[-1][8:], "Path=/", "SameSite=Strict"]
    assert 29 * 86400 < int(attributes[-1][8:]) <= 30 * 86400
    caller = browser.caller().json()
    assert reply.json() == caller
    assert caller["owner"] == f"uid:{served.adder.user.uid}" and caller["role"] == "admin" and caller["may_decide"]
    assert caller["profiles"] is None and not caller["read_only"] and caller["expires"] and caller["version"]
    result = browser.ask("POST", "/v1/runs", CODE)
    assert result.status == 200 and result.json()["stdout"] == "42\n", result
    listed = json.loads(served.adder.call("token", "list", "--json").stdout)
    own = [token for token in listed if token["name"].startswith("browser-")]
    assert own and own[0]["owner"] == caller["owner"] and own[0]["expires"]
    assert caller["token"] in [token["name"] for token in own]


def test_a_code_works_once(served, browser):
    assert browser.sign_in(code=browser.code).status == 200
    again = Browser(served.port)
    reply = again.sign_in(code=browser.code)
    assert reply.status == 401 and "Set-Cookie" not in reply.headers and "once" in reply.json()["detail"]
    for wrong in ("", "x", browser.code[:-1], browser.code + "A", browser.code.swapcase(), "\u00fc" * 43, "a" * 128):
        assert again.sign_in(code=wrong).status == 401, wrong
    assert again.sign_in(code="a" * 129).status == 400
    assert again.sign_in().status == 400 and again.sign_in(code="a", token="b").status == 400
    assert not again.cookies


def test_another_code_replaces_the_token_of_this_browser(served, signed_in):
    """What another tab waits for goes on, until the browser is signed out."""
    before, answers = dict(signed_in.cookies), []
    other = Browser(served.port, before)
    after = other.ask("GET", "/v1/events").json()["next"]
    wait = threading.Thread(target=lambda: answers.append(other.ask("GET", f"/v1/events?after={after}&wait_ms=600000&kinds=review")))
    wait.start()
    harness.wait_until(lambda: served.waiting() == 1, "the other tab to wait")
    _, code = open_page(served.adder)
    assert signed_in.sign_in(code=code).status == 200 and signed_in.cookies != before
    assert Browser(served.port, before).caller().status == 401
    (served.adder.state / "tokens.json").touch()  # tokens are looked at again
    assert served.waiting() == 1
    assert signed_in.ask("DELETE", "/v1/sign-in").status == 204
    wait.join(served.adder.deadline)
    assert answers[0].status == 401


def test_codes_and_secrets_are_written_nowhere(served, browser):
    reply = browser.sign_in(code=browser.code)
    _, secret, _ = cookie_of(reply)
    browser.ask("POST", "/v1/runs", CODE)
    assert browser.code not in str(served.log) and secret not in str(served.log)
    hidden = [browser.code.encode(), secret.encode()]
    for place in (served.adder.state, served.adder.runtime, served.adder.config):
        for path in place.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert not any(word in content for word in hidden), path


@pytest.mark.parametrize("options", [[], ["--read-only"], ["--toolset", "compute"], ["--acts-for-users"], ["--role", "guest"]], ids=str)
def test_a_token_keeps_its_rights_in_a_cookie(served, options):
    name = "held" + "".join(options).replace("-", "")
    secret = served.token(name, *options)
    browser = Browser(served.port)
    reply = browser.sign_in(token=secret)
    assert reply.status == 200 and cookie_of(reply)[1] == secret, reply
    caller = browser.caller().json()
    assert caller["owner"] == f"token:{name}" and caller["name"] == caller["token"] == name and not caller["may_decide"]
    assert caller["read_only"] == ("--read-only" in options) and caller["role"] == ("guest" if "guest" in options else "user")
    assert caller["toolset"] == ("compute" if "compute" in options else None)
    assert browser.ask("GET", "/v1/status").status == 403
    ran = browser.ask("POST", "/v1/runs", CODE)
    if "--read-only" in options:
        assert ran.status == 403
    elif "compute" in options:
        assert ran.status != 200 or ran.json()["outcome"] == "refused"
    else:
        assert ran.json()["outcome"] == "ok", ran
    acting = browser.caller(Adder_On_Behalf_Of="anna")
    assert acting.status == (200 if "--acts-for-users" in options else 403), acting
    # Signing out leaves a token that a person made.
    assert browser.ask("DELETE", "/v1/sign-in").status == 204 and not browser.cookies
    assert served.get("/v1/caller", secret=secret).status == 200
    assert served.adder.call("token", "rm", name).returncode == 0


def test_signing_out_ends_the_token_of_the_browser(served, signed_in):
    kept = dict(signed_in.cookies)
    reply = signed_in.ask("DELETE", "/v1/sign-in")
    assert reply.status == 204 and cookie_of(reply)[1] == "" and not signed_in.cookies
    assert Browser(served.port, kept).caller().status == 401
    assert signed_in.ask("DELETE", "/v1/sign-in").status == 204, "again does no harm"


def test_a_revoked_token_signs_out(served, signed_in):
    names = [token["name"] for token in json.loads(served.adder.call("token", "list", "--json").stdout)]
    ours = [name for name in names if name.startswith("browser-")]
    assert served.adder.call("token", "rm", *ours).returncode == 0
    assert signed_in.caller().status == 401


def test_a_token_that_expires_ends_the_cookie_with_it(served):
    name = "brief"
    secret = served.token(name, "--expires", "1h")
    browser = Browser(served.port)
    _, _, attributes = cookie_of(browser.sign_in(token=secret))
    assert 0 < int(attributes[-1][8:]) <= 3600
    assert served.adder.call("token", "rm", name).returncode == 0


def test_a_token_cannot_inject_headers(served):
    browser = Browser(served.port)
    for token in ("adder_a\r\nSet-Cookie: x=y", "a; Path=/x", "a, b", '"a"', "a b", "", "\u00fc", "=", "a\x7f"):
        reply = browser.sign_in(token=token)
        assert reply.status == 401 and "Set-Cookie" not in reply.headers, (token, reply)
    assert browser.sign_in(token="a" * 4000).status in (400, 401)
    assert not browser.cookies
    head = served.head("POST", "/v1/sign-in", f"Host: 127.0.0.1:{served.port}; x", "Content-Type: application/json", "Content-Length: 12")
    assert http_bed.replies(served.exchange(head + b'{"code": ""}'))[0][0] == 421


def test_wrong_codes_and_tokens_are_limited(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    adder = make_adder("[http]\nfailures = 12\n")
    port, code = open_page(adder)
    browser = Browser(port)
    seen = [browser.sign_in(**{kind: "adder_wrong"}).status for kind in ("code", "token") * 6]
    assert seen[0] == 401 and 429 in seen and set(seen) == {401, 429}
    reply = browser.sign_in(code="adder_wrong")
    assert reply.status == 429 and int(reply.headers["Retry-After"]) > 0
    assert browser.sign_in(code=code).status == 200, "a right one still counts"
    adder.stop()


# ---- when the cookie counts ----


def test_pages_of_others_cannot_use_it(served, signed_in):
    port = served.port
    other_port = {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"}
    foreign = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{port + 1}"},
        {"Origin": f"http://localhost:{port}"},
        {"Origin": f"https://127.0.0.1:{port}"},
    ]
    for headers in foreign:
        for method, path, body in (("POST", "/v1/runs", CODE), ("GET", "/v1/caller", None), ("DELETE", "/v1/sign-in", None)):
            assert signed_in.ask(method, path, body, **headers).status == 403, (method, headers)
    unknown = [
        {"Sec_Fetch_Site": None, "Sec_Fetch_Mode": None},
        other_port,
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"},
        {"Sec_Fetch_Site": "cross-site", "Origin": "https://app.example"},
        {"Sec_Fetch_Site": "same-site", "Origin": "http://localhost:3000"},
        {"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": ""},
    ]
    for headers in unknown:
        reply = signed_in.caller(**headers)
        assert reply.status == 401 and "Access-Control-Allow-Credentials" not in reply.headers, (headers, reply)
    for headers in ({**other_port, "Origin": "http://localhost:3000"}, {"Sec_Fetch_Site": "cross-site", "Origin": "https://app.example"}):
        assert signed_in.ask("POST", "/v1/runs", CODE, **headers).status == 401, headers
        assert signed_in.ask("DELETE", "/v1/sign-in", **headers).status == 403, headers
        _, code = open_page(served.adder)
        assert signed_in.ask("POST", "/v1/sign-in", {"code": code}, **headers).status == 403, headers
    assert signed_in.caller().status == 200, "nothing of it signed anybody out"


def test_what_the_user_begins_counts(signed_in):
    typed = {"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "navigate"}
    assert signed_in.caller(**typed).status == 200
    assert signed_in.ask("POST", "/v1/runs", CODE, **typed, Origin=None).status == 401
    # Browsers without Sec-Fetch-Site.
    assert signed_in.ask("POST", "/v1/runs", CODE, Sec_Fetch_Site=None, Sec_Fetch_Mode=None).status == 200


def test_a_header_wins_and_mcp_takes_no_cookie(served, signed_in):
    assert signed_in.caller(Authorization="Bearer adder_wrong").status == 401
    assert signed_in.caller(Authorization=f"Bearer {served.secret}").json()["owner"] == "token:tester"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for method, body in (("POST", message), ("GET", None), ("DELETE", None)):
        assert signed_in.ask(method, "/mcp", body, Accept="application/json, text/event-stream").status == 401, method
        assert signed_in.ask(method, "/mcp?toolset=adder", body, Accept="*/*").status == 401, method


def test_several_cookies(served, signed_in):
    [(name, secret)] = signed_in.cookies.items()
    good = f"{name}={secret}"
    for cookies, status in (
        (f"a=b; {good}; adder-token-1=x", 200),
        (f"{good}; {good}", 401),
        (f"{name}=adder_tossed; {good}", 401),
        (f"{name}=; {good}", 401),
        (f'{name}="{secret}"', 401),
        (f"{name} = {secret}", 401),
        (f"adder-token-1={secret}", 401),
        (f"{name}={secret}x", 401),
        ("a=b; " * 100 + f"c={'x' * 9000}; " + good, 200),
        (";" * 50, 401),
    ):
        assert signed_in.caller(Cookie=cookies).status == status, cookies[:80]
    host = f"Host: 127.0.0.1:{served.port}"
    twice = served.head("GET", "/v1/caller", host, f"Cookie: {good}", f"Cookie: {good}", "Sec-Fetch-Site: same-origin")
    assert http_bed.replies(served.exchange(twice))[0][0] == 400
    sites = served.head("GET", "/v1/caller", host, f"Cookie: {good}", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin")
    assert http_bed.replies(served.exchange(sites))[0][0] == 400
    long = served.head("GET", "/v1/caller", host, f"Cookie: {good}; a={'x' * 40000}", "Sec-Fetch-Site: same-origin")
    assert http_bed.replies(served.exchange(long))[0][0] == 431


def test_behind_a_proxy_that_adds_tls(served, browser):
    proxied = {"Host": "app.example", "Origin": "https://app.example"}
    secret = served.token("proxied")
    reply = browser.ask("POST", "/v1/sign-in", {"token": secret}, **proxied)
    name, value, attributes = cookie_of(reply)
    assert name == "adder-token-80" and value == secret and "Secure" in attributes
    assert browser.caller(Host="app.example").json()["owner"] == "token:proxied"
    assert served.adder.call("token", "rm", "proxied").returncode == 0


@pytest.mark.both_users
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def own_addresses():
    """Those of version 4 that are not loopback."""
    listed = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    return [address for address in listed if "." in address]


def test_other_users_of_the_machine_cannot_use_it(served, browser):
    """They may see the code among the arguments of a browser, or get the cookie at a port of theirs."""

    def as_another(*arguments):
        command = ["setpriv", "--reuid=4242", "--regid=4242", "--clear-groups", "/usr/bin/curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"]
        ended = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, cwd="/")
        assert ended.returncode == 0, ended
        return int(ended.stdout)

    if not os.path.exists("/usr/bin/curl"):
        pytest.skip("curl is not installed")
    page = f"http://127.0.0.1:{served.port}"
    told = ["-H", "Content-Type: application/json", "-d", json.dumps({"code": browser.code}), page + "/v1/sign-in"]
    assert as_another(*told) == 401
    assert browser.sign_in(code=browser.code).status == 401, "a code that came from elsewhere is used up"
    _, code = open_page(served.adder)
    assert browser.sign_in(code=code).status == 200
    [(name, secret)] = browser.cookies.items()
    assert as_another("-H", f"Cookie: {name}={secret}", "-H", "Sec-Fetch-Site: same-origin", page + "/v1/caller") == 401
    assert as_another("-H", f"Authorization: Bearer {secret}", page + "/v1/caller") == 401
    for address in own_addresses():
        asked = ["--interface", address, "-H", f"Authorization: Bearer {secret}", page + "/v1/caller"]
        assert as_another(*asked) == 401, f"{address} is no other machine's"
    assert as_another("-H", f"Authorization: Bearer {served.secret}", page + "/v1/caller") == 200, "a token of adder token is for all"
    assert browser.caller().status == 200


def test_a_restart_keeps_browsers_signed_in(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    reserved = ports.reserve()
    listen = f"127.0.0.1:{ports.number_of(reserved)}"
    adder = make_adder(f"[http]\nlisten = {listen}\n")
    port, code = open_page(adder)
    assert f"127.0.0.1:{port}" == listen
    browser = Browser(port)
    assert browser.sign_in(code=code).status == 200
    adder.stop()
    served = http_bed.Served(adder, listen=listen, token=False)
    harness.wait_until(lambda: len(served.told) >= 2, "a token to be printed, since a browser's is none for programs")
    assert browser.caller().status == 200
    served.stop()
    reserved.close()


# ---- adder open ----


def listeners(adder):
    return json.loads(adder.call("serve", "status", "--json").stdout)["http"]


def test_open_starts_a_daemon_that_listens_on_loopback(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    adder = make_adder()
    port, code = open_page(adder)
    tcp = [url for url in listeners(adder) if url.startswith("http")]
    assert tcp == [f"http://127.0.0.1:{port}"]
    assert Browser(port).ask("GET", "/").status == 200
    assert open_page(adder)[0] == port and open_page(adder)[1] != code
    assert [url for url in listeners(adder) if url.startswith("http")] == tcp, "it listens once"
    # Nobody else gets in.
    assert Browser(port).caller().status == 401
    adder.stop()


def test_open_leaves_what_the_daemon_served(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    adder = make_adder()
    path = adder.runtime / "more.sock"
    served = http_bed.Served(adder, listen=f"unix:{path}", token=False)
    port, code = open_page(adder)
    assert any(url.endswith("more.sock") for url in listeners(adder))
    assert Browser(port).sign_in(code=code).status == 200
    served.stop()


def test_daemons_beside_each_other_share_a_browser(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    adders, cookies, ports = [make_adder(), make_adder()], {}, []
    for adder in adders:
        port, code = open_page(adder)
        ports.append(port)
        assert Browser(port, cookies).sign_in(code=code).status == 200
    assert len(set(ports)) == 2 and len(cookies) == 2
    assert [Browser(port, cookies).caller().status for port in ports] == [200, 200]
    other = Browser(ports[1], {f"adder-token-{ports[1]}": cookies[f"adder-token-{ports[0]}"]})
    assert other.caller().status == 401, "the one's token is none of the other's"
    assert Browser(ports[0], cookies).ask("DELETE", "/v1/sign-in").status == 204
    assert Browser(ports[1], cookies).caller().status == 200
    for adder in adders:
        adder.stop()


def test_open_starts_the_browser_of_the_desktop(make_adder, installation):
    if not has_page(installation):
        pytest.skip("this build has no web interface: -Dweb=true makes it")
    adder = make_adder()
    programs = adder.folder("programs")
    told = programs / "told"
    opener = programs / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$*" >"{told}.new" && mv "{told}.new" "{told}"\n')
    opener.chmod(0o755)
    shown = {**adder.process_environment(), "PATH": f"{programs}:/usr/bin:/bin", "DISPLAY": ":7"}
    ended = adder.call("open", "--print", env=shown)
    assert ended.returncode == 0 and not told.exists()
    ended = adder.call("open", "--json", env=shown)
    answer = json.loads(ended.stdout)
    harness.wait_until(told.exists, "the browser to be started")
    assert answer["opened"] is True and told.read_text() == answer["url"] and answer["expires_ms"] == 60000
    without = {name: value for name, value in shown.items() if name != "DISPLAY"}
    assert json.loads(adder.call("open", "--json", env=without).stdout)["opened"] is False
    adder.stop()


def test_open_is_of_this_machine(served):
    ended = served.adder.call("--url", f"http://127.0.0.1:{served.port}", "open")
    assert ended.returncode == 125 and "this machine alone" in ended.stderr
    assert served.post("/v1/daemon/open").status == 404
    assert "daemon.open" not in json.dumps(served.get("/openapi.json").json())


def test_without_the_page(make_adder, installation):
    adder = make_adder()
    programs = adder.folder("libexec") / "adder"
    shutil.copytree(installation.prefix / "libexec/adder", programs, ignore=shutil.ignore_patterns("adder-web.so"))
    without = make_adder(variables={"ADDER_LIBEXECDIR": str(programs)})
    ended = without.call("open", "--print")
    assert ended.returncode == 125 and "built without the web interface" in ended.stderr and not ended.stdout, ended
    without.stop()
    served = http_bed.Served(without)
    reply = served.get("/", secret="")
    assert reply.status == 404 and reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"-Dweb=true" in reply.body
    for path in ("/frame.html", "/frame.js", "/favicon.svg", "/assets/index.js"):
        assert served.get(path, secret="").status == 404
    assert served.get("/v1/caller").status == 200
    served.stop()


# ---- the files of the page ----


def assets(served):
    page = served.get("/", secret="").body.decode()
    found = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)
    assert found, page
    return found


def policy(reply):
    return dict(part.strip().partition(" ")[::2] for part in reply.headers["Content-Security-Policy"].split(";"))


@pytest.mark.quick
def test_policies_of_the_page(served):
    page = served.get("/", secret="")
    assert page.status == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
    said = policy(page)
    assert said["default-src"] == "'none'" and said["script-src"] == said["style-src"] == said["connect-src"] == "'self'"
    assert said["frame-ancestors"] == said["base-uri"] == said["form-action"] == "'none'"
    assert said["require-trusted-types-for"] == "'script'" and "unsafe" not in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-cache"
    inline = re.findall(rb"<script(?![^>]*\bsrc=)|\son\w+=|<style|\sstyle=", page.body)
    assert not inline, "its own policy would refuse it"
    frame = served.get("/frame.html", secret="")
    said = policy(frame)
    assert said["sandbox"] == "allow-scripts" and said["default-src"] == "'none'" and said["frame-ancestors"] == "'self'"
    for path in ("/favicon.svg", "/frame.js", *assets(served)):
        said = policy(served.get(path, secret=""))
        assert said["default-src"] == "'none'" and said["frame-ancestors"] == "'none'" and "sandbox" in said, path
    for path in ("/", "/frame.html", "/favicon.svg", "/frame.js", *assets(served)):
        headers = served.get(path, secret="").headers
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", path
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        reach = "cross-origin" if path == "/frame.js" else "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == reach, path
        assert "Set-Cookie" not in headers and "Access-Control-Allow-Origin" not in headers, path


def test_the_script_of_frames_is_for_every_origin(served):
    """That of a sandboxed frame is "null"; nothing else is for it."""
    assert served.get("/frame.js", secret="", Origin="null").status == 200
    for path in ("/", "/frame.html", "/favicon.svg", "/v1/caller", *assets(served)):
        assert served.get(path, secret="", Origin="null").status == 403, path


def test_types_and_caching(served):
    kinds = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
    for path in assets(served):
        reply = served.get(path, secret="")
        assert reply.headers["Content-Type"] == kinds[os.path.splitext(path)[1]], path
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable", path
    assert served.get("/favicon.svg", secret="").headers["Content-Type"] == "image/svg+xml"
    for path in ("/", *assets(served)):
        tags = {}
        for coding in ("gzip", "identity"):
            reply = served.get(path, secret="", Accept_Encoding=coding)
            tags[coding] = reply.headers["ETag"]
            again = served.get(path, secret="", Accept_Encoding=coding, If_None_Match=f'"other", W/{tags[coding]}')
            assert again.status == 304 and again.body == b"" and again.headers["ETag"] == tags[coding], path
            assert again.headers["Cache-Control"] == reply.headers["Cache-Control"]
        assert served.get(path, secret="", If_None_Match='"other"').status == 200
        assert tags["gzip"] != tags["identity"] or "Vary" not in reply.headers, path


def test_codings(served):
    for path in ("/", *assets(served), "/frame.html"):
        plain = served.get(path, secret="", Accept_Encoding="identity")
        packed = served.get(path, secret="", Accept_Encoding="gzip, br")
        assert "Content-Encoding" not in plain.headers and int(plain.headers["Content-Length"]) == len(plain.body)
        if packed.headers.get("Content-Encoding") == "gzip":
            assert gzip.decompress(packed.body) == plain.body and packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
            assert len(packed.body) < len(plain.body)
        else:
            assert packed.body == plain.body
        head = served.ask("HEAD", path, secret="", Accept_Encoding="identity")
        assert head.status == 200 and head.body == b"" and head.headers["Content-Length"] == plain.headers["Content-Length"]
        refused = served.get(path, secret="", Accept_Encoding="gzip;q=0")
        assert refused.body == plain.body


def test_no_other_files(served):
    for path in (
        "/assets/",
        "/assets/..",
        "/assets/../index.html",
        "/assets/%2e%2e/index.html",
        "/assets/..%2findex.html",
        "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/assets/..%5cindex.html",
        "/assets/index.html",
        "/assets//index.html",
        "/assets/index.js%00",
        "/index.html/",
        "//index.html",
        "/frame.html/..",
        "/assets/" + "a" * 5000,
        "/assets/%ff",
    ):
        reply = served.get(path, secret="")
        assert reply.status in (400, 404, 414), (path, reply)
        assert "Content-Security-Policy" not in reply.headers or b"<html" not in reply.body
        assert reply.headers["Cache-Control"] == "no-store", "what is missing today may come with an upgrade"
    path = assets(served)[0]
    encoded = path.replace("index", "%69ndex")
    assert served.get(encoded, secret="").status in (200, 404)
    for method in ("POST", "PUT", "DELETE"):
        assert served.ask(method, "/", secret="").status == 405
    assert served.get("/", secret="", Host="evil.example").status == 421
    assert served.get("/", secret="", Origin="https://evil.example").status == 403
