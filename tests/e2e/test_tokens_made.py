# SPDX-License-Identifier: Apache-2.0
"""Tokens that are made with other tokens: never with more rights than these have, and the secret is told once."""
import datetime
import json
import pathlib

import http_bed
import pytest
from harness import unique

NARROW = ["--role", "admin", "--may-decide", "--profiles", "standard,comp*", "--roots", "one", "--rate", "600"]
NARROW += ["--concurrent", "8", "--expires", "2d"]


@pytest.fixture(scope="module")
def served(make_shared_adder):
    adder = make_shared_adder("[environment]\ndefault = system\n")
    roots = [adder.file(name, "x").parent for name in ("one", "two")]
    bed = http_bed.Served(adder, f"[http]\nroots = one={roots[0]}:read two={roots[1]}:read\n", start=False)
    bed.narrow = bed.token("narrow", *NARROW)
    bed.few = bed.token("few", "--role", "admin", "--may-decide", "--toolset", "compute")
    bed.plain = bed.token("plain", "--role", "admin")
    bed.user = bed.token("user", "--may-decide")
    bed.start()
    yield bed
    bed.stop()


def make(served, secret=None, status=201, **fields):
    reply = served.post("/v1/tokens", {"name": unique(), **fields}, secret=secret)
    assert reply.status == status, reply
    return reply.json()


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_one_is_made_and_used(served):
    name = unique()
    reply = served.post("/v1/tokens", {"name": name, "role": "guest", "profiles": ["standard"], "expires": "1d"})
    assert reply.status == 201 and reply.headers["Location"] == "/v1/tokens/" + name
    made = reply.json()
    secret = made.pop("secret")
    assert made["role"] == "guest" and made["profiles"] == ["standard"] and made["expires"] and not made["may_decide"]
    assert served.get("/v1/tokens/" + name).json() == made
    assert served.run("print(1)", secret)["outcome"] == "ok"
    assert served.post("/v1/runs", {"code": "1", "profile": "compute"}, secret=secret).json()["outcome"] == "refused"
    assert served.ask("DELETE", "/v1/tokens/" + name).status == 200
    assert served.post("/v1/runs", {"code": "1"}, secret=secret).status == 401


def test_the_secret_is_nowhere_else(served):
    secret = make(served)["secret"]
    state = pathlib.Path(served.adder.state)
    assert secret not in str(served.log) and secret not in str(served.told)
    for path in [each for each in state.rglob("*") if each.is_file()]:
        assert secret.encode() not in path.read_bytes(), path
    assert secret not in served.get("/v1/tokens").body.decode()


def test_what_is_left_out_is_the_makers(served):
    made = make(served, served.narrow)
    assert made["role"] == "user" and made["profiles"] == ["standard", "comp*"] and made["roots"] is None
    assert (made["rate"], made["concurrent"]) == (600, 8)
    own = served.get("/v1/tokens/narrow").json()
    assert made["expires"] == own["expires"]
    within = make(served, served.narrow, profiles=["compute"], roots=["one"], rate=60, concurrent=1, expires="1h", may_decide=True)
    assert within["profiles"] == ["compute"] and within["roots"] == ["one"] and within["rate"] == 60 and within["may_decide"]
    assert moment(within["expires"]) < moment(own["expires"])
    assert make(served, served.few)["toolset"] == "compute"


@pytest.mark.parametrize(
    "maker, fields, told",
    [
        ("narrow", {"profiles": ["*"]}, "profile"),
        ("narrow", {"profiles": ["standard", "workbench"]}, "profile"),
        ("narrow", {"profiles": ["c*"]}, "profile"),
        ("narrow", {"roots": ["two"]}, "root"),
        ("narrow", {"rate": 601}, "per minute"),
        ("narrow", {"concurrent": 9}, "at once"),
        ("narrow", {"expires": "3d"}, "live"),
        ("narrow", {"acts_for_users": True}, "act for users"),
        ("few", {"toolset": "workbench"}, "toolset"),
        ("few", {"profiles": ["standard"]}, "without a tool"),
        ("plain", {}, "decide"),
        ("user", {}, "admin"),
    ],
)
def test_never_more_than_the_maker(served, maker, fields, told):
    name = unique()
    reply = served.post("/v1/tokens", {"name": name, **fields}, secret=getattr(served, maker))
    assert reply.status == 403 and told in reply.json()["detail"], reply
    assert served.get("/v1/tokens/" + name).status == 404


def test_one_made_by_one_that_was_made(served):
    second = make(served, served.narrow, role="admin", may_decide=True, profiles=["standard"], expires="1h")["secret"]
    make(served, second, status=403, profiles=["compute"])
    make(served, second, status=403, expires="2h")
    make(served, second, profiles=["standard"])


@pytest.mark.parametrize(
    "fields",
    [{"name": ""}, {"name": "uid:0"}, {"name": "x" * 65}, {"name": None}, {"name": 5}, {"role": "king"}, {"profiles": "standard"}]
    + [{"profiles": [1]}, {"profiles": ["standart"]}, {"profiles": [""]}, {"profiles": ["*" * 300]}, {"profiles": ["*"] * 101}]
    + [{"roots": ["nowhere"]}, {"roots": ["../etc"]}, {"rate": -1}, {"rate": 1e9}, {"expires": "soon"}, {"expires": "2001-01-01"}]
    + [{"expires": "-1d"}, {"toolset": "No Such"}, {"secret": "mine"}, {"digest": "0" * 64}, {"owner": "uid:0"}, {"account": "uid:0"}],
)
def test_bad_ones_are_refused(served, fields):
    reply = served.post("/v1/tokens", {"name": unique(), **fields})
    assert reply.status == 400, reply


def test_a_name_is_taken_once(served):
    name = make(served)["name"]
    assert served.post("/v1/tokens", {"name": name}).status == 409


def test_of_the_local_socket_with_all_rights(served):
    ended = served.adder.call("token", "new", unique(), "--acts-for-users", "--roots", "two", "--json")
    assert ended.returncode == 0 and json.loads(ended.stdout)["acts_for_users"] is True, ended
