# SPDX-License-Identifier: Apache-2.0
"""examples/service.py: a web service whose users have sessions and files of their own, at default settings."""
import concurrent.futures
import http.client
import subprocess
import sys

import pytest

import adder_client
import harness

EXAMPLE = harness.REPOSITORY / "examples" / "service.py"
USERS, CELLS = 50, 10


@pytest.fixture
def service(served):
    """The port of the example, which asks SERVED over its Unix socket."""
    with subprocess.Popen(
        [sys.executable, EXAMPLE, "0"], env=served.variables(unix=True), stdout=subprocess.PIPE, text=True
    ) as process:
        yield int(process.stdout.readline().rsplit(":", 1)[1])
        process.terminate()


def ask(port, user, code, connection=None):
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=harness.DEADLINE)
    connection.request("POST", "/", code.encode(), {"X-User": user})
    with connection.getresponse() as reply:
        return reply.status, reply.read().decode()


def test_fifty_users_with_ten_cells_each(service):
    def work(number):
        user, told = f"user-{number}@example.com", []
        connection = http.client.HTTPConnection("127.0.0.1", service, timeout=harness.DEADLINE)
        for cell in range(CELLS):
            code = f"total = globals().get('total', {number * 1000}) + 1\nopen('log.txt', 'a').write('{user} ')\nprint(total)"
            told.append(ask(service, user, code, connection))
        told.append(ask(service, user, "print(open('log.txt').read())", connection))
        return user, told

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        for number, (user, told) in enumerate(threads.map(work, range(USERS))):
            assert [status for status, _ in told] == [200] * (CELLS + 1), told
            for cell, (_, text) in enumerate(told[:-1]):
                assert str(number * 1000 + cell + 1) in text.split(), text
            assert told[-1][1].count(user) == CELLS and told[-1][1].count("@") == CELLS, told[-1]


def test_a_name_that_cannot_be_one(service):
    for user in ("", "a b", "../root"):
        status, text = ask(service, user, "1")
        assert status == 400 and "cannot name a user" in text


def test_a_user_of_the_client(served):
    with adder_client.Adder(served.unix) as adder:
        anna, ben = adder.for_user("anna"), adder.for_user("ben")
        anna.sessions.ensure("mine").run("x = 1")
        assert [session.name for session in anna.sessions.list()] == ["mine"]
        assert ben.sessions.list() == []
        with pytest.raises(adder_client.NotFound):
            ben.sessions.get("mine").run("x")
        anna.sessions.get("mine").end()
        anna.close()  # its connections are the service's
        assert adder.run("1").text == "1"


def test_only_a_token_that_may(served):
    with adder_client.Adder(served.url, served.token("plain")) as adder, pytest.raises(adder_client.ProblemError) as caught:
        adder.for_user("anna").run("1")
    assert caught.value.status == 403
    secret = served.token("service", "--acts-for-users")
    with adder_client.Adder(served.url, secret) as adder:
        run = adder.for_user("anna").run("1")
        assert [record["run_id"] for record in adder.for_user("anna").records.list()] == [run.run_id]
        assert list(adder.records.list()) == []


@pytest.mark.anyio
async def test_a_user_awaited(served):
    async with adder_client.AsyncAdder(served.unix) as adder:
        result = await adder.for_user("carl").run("6 * 7")
        assert result.text == "42"
        assert [record["run_id"] async for record in adder.for_user("carl").records.list()] == [result.run_id]
