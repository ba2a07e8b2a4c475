# SPDX-License-Identifier: Apache-2.0
"""The digest of all that a session is: which changes it sees, and what has none. Two nodes compare it before a session moves."""
import os
import shutil

import pytest

from runner_modules import loaded

pytestmark = pytest.mark.quick


@pytest.fixture
def digests(tmp_path, monkeypatch):
    """The module, for a sandbox's directories below TMP_PATH, in the first of which the process is."""
    with loaded("digests") as module:
        places = [tmp_path / name for name in ("work", "tmp", "shm")]
        for place in places:
            place.mkdir()
        monkeypatch.setattr(module, "WORK", str(places[0]))
        monkeypatch.setattr(module, "PLACES", [*map(str, places), str(tmp_path / "none")])
        monkeypatch.chdir(places[0])
        yield module


def digest(digests, names=None, hidden=None):
    answer = digests.of_state(names or {}, hidden or {})
    assert answer["digest"], answer
    return answer["digest"]


def test_equal_states_have_equal_digests(digests):
    first = digest(digests, {"a": [1, {"x": 2, "y": 3}], "_b": "text"})
    assert first == digest(digests, {"_b": "text", "a": [1, {"y": 3, "x": 2}]})
    assert first == digest(digests, {"a": [1, {"x": 2, "y": 3}], "_b": "text"})


@pytest.mark.parametrize(
    "names",
    [{"a": 2, "_b": "text"}, {"a": 1, "_b": "texts"}, {"a": 1}, {"a": 1, "_b": "text", "c": None}, {"b": 1, "_b": "text"}, {"a": 1.0, "_b": "text"}, {"a": True, "_b": "text"}],
)
def test_each_variable_counts(digests, names):
    assert digest(digests, {"a": 1, "_b": "text"}) != digest(digests, names)


def test_what_the_shell_put_there_does_not_count_until_code_replaces_it(digests):
    tool = object()
    empty = digest(digests)
    assert empty == digest(digests, {"get_ipython": tool}, {"get_ipython": tool})
    assert empty != digest(digests, {"get_ipython": 1}, {"get_ipython": tool})
    assert empty == digest(digests, {"_": 1, "__": 2, "_i": "x", "_i3": "x", "_3": 4, "_oh": {}, "__name__": "__main__", "_exit_code": 0, 7: 8})
    assert empty != digest(digests, {"_own": 1})


def test_a_variable_without_a_digest_is_named(digests):
    assert digests.of_state({"a": 1, "g": (i for i in range(3))}, {}) == {"digest": None, "unknown": "the variable g"}


def write(path, text="a", mode=0o644):
    path.write_text(text)
    path.chmod(mode)


CHANGES = {
    "content": lambda place: write(place / "a", "b"),
    "mode": lambda place: write(place / "a", mode=0o600),
    "another": lambda place: write(place / "b"),
    "hidden": lambda place: write(place / ".b", ""),
    "removed": lambda place: (place / "a").unlink(),
    "moved": lambda place: (place / "a").rename(place / "c"),
    "deeper": lambda place: write(place / "d" / "a", "b"),
    "directory": lambda place: (place / "empty").mkdir(),
    "no directory": lambda place: shutil.rmtree(place / "d"),
    "target": lambda place: ((place / "link").unlink(), (place / "link").symlink_to("d/a")),
    "link": lambda place: ((place / "link").unlink(), write(place / "link")),
}


@pytest.mark.parametrize("where", ["work", "tmp", "shm"])
@pytest.mark.parametrize("change", CHANGES)
def test_each_file_counts(digests, tmp_path, where, change):
    place = tmp_path / where
    (place / "d").mkdir()
    write(place / "a")
    write(place / "d" / "a")
    (place / "link").symlink_to("a")
    before = digest(digests)
    assert before == digest(digests)
    CHANGES[change](place)
    assert before != digest(digests)


def test_which_place_a_file_is_in_counts(digests, tmp_path):
    write(tmp_path / "work" / "a")
    before = digest(digests)
    (tmp_path / "work" / "a").rename(tmp_path / "tmp" / "a")
    assert before != digest(digests)


def test_what_is_no_file_and_what_cannot_be_read_have_none(digests, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "tmp" / "pipe")
    assert digests.of_state({}, {}) == {"digest": None, "unknown": "a file"}
    (tmp_path / "tmp" / "pipe").unlink()
    (tmp_path / "tmp" / "d").mkdir()
    digest(digests)
    scandir = os.scandir

    def refused(path):
        if os.path.basename(path) == "d":
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)  # as it is for others than root
    assert digests.of_state({}, {}) == {"digest": None, "unknown": "a file"}


def test_the_directory_and_the_environment_count(digests, tmp_path, monkeypatch):
    (tmp_path / "work" / "d").mkdir()
    before = digest(digests)
    monkeypatch.setenv("ADDER_TEST_COLOUR", "blue")
    coloured = digest(digests)
    assert coloured != before
    monkeypatch.setenv("ADDER_TEST_COLOUR", "red")
    assert digest(digests) not in (coloured, before)
    monkeypatch.delenv("ADDER_TEST_COLOUR")
    assert digest(digests) == before
    monkeypatch.chdir(tmp_path / "work" / "d")
    assert digest(digests) != before


@pytest.mark.parametrize("names, unknown", [({"a": 1}, "the variable a"), ({}, "a file")])
def test_what_takes_too_long_has_none(digests, tmp_path, monkeypatch, names, unknown):
    write(tmp_path / "work" / "a")
    times = iter(range(0, 1000, digests.TOTAL_S + 1))
    monkeypatch.setattr(digests, "now", lambda: next(times))
    assert digests.of_state(names, {}) == {"digest": None, "unknown": unknown}
