# SPDX-License-Identifier: Apache-2.0
"""What is kept, as the database and the place of files say it themselves: for tests that do not take Adder's word."""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import urllib.parse
from xml.etree import ElementTree

import store_world

COLUMNS = ("id", "state", "blob", "bytes", "sha256", "run_id", "name", "owner")


class Servers:
    """PostgreSQL and an S3 server, started when they are first wanted."""

    def __init__(self):
        self.started = {}

    def get(self, kind):
        if kind not in self.started:
            self.started[kind] = kind()
        return self.started[kind]

    def end(self):
        for server in self.started.values():
            server.end()


class Local:
    """SQLite and a directory, below an Adder's state directory: what is used where nothing is configured."""

    name = "sqlite-directory"
    config = ""
    adder = None

    def __init__(self, servers, uid):
        pass

    def of(self, adder):
        self.adder = adder
        return self

    @property
    def folder(self):
        return self.adder.state / "store"

    def shared_config(self):
        """For another Adder, which is to use the same."""
        return f"[store]\nrecords = sqlite:{self.folder}/records.db\nblobs = directory:{self.folder}\n"

    def ask(self, statement):
        """Asks a copy: to open the file itself would take part in its locks, and leave files of another user beside it."""
        with tempfile.TemporaryDirectory(prefix="adder-stored-") as directory:
            for path in self.folder.glob("records.db*"):
                if not path.name.endswith("-shm"):
                    shutil.copy(path, directory)
            database = sqlite3.connect(pathlib.Path(directory) / "records.db")
            try:
                [[whole]] = database.execute("PRAGMA integrity_check")
                assert whole == "ok", whole
                return database.execute(statement).fetchall()
            finally:
                database.close()

    def blobs(self):
        """Contents by key. That a content is kept once, and has no name too many, is looked at as well."""
        found, links = {}, {}
        for kind in ("generated", "uploaded", "output"):
            for path in sorted((self.folder / kind).glob("*")):
                stat = path.stat()
                links[stat.st_ino] = links.get(stat.st_ino, 1) + 1
                found[f"{kind}/{path.name}"] = path.read_bytes()
        for path in sorted((self.folder / "content").glob("*/*")):
            stat = path.stat()
            assert stat.st_nlink == links.get(stat.st_ino), f"{path} has {stat.st_nlink} names, of which keys know {links.get(stat.st_ino)}"
        return found

    def blob(self, key):
        return (self.folder / key).read_bytes()

    def rows(self):
        return [dict(zip(COLUMNS, row)) for row in self.ask(f"SELECT {', '.join(COLUMNS)} FROM files")]

    def run_ids(self):
        return [run_id for (run_id,) in self.ask("SELECT run_id FROM records")]


class Remote:
    """PostgreSQL and S3."""

    name = "postgres-s3"

    def __init__(self, servers, uid):
        self.postgres, self.s3 = servers.get(store_world.Postgres), servers.get(store_world.S3)
        self.records, self.bucket_url = self.postgres.new(), self.s3.new(uid)
        self.bucket = self.bucket_url.partition("://")[2].partition("?")[0]
        self.config = f"[store]\nrecords = {self.records}\nblobs = {self.bucket_url}\n"

    def of(self, adder):
        return self

    def shared_config(self):
        return self.config

    def ask(self, statement):
        database = self.records.partition("@/")[2].partition("?")[0]
        return json.loads(self.postgres.sql(f"SELECT COALESCE(json_agg(x), '[]') FROM ({statement}) x", database))

    def curl(self, *arguments):
        user = f"adder:{store_world.KEYS['adder']}"
        command = ["curl", "-q", "-s", "-f", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", user, *arguments]
        return subprocess.run(command, check=True, capture_output=True, timeout=600).stdout

    def where(self, key):
        return f"{self.s3.endpoint}/{self.bucket}/{urllib.parse.quote(key)}"

    def keys(self):
        token, found = "", []
        while token is not None:
            more = f"continuation-token={urllib.parse.quote(token, safe='')}&" if token else ""
            tree = ElementTree.fromstring(self.curl(f"{self.s3.endpoint}/{self.bucket}?{more}list-type=2"))
            space = tree.tag.partition("}")[0] + "}"
            found += [entry.findtext(f"{space}Key") for entry in tree.iter(f"{space}Contents")]
            token = tree.findtext(f"{space}NextContinuationToken") or None
        return [key for key in found if not key.endswith("/")]

    def blobs(self):
        """All by one command: there are thousands."""
        keys = self.keys()
        with tempfile.TemporaryDirectory(prefix="adder-stored-") as directory:
            listed = pathlib.Path(directory) / "list"
            listed.write_text("".join(f'url = "{self.where(key)}"\noutput = "{directory}/{number}"\n' for number, key in enumerate(keys)))
            if keys:
                self.curl("-K", listed)
            return {key: (pathlib.Path(directory) / str(number)).read_bytes() for number, key in enumerate(keys)}

    def blob(self, key):
        return self.curl(self.where(key))

    def rows(self):
        return self.ask(f"SELECT {', '.join(COLUMNS)} FROM files")

    def run_ids(self):
        return [row["run_id"] for row in self.ask("SELECT run_id FROM records")]


KINDS = {kind.name: kind for kind in (Local, Remote)}
