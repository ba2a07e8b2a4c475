# SPDX-License-Identifier: Apache-2.0
"""Local files that a model names by their paths over standard input and output: opened by the process that the client started, for
reading, within the client's roots or the current directory, and nowhere else."""
import fcntl
import os
import signal

import http_bed
import pytest

from harness import unique, wait_until
from mcp_asked import Asked
from mcp_lines import LEGACY, META, MODERN, Lines, kill_daemon, text

HIDDEN = "not for models"
ROOTS = {"roots": {"listChanged": True}}


@pytest.fixture
def place(adder, request):
    """A directory of the caller's, in which adder mcp is started."""
    name = adder.scratch / unique()
    (name / "data").mkdir(parents=True)
    (name / "sales.csv").write_text("a,b\n1,2\n")
    (name / "data" / "deep.txt").write_text("deep")
    (name.parent / "secret.txt").write_text(HIDDEN)
    for path in (name, name / "data", name / "sales.csv", name / "data" / "deep.txt", name.parent / "secret.txt"):
        adder.own(path)
    return name


class Local(Asked):
    """A client in PLACE; ROOTS: directories, None: it has no roots."""

    def __init__(self, adder, place, roots=None, version=MODERN, options=()):
        self.roots = roots
        popen = adder.popen

        class There:
            deadline = adder.deadline

            def popen(self, *arguments, **others):
                return popen(*arguments, **{"cwd": place, **others})

        super().__init__(There(), *options, version=version, can=ROOTS if roots is not None else {}, answer=self.say)

    def say(self, question):
        return {"result": {"roots": [{"uri": root.as_uri()} for root in self.roots]}}

    def use(self, *files, code="import os\nprint(*sorted(os.listdir()))", **more):
        arguments = {"code": code, "files": list(files), **more}
        result = self.result("tools/call", {"name": "run_python", "arguments": arguments})
        if result.get("resultType") == "input_required":
            [(key, question)] = result["inputRequests"].items()
            assert question["method"] == "roots/list"
            result = self.again("run_python", arguments, result, {key: self.say(question)["result"]})["result"]
        return result


VERSIONS = [MODERN, LEGACY[0]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", [(), ("--no-daemon",)], ids=["daemon", "here"])
def test_files_of_the_current_directory(adder, place, version, options):
    with Local(adder, place, version=version, options=options) as lines:
        read = "print(open('sales.csv').read(), open('data/deep.txt').read())"
        assert text(lines.use("sales.csv", "./data/deep.txt", code=read)) == "a,b\n1,2\n deep"
        assert text(lines.use(str(place / "data" / "deep.txt"))) == "data"
        wrote = lines.use("sales.csv", code="open('sales.csv', 'a').write('more')")
        assert not wrote["isError"] or "Permission" in text(wrote)
        assert (place / "sales.csv").read_text() == "a,b\n1,2\n"
        if not options:
            name = unique()
            assert text(lines.use("sales.csv", session=name)).startswith("sales.csv")
            assert text(lines.use(session=name)).startswith("sales.csv")
            lines.call("session_end", {"session": name})
        assert lines.end()[1:] == (0, "")


def links(place):
    (place / "up").symlink_to(place.parent / "secret.txt")
    (place / "away").symlink_to("/etc")
    (place / "inside").symlink_to("data/deep.txt")
    os.mkfifo(place / "pipe")
    os.chmod(place / "sales.csv", 0)


OUTSIDE = {
    "../secret.txt": "outside",
    "data/../../secret.txt": "outside",
    "data/../sales.csv": "outside",
    "/etc/passwd": "outside",
    "up": "symbolic link leads out",
    "away/passwd": "symbolic link leads out",
    "/proc/self/environ": "outside",
    "pipe": "no regular file",
    "data": "is a directory",
    ".": "",
    "": "",
    "nothing.csv": "no such file",
    "a\nb": "no such file",
    "\x01" * 4096: "cannot open",
    "x" * 1_000_000: "bytes at most",
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("rooted", [False, True])
def test_nothing_else_is_opened(adder, place, version, rooted):
    links(place)
    with Local(adder, place, roots=[place] if rooted else None, version=version) as lines:
        for path, words in OUTSIDE.items():
            result = lines.use(path)
            assert result["isError"] and words in text(result) and HIDDEN not in text(result), (path, text(result))
        assert lines.use("sales.csv", "../secret.txt")["isError"]
        if adder.user.uid != 0:
            assert "Permission denied" in text(lines.use("sales.csv"))
        assert text(lines.use("inside", code="print(open('inside').read())")) == "deep"


@pytest.mark.parametrize("version", VERSIONS)
def test_roots_take_the_place_of_the_directory(adder, place, version):
    with Local(adder, "/", roots=[place / "data"], version=version) as lines:
        assert text(lines.use("deep.txt")) == "deep.txt"
        assert text(lines.use(str(place / "data" / "deep.txt"))) == "deep.txt"
        outside = lines.use(str(place / "sales.csv"))
        assert outside["isError"] and "outside" in text(outside) and str(place / "data") in text(outside)
        lines.roots = [place / "data", place]
        assert text(lines.use("sales.csv")) == "sales.csv"
        lines.roots = []
        assert "there are none" in text(lines.use("deep.txt"))


def test_a_home_is_no_directory_of_files(adder):
    with Local(adder, "/") as lines:
        result = lines.use("etc/hostname")
        assert result["isError"] and "start adder mcp in the directory" in text(result)


def test_a_pair_of_renames_gains_nothing(adder, place):
    """A name that is now a file and now a link outside is either the file or refused."""
    import threading

    stop = threading.Event()
    (place / "file").write_text("fine")
    (place / "link").symlink_to(place.parent / "secret.txt")
    adder.own(place / "file")

    def swap():
        while not stop.is_set():
            for one in ("file", "link"):
                os.symlink(os.readlink(place / one), place / "new") if (place / one).is_symlink() else os.link(place / one, place / "new")
                os.replace(place / "new", place / "swapped")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        with Local(adder, place) as lines:
            seen = {text(lines.use("swapped", code="print(open('swapped').read())")) for _ in range(60)}
    finally:
        stop.set()
        thread.join()
    assert not any(HIDDEN in each for each in seen) and seen


def test_over_http_there_are_none(make_adder):
    served = http_bed.Served(make_adder())
    try:
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
        call = {"name": "run_python", "arguments": {"code": "1", "files": ["/etc/passwd"]}, "_meta": meta}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_python"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        result = served.post("/mcp", message, **headers).json()["result"]
        assert result["isError"] and "no id of a stored file" in text(result)
    finally:
        served.stop()


def test_many_calls_at_once(adder, place):
    with Lines(adder) as plain:
        assert plain.run("1")["structuredContent"]["value"] == "1"
    with Local(adder, place) as lines:
        code = "print(open('sales.csv').read())"
        calls = [lines.start("tools/call", {"name": "run_python", "arguments": {"code": code, "files": ["sales.csv"]}}) for _ in range(20)]
        assert {text(lines.answer(id)["result"]) for id in calls} == {"a,b\n1,2"}


@pytest.fixture
def slow(adder, place):
    """A file that takes long to open: a lease of ours has whoever opens it wait until we give it up (fcntl(2), F_SETLEASE)."""
    path = place / "slow.csv"
    path.write_text("slow")
    adder.own(path)
    with open(path, "r+b") as file:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGWINCH)  # which nobody minds
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield file


def is_opening(file):
    """Whether somebody waits for our lease: it is to become one for reading, or none."""
    return fcntl.fcntl(file, fcntl.F_GETLEASE) != fcntl.F_WRLCK


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_that_takes_long_to_open_keeps_nobody_waiting(adder, place, slow, version):
    call = {"name": "run_python", "arguments": {"code": "print(open('slow.csv').read())", "files": ["slow.csv"]}}
    with Local(adder, place, version=version) as lines:
        assert text(lines.use("sales.csv")) == "sales.csv"
        waits, cancelled = lines.start("tools/call", call), lines.start("tools/call", call)
        wait_until(lambda: is_opening(slow), "the file to be opened")
        assert text(lines.use("sales.csv")) == "sales.csv"
        lines.cancel(cancelled)
        assert text(lines.use("sales.csv", "data/deep.txt")) == "data sales.csv"
        fcntl.fcntl(slow, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        assert text(lines.answer(waits)["result"]) == "slow"
        assert lines.end() == ([], 0, "")


def test_files_that_are_never_opened_are_bounded(adder, place, slow):
    """Each call that waits for such a file ends after half a minute, and what it waited for is left behind: so many, and no more."""
    with Local(adder, place) as lines:
        call = {"name": "run_python", "arguments": {"code": "1", "files": ["slow.csv"]}}
        said = []
        while not any("earlier ones still wait" in each for each in said):
            calls = [lines.start("tools/call", call) for _ in range(8)]
            wait_until(lambda: is_opening(slow), "the file to be opened")
            for id in calls:
                lines.cancel(id)
            lines.tools()
            said += [text(message["result"]) for message in lines.arrived if "content" in message.get("result", {})]
            lines.arrived.clear()
        fcntl.fcntl(slow, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        wait_until(lambda: text(lines.use("sales.csv")) == "sales.csv", "places to be free")


@pytest.mark.parametrize("version", VERSIONS)
def test_files_after_the_daemon_ended(make_adder, version):
    """The next daemon has a channel of its own, and the client's roots are what they were."""
    adder = make_adder()
    place = adder.scratch / unique()
    place.mkdir()
    (place / "a.txt").write_text("a")
    for path in (place, place / "a.txt"):
        adder.own(path)
    with Local(adder, "/", roots=[place], version=version) as lines:
        assert text(lines.use("a.txt")) == "a.txt"
        kill_daemon(adder)
        assert text(lines.use("a.txt")) == "a.txt"
        assert "outside" in text(lines.use("/etc/passwd"))
