# SPDX-License-Identifier: Apache-2.0
"""Who may come over HTTP, and what they may then do: tokens, toolsets, profiles, roots, browsers, and an authorization server.
docs/tokens.md"""
import base64
import http.client
import json
import os
import socket
import subprocess
import time
import urllib.parse

import harness
import http_bed
import pytest

CODE = {"code": "print(1)"}


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "access-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory)
    data = adder.folder("data")
    (data / "inner").mkdir()
    (data / "inner" / "a.txt").write_text("inner text")
    (data / "out").symlink_to("/etc")
    lines = f"[environment]\ndefault = system\n[http]\nroots = data={data}:read\norigins = https://app.example\n"
    adder.configure(lines)
    bed = http_bed.Served(adder)
    yield bed
    bed.stop()


def statuses(served, secret, *requests):
    return [served.ask(method, path, body, secret=secret).status for method, path, body in requests]


@pytest.mark.quick
def test_nobody_is_let_in_without_a_token(served):
    assert served.get("/healthz", secret="").status == 200
    for path in ("/v1/runs", "/v1/files", "/v1/tools", "/v1/records", "/metrics", "/mcp"):
        reply = served.get(path, secret="")
        assert reply.status == 401 and reply.headers["WWW-Authenticate"] == 'Bearer realm="adder"', (path, reply)
    reply = served.get("/v1/runs", secret="adder_wrong")
    assert reply.status == 401 and 'error="invalid_token"' in reply.headers["WWW-Authenticate"]
    assert served.get(f"/v1/runs?token={served.secret}", secret="").status in (400, 401)
    log = "".join(served.log)
    assert "adder_wrong" not in log and served.secret not in log


def test_revoking_and_rotating_count_at_once(served):
    secret = served.token("brief")
    assert served.get("/v1/runs", secret=secret).status == 200
    again = served.adder.call("token", "rotate", "brief").stdout.strip()
    assert [served.get("/v1/runs", secret=each).status for each in (secret, again)] == [401, 200]
    assert served.adder.call("token", "rm", "brief").returncode == 0
    assert served.get("/v1/runs", secret=again).status == 401


def test_a_file_of_tokens_that_is_open_lets_nobody_in(served):
    path = served.adder.state / "tokens.json"
    path.chmod(0o644)
    try:
        assert served.get("/v1/runs").status == 503
        assert served.get("/healthz", secret="").status == 200
    finally:
        path.chmod(0o600)
    assert served.get("/v1/runs").status == 200


def test_roles_looking_and_deciding(served):
    user, looker = served.token("plain"), served.token("looker", "--read-only")
    assert served.get("/metrics", secret=user).status == 403
    assert served.get("/metrics").status == 200
    assert served.get("/v1/runs", secret=looker).status == 200
    acting = [
        ("POST", "/v1/runs", CODE),
        ("POST", "/v1/sessions", {}),
        ("POST", "/v1/files", {}),
        ("DELETE", "/v1/files/01a201d3-5b27-75aa-a9cf-0174e78c9693", None),
    ]
    assert statuses(served, looker, *acting) == [403] * len(acting)
    reply = served.post("/v1/tools/run_python", {"arguments": {"code": "1"}}, secret=looker)
    assert reply.status == 403 or reply.json()["is_error"], reply
    waiting = "/v1/approvals/01a201d3-5b27-75aa-a9cf-0174e78c9693"
    assert served.post(waiting + "/approve", secret=user).status == 403
    assert served.post(waiting + "/approve").status == 404


def test_what_there_is_for_each_role(served):
    """Profiles are for everybody who may use them; where files are, and the state of the daemon, is for admins."""
    torn = served.adder.config / "profiles/torn.conf"
    torn.parent.mkdir(exist_ok=True)
    torn.write_text("[limits\n")
    asked = {"guest": served.token("low", "--role", "guest"), "user": served.token("middle"), "admin": served.secret}
    seen = {}
    for role, secret in asked.items():
        listed = served.get("/v1/profiles", secret=secret).json()
        seen[role] = {profile["name"]: profile["role"] for profile in listed["profiles"]}
        assert bool(listed["broken"]) == (role == "admin"), role
        for environment in served.get("/v1/environments", secret=secret).json()["environments"]:
            assert bool(environment["python"]) == (role == "admin"), role
        shown = served.get("/v1/profiles/standard", secret=secret).json()
        assert bool(shown["file"]) == (role == "admin") and shown["limits"]["pids"] > 0, role
        assert served.get("/v1/profiles/workbench", secret=secret).status == (403 if role == "guest" else 200), role
        for path in ("/v1/status", "/v1/store"):
            assert served.get(path, secret=secret).status == (200 if role == "admin" else 403), (role, path)
    torn.unlink()
    for options, names in ((["--profiles", "comp*"], {"compute"}), (["--toolset", "compute"], set())):
        secret = served.token("few" + options[0].strip("-"), *options)
        listed = served.get("/v1/profiles", secret=secret).json()["profiles"]
        assert {profile["name"] for profile in listed} == names
        assert served.get("/v1/profiles/standard", secret=secret).status == 403
    assert set(seen["guest"].values()) == {"guest"} and "standard" in seen["guest"]
    assert set(seen["guest"]) < set(seen["admin"]) and set(seen["user"]) <= set(seen["admin"])


def test_a_token_of_one_toolset_has_no_other(served):
    secret = served.token("calculator", "--toolset", "compute")
    right = {"arguments": {"code": "6 * 7", "description": "d"}}
    reply = served.post("/v1/tools/compute_with_python", right, secret=secret)
    assert reply.status == 200 and "42" in json.dumps(reply.json()["reply"]), reply
    other = {"arguments": {"code": "print(1)"}}
    for name, more in (
        ("run_python", {}),
        ("adder.run_python", {}),
        ("code_executor.run_python", {}),
        ("run_python", {"toolset": "adder"}),
        ("compute_with_python", {"toolset": "adder"}),
    ):
        reply = served.post(f"/v1/tools/{name}", {**other, **more}, secret=secret)
        assert reply.status in (403, 404) or reply.json()["is_error"], (name, more, reply)
        assert "run_id" not in (reply.json().get("reply") or {}) or reply.json()["reply"]["run_id"] is None
    tools = served.get("/v1/tools", secret=secret).json()
    assert tools["toolset"] == "compute" and tools["toolsets"] == ["compute"]
    # Nor does it run what it likes by itself.
    for path in ("/v1/runs", "/v1/sessions"):
        reply = served.post(path, CODE if path == "/v1/runs" else {}, secret=secret)
        assert reply.status in (400, 403) or reply.json()["outcome"] == "refused", reply


def test_profiles_hold_for_runs_tools_and_cells(served):
    secret = served.token("narrow", "--profiles", "compute")
    assert served.run("1", secret)["outcome"] == "refused"
    assert served.run("1 + 1", secret, profile="compute")["outcome"] == "ok"
    reply = served.post("/v1/tools/run_python", {"arguments": {"code": "1"}}, secret=secret)
    assert reply.status != 200 or reply.json()["is_error"], reply
    # A session that was made when more was allowed.
    wide = served.token("changed")
    made = served.post("/v1/sessions", {"name": "s"}, secret=wide)
    assert made.status == 201 and served.run("x = 1", wide, session="s")["outcome"] == "ok"
    served.adder.call("token", "rm", "changed")
    after = served.token("changed", "--profiles", "compute")
    assert served.run("x", after, session="s")["outcome"] == "refused"
    assert served.post("/v1/sessions", {"name": "t"}, secret=after).status == 403
    assert served.ask("DELETE", "/v1/sessions/s", secret=after).status == 200


def test_roots(served):
    secret = served.token("rooted", "--roots", "data")
    work = {"root": "data", "path": "inner"}
    result = served.run("print(open('a.txt').read())", secret, workdir=work)
    assert result["stdout"] == "inner text\n", result
    where = str(served.adder.scratch)
    result = served.run(f"import os\nprint(os.path.lexists({where!r}))", secret, workdir=work)
    assert result["stdout"] == "False\n", "where the root lies is not told"
    rows = [
        ({"root": "data", "path": "../.."}, 403),
        ({"root": "data", "path": "out"}, 403),
        ({"root": "data", "path": "/etc"}, 400),
        ({"root": "data", "path": "none"}, 404),
        ({"root": "etc", "path": "."}, 404),
        ({**work, "mode": "rw"}, 403),
    ]
    for workdir, status in rows:
        reply = served.post("/v1/runs", {"code": "1", "workdir": workdir}, secret=secret)
        assert reply.status == status and str(served.adder.scratch).encode() not in reply.body, (workdir, reply)
    assert served.post("/v1/runs", {"code": "1", "workdir": work}).status == 404, "who was not given the root has none"


def test_rates(served):
    secret = served.token("rare", "--rate", "12")
    begun, taken = time.monotonic(), 0
    while (reply := served.get("/v1/runs", secret=secret)).status == 200:
        taken += 1
        assert taken <= 2 + (time.monotonic() - begun) / 5, "two at once, and one each five seconds"
    assert reply.status == 429 and taken >= 2
    assert 1 <= int(reply.headers["Retry-After"]) <= 6
    secret = served.token("lonely", "--concurrent", "1")
    with served.connection() as connection:
        code = json.dumps({"code": "import time; print(1, flush=True); time.sleep(600)", "stream": True})
        connection.request("POST", "/v1/runs", code, served.headers(secret, **{"Content-Type": "application/json"}))
        with connection.getresponse() as stream:
            while b"event: stdout" not in stream.readline():
                pass
            assert served.get("/v1/runs", secret=secret).status == 429
    harness.wait_until(lambda: served.get("/v1/runs", secret=secret).status == 200, "the stream to count no more")


def test_browsers(served):
    good = {"Origin": "https://app.example"}
    reply = served.get("/v1/runs", **good)
    assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == good["Origin"]
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    reply = served.ask("OPTIONS", "/v1/runs", secret="", **good, **asked)
    assert reply.status == 204 and reply.headers["Access-Control-Allow-Headers"] == "authorization"
    reply = served.ask("OPTIONS", "/v1/runs", secret="", Origin="https://evil.example", **asked)
    assert reply.status == 403 and "Access-Control-Allow-Origin" not in reply.headers
    assert served.get("/v1/runs", Origin="https://evil.example").status == 403
    assert served.get("/v1/runs", Host="evil.example").status == 421
    assert "Access-Control-Allow-Origin" not in served.get("/v1/runs").headers


# ---- without a token ----


def test_a_token_is_printed_once_where_there_is_none(make_adder):
    served = http_bed.Served(make_adder(), token=False)
    harness.wait_until(lambda: len(served.told) >= 2, "the token to be printed")
    secret = served.told[-1].strip()
    assert secret.startswith("adder_") and secret not in "".join(served.log)
    assert served.run("print(1)", secret)["outcome"] == "ok"
    assert served.get("/v1/runs", secret="").status == 401
    assert served.get("/metrics", secret=secret).status == 403
    served.stop()


def test_what_others_can_reach_needs_a_token(make_adder):
    adder = make_adder()
    ended = adder.call("serve", "--http=0.0.0.0:0")
    assert ended.returncode == 125 and "adder token new" in ended.stderr


def test_clear_text_that_others_can_reach_is_warned_of(make_adder):
    adder = make_adder()
    assert adder.call("token", "new", "one").returncode == 0
    for listen, warned in (("0.0.0.0:0", True), ("127.0.0.1:0", False)):
        told = adder.call("serve", "--background", f"--http={listen}")
        assert told.returncode == 0 and ("without TLS" in told.stderr) == warned, told
        assert adder.call("serve", "stop").returncode == 0
    process = adder.popen("serve", "--http=0.0.0.0:0")
    said = iter(process.stderr.readline, b"")
    assert any(b"without TLS" in line for line in said)
    process.terminate()
    process.communicate()


@pytest.mark.both_users
def test_a_unix_socket_knows_who_is_there(make_adder, user):
    adder = make_adder()
    path = adder.runtime / "http.sock"
    served = http_bed.Served(adder, listen=f"unix:{path}", token=False)
    connection = http_bed.UnixConnection(path)
    reply = served.post("/v1/runs", CODE, secret="", connection=connection)
    connection.close()
    if os.geteuid() in (0, user.uid):
        assert reply.status == 200 and reply.json()["stdout"] == "1\n", reply
        connection = http_bed.UnixConnection(path)
        record = served.get(f"/v1/records/{reply.json()['run_id']}", secret="", connection=connection).json()
        connection.close()
        assert record["owner"] == f"uid:{os.geteuid()}"
    served.stop()


# ---- an authorization server ----


class Authorization:
    """Authlib's, in a process of its own."""

    def __init__(self, python):
        self.process = subprocess.Popen(
            [str(python), str(harness.REPOSITORY / "tests" / "oauth_server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.port = int(self.process.stdout.readline())
        self.issuer = f"http://127.0.0.1:{self.port}"

    def ask(self, path, client=None, **form):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.DEADLINE)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if client:
            headers["Authorization"] = "Basic " + base64.b64encode(client.encode()).decode()
        connection.request("POST" if form or client or path == "/stall" else "GET", path, urllib.parse.urlencode(form), headers)
        body = connection.getresponse().read()
        connection.close()
        return json.loads(body) if body else None

    def token(self, scope, resource, subject="alice"):
        form = {"grant_type": "client_credentials", "scope": scope, "resource": resource, "subject": subject}
        return self.ask("/token", "agent:agent's", **form)["access_token"]

    def stop(self):
        self.process.communicate(timeout=harness.DEADLINE)


RESOURCE = "https://adder.example"


@pytest.fixture
def authorization(installation):
    python = harness.build_directory() / "authlib" / "bin" / "python"
    if not python.exists():
        pytest.skip("no authorization server in build/authlib: scripts/test installs it")
    server = Authorization(python)
    yield server
    server.stop()


def test_tokens_of_an_authorization_server(make_adder, authorization):
    adder = make_adder()
    secret_file = adder.file("introspection.secret", "adder's + more\n")
    secret_file.chmod(0o600)
    lines = (
        f"[oauth]\nissuer = {authorization.issuer}\nintrospection = {authorization.issuer}/introspect\nclient = adder\n"
        f"secret_file = {secret_file}\nresource = {RESOURCE}\nscopes = run=user rule=admin\ncache_ms = 1h\n"
    )
    served = http_bed.Served(adder, lines)
    document = served.get("/.well-known/oauth-protected-resource/mcp", secret="").json()
    assert document["resource"] == RESOURCE + "/mcp" and document["authorization_servers"] == [authorization.issuer]
    assert document["scopes_supported"] == ["run", "rule"]
    challenge = served.get("/mcp", secret="").headers["WWW-Authenticate"]
    assert f'resource_metadata="{RESOURCE}/.well-known/oauth-protected-resource/mcp"' in challenge

    good = authorization.token("run", RESOURCE)
    before = authorization.ask("/questions")
    for _ in range(5):
        assert served.run("print(1)", good)["outcome"] == "ok"
    assert authorization.ask("/questions") == before + 1, "an answer is remembered"
    assert served.get("/v1/records?limit=1", secret=good).json()["records"][0]["owner"] == "oauth:alice"
    reply = served.get("/metrics", secret=good)
    assert reply.status == 403 and 'error="insufficient_scope"' in reply.headers["WWW-Authenticate"]
    assert 'scope="rule"' in reply.headers["WWW-Authenticate"]
    assert served.get("/metrics", secret=authorization.token("run rule", RESOURCE)).status == 200
    assert served.get("/v1/runs", secret=authorization.token("run", RESOURCE + "/mcp")).status == 200
    reply = served.get("/v1/runs", secret=authorization.token("other", RESOURCE))
    assert reply.status == 403 and 'error="insufficient_scope"' in reply.headers["WWW-Authenticate"]
    assert served.get("/v1/runs", secret=authorization.token("run", "https://other.example")).status == 401
    assert served.get("/v1/runs", secret="made-up").status == 401
    revoked = authorization.token("run", RESOURCE)
    authorization.ask("/revoke", "agent:agent's", token=revoked)
    assert served.get("/v1/runs", secret=revoked).status == 401
    assert served.get("/v1/runs").status == 200, "tokens of the file go on"

    # Waiting for what it may take to answer is for a daemon that waits less.
    served.stop()
    adder.configure((adder.config / "adder.conf").read_text().replace("[oauth]\n", "[oauth]\ntimeout_ms = 2s\n"))
    served.start()
    harness.wait_until(lambda: served.get("/v1/runs", secret=good).status == 200, "the answer about a token")
    unknown = authorization.token("run", RESOURCE)
    authorization.ask("/stall")
    assert served.get("/v1/runs", secret=good).status == 200
    assert served.get("/v1/runs", secret=unknown).status == 503
    log = "".join(served.log)
    assert not any(each in log for each in (good, unknown, "adder's"))
    served.stop()
