# SPDX-License-Identifier: Apache-2.0
"""A service and its users: one token, many owners."""
import concurrent.futures
import os
import time

import pytest

import harness
import http_bed

USERS, CELLS = 50, 10


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "http-users-" + user.name)
    os.chmod(directory, 0o755)
    served = http_bed.Served(harness.Adder(installation, user, directory, "[environment]\ndefault = system\n"))
    served.service = served.token("service", "--acts-for-users", "--may-decide")
    served.plain = served.token("plain")
    yield served
    served.stop()


def ask(served, method, path, body=None, user=None, secret=None, **headers):
    if user:
        headers["Adder_On_Behalf_Of"] = user
    return served.ask(method, path, body, secret=secret or served.service, **headers)


@pytest.mark.quick
def test_each_user_is_an_owner(served):
    made = ask(served, "POST", "/v1/sessions", {"name": "mine", "environment": "system"}, "anna")
    assert made.status == 201, made
    cell = {"code": "secret = 'of anna'", "session": "mine"}
    assert ask(served, "POST", "/v1/runs", cell, "anna").json()["outcome"] == "ok"
    # The same name is another session, or none.
    for user in ("ben", None):
        assert ask(served, "GET", "/v1/sessions/mine", user=user).status == 404
        assert ask(served, "GET", "/v1/sessions", user=user).json()["sessions"] == []
    owners = {record["owner"] for record in ask(served, "GET", "/v1/records", user="anna").json()["records"]}
    assert owners == {"token:service/anna"}
    assert ask(served, "GET", "/v1/records").json()["records"] == []


@pytest.mark.quick
def test_who_may_not(served):
    reply = ask(served, "GET", "/v1/sessions", user="anna", secret=served.plain)
    assert reply.status == 403 and "--acts-for-users" in reply.json()["detail"]
    for name in ("", "a b", "a/b", "é", "x" * 129):
        reply = served.ask("GET", "/v1/sessions", secret=served.service, Adder_On_Behalf_Of=name.encode())
        assert reply.status == 400, (name, reply)


def test_a_user_is_never_an_admin(served):
    admin = served.token("root", "--role", "admin", "--acts-for-users")
    assert ask(served, "GET", "/v1/tokens", secret=admin).status == 200
    assert ask(served, "GET", "/v1/tokens", user="anna", secret=admin).status == 403
    assert ask(served, "GET", "/v1/records?owner=all", user="anna", secret=admin).status == 403
    # An admin of the server sees what belongs to whom.
    ask(served, "POST", "/v1/runs", {"code": "1"}, "emil")
    listed = served.ask("GET", "/v1/records?owner=token:service/emil").json()["records"]
    assert [record["owner"] for record in listed] == ["token:service/emil"]


def test_files_and_approvals_are_the_users_own(served):
    kept = ask(served, "POST", "/v1/runs", {"code": "open('a.txt', 'w').write('anna')", "environment": "system"}, "anna")
    file_id = kept.json()["files"][0]["file_id"]
    assert ask(served, "GET", f"/v1/files/{file_id}/content", user="anna").body == b"anna"
    assert ask(served, "GET", f"/v1/files/{file_id}/content", user="ben").status == 404
    assert ask(served, "GET", f"/v1/files/{file_id}/content").status == 404


def test_the_limit_of_sessions_is_each_users_own(served):
    body = {"environment": "system"}
    for _ in range(10):
        assert ask(served, "POST", "/v1/sessions", body, "carl").status == 201
    refused = ask(served, "POST", "/v1/sessions", body, "carl")
    assert refused.status == 429 and "evict" in refused.json()["detail"], refused
    assert "Retry-After" not in refused.headers, "to wait does not help"
    assert len(ask(served, "GET", "/v1/sessions", user="carl").json()["sessions"]) == 10
    assert ask(served, "POST", "/v1/sessions", {**body, "evict": True}, "carl").status == 201
    assert ask(served, "POST", "/v1/sessions", body, "dora").status == 201
    for session in ask(served, "GET", "/v1/sessions", user="carl").json()["sessions"]:
        ask(served, "DELETE", f"/v1/sessions/{session['session_id']}", user="carl")


def test_all_users_of_a_token_together_have_a_rate(served):
    """Each request names a user that was never there, who may ask twice at once and once each five seconds."""
    secret = served.token("rare", "--rate", "12", "--acts-for-users")
    begun, taken = time.monotonic(), 0
    while (reply := ask(served, "GET", "/v1/runs", user=f"new-{taken}", secret=secret)).status == 200:
        taken += 1
        assert taken <= 40 + (time.monotonic() - begun) * 4, "twenty times what one user may"
    assert reply.status == 429 and taken >= 40
    assert "this service's users together" in reply.json()["detail"] and int(reply.headers["Retry-After"]) >= 1
    # Those of other services are none of them.
    assert ask(served, "GET", "/v1/runs", user="anna").status == 200


def test_fifty_users_with_ten_cells_each(served):
    """At default settings nothing is lost or mixed up."""

    def work(number):
        user, told = f"user-{number}", []
        with served.connection() as connection:
            made = ask(served, "POST", "/v1/sessions", {"name": "s", "environment": "system"}, user, connection=connection)
            assert made.status == 201, made
            for cell in range(CELLS):
                code = f"total = globals().get('total', {number * 1000}) + 1\nopen('log.txt', 'a').write('{user} ')\nprint(total)"
                reply = ask(served, "POST", "/v1/runs", {"code": code, "session": "s"}, user, connection=connection).json()
                assert reply["outcome"] == "ok", reply
                told.append(int(reply["stdout"]))
            read = ask(served, "POST", "/v1/runs", {"code": "print(open('log.txt').read())", "session": "s"}, user, connection=connection)
        return told, read.json()["stdout"], user

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for number, (told, log, user) in enumerate(pool.map(work, range(USERS))):
            assert told == [number * 1000 + cell + 1 for cell in range(CELLS)]
            assert log == f"{user} " * CELLS + "\n"
