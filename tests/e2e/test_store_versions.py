# SPDX-License-Identifier: Apache-2.0
"""Stores that earlier versions left: `stores/version-N.sql` is what a program with version N of the tables wrote. What it kept is
listed, verified and added to, and the tables are those of today."""
import json
import pathlib
import re
import sqlite3

import pytest

import harness

STORES = sorted(pathlib.Path(__file__).with_name("stores").glob("version-*.sql"))


def latest():
    text = (harness.REPOSITORY / "src/store/schema.c").read_text()
    return len(re.findall(r"\bversion_\d+\b", re.search(r"versions\[\] = \{(.*?)\}", text, re.DOTALL).group(1)))


def shape(path):
    with sqlite3.connect(path) as database:
        return sorted(row for row in database.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))


def test_each_earlier_version_is_tried():
    assert [path.stem for path in STORES] == [f"version-{number}" for number in range(1, latest())]


@pytest.mark.both_users
@pytest.mark.parametrize("store", STORES, ids=lambda path: path.stem)
def test_what_an_earlier_version_kept_is_there(own_adder, store):
    folder = own_adder.state / "store"
    folder.mkdir(mode=0o700)
    own_adder.own(folder)
    path = folder / "records.db"
    with sqlite3.connect(path) as database:
        database.executescript(store.read_text())
    own_adder.own(path)
    path.chmod(0o600)
    listed = own_adder.call("history", "list", "--owner", "all", "--json")
    records = json.loads(listed.stdout)["records"]
    assert [record["outcome"] for record in records] == ["error", "ok"]
    assert "kept from version" in own_adder.call("history", "show", records[-1]["run_id"], "--owner", "all").stdout
    assert own_adder.run("print('kept today')").outcome == "ok"
    verified = own_adder.call("history", "verify")
    assert verified.returncode == 0, verified
    own_adder.stop()
    fresh = own_adder.state / "fresh.db"
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT version FROM schema_version").fetchall() == [(latest(),)]
        assert database.execute("SELECT count(*) FROM records").fetchall() == [(3,)]
    migrated = shape(path)
    # The tables of a store that begins today.
    path.rename(fresh)
    assert own_adder.run("1").outcome == "ok"
    own_adder.stop()
    assert migrated == shape(path)


def test_tables_that_a_newer_adder_added_are_left_alone(own_adder):
    """While the daemons of a cluster are replaced one by one, both versions use the database."""
    assert own_adder.run("1").outcome == "ok"
    own_adder.stop()
    path = own_adder.state / "store/records.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE of_tomorrow (name TEXT NOT NULL)")
        database.execute("UPDATE settings SET value = '999' WHERE name = 'additions'")
    result = own_adder.run("print('kept')")
    assert result.outcome == "ok" and not result.warnings
    own_adder.stop()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM records").fetchall() == [(2,)]
        assert database.execute("SELECT value FROM settings WHERE name = 'additions'").fetchall() == [("999",)]
