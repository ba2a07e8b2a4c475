# SPDX-License-Identifier: Apache-2.0
"""Adder, in both ways that it is used: a call of its library in this process, and `adder run` as a process."""
import ctypes
import json
import os
import pathlib
import time

from common import Failed, Peer, ProcessPeer, Unavailable, children, finished, output, private_bytes

SETTLE = 5  # seconds to wait for a full pool; a host that is short of memory never has one

POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
FUNCTIONS = {  # of include/adder.h: what each returns, and takes
    "adder_version": (TEXT, []),
    "adder_engine_new": (POINTER, [TEXT, POINTER]),
    "adder_engine_warm": (ctypes.c_int, [POINTER, TEXT, POINTER]),
    "adder_engine_status_json": (POINTER, [POINTER]),
    "adder_engine_free": (None, [POINTER]),
    "adder_request_new": (POINTER, [TEXT, ctypes.c_ssize_t]),
    "adder_request_set_environment": (None, [POINTER, TEXT]),
    "adder_request_free": (None, [POINTER]),
    "adder_request_set_session": (None, [POINTER, TEXT, ctypes.c_int]),
    "adder_session_new": (POINTER, [POINTER, POINTER, TEXT, POINTER]),
    "adder_run": (POINTER, [POINTER, POINTER]),
    "adder_result_json": (TEXT, [POINTER]),
    "adder_result_free": (None, [POINTER]),
}
DETAILS = {
    3: "system call filter, landlock, no capabilities, cgroup limits",
    2: "system call filter, landlock, no capabilities; limits without cgroups",
    1: "system call filter, landlock and limits, but no namespaces",
    0: "nothing",
}


def is_zygote(pid):
    return b"zygote.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()


class Adder(Peer):
    """What both have in common: isolation as the results tell it, and the pool."""

    parked = None  # sandboxes of a full pool

    def describe(self, result):
        level = result["isolation"]["level"]
        self.isolation = "namespaces" if level >= 2 else "filters" if level == 1 else "none"
        self.details = f"level {level}: {DETAILS[level]}"

    def settle(self, status):
        """Waits until STATUS() tells of a full pool at rest."""
        if self.parked is None:
            shown = json.loads(output(self.host.adder, "config", "show", "--json"))
            self.parked = shown["pool"]["parked"]["value"]
        until = time.monotonic() + SETTLE
        while time.monotonic() < until:
            told = status()
            if told["running"] == 0 and all(
                pool["parking"] == 0 and pool["parked"] >= self.parked for pool in told["pools"]
            ):
                return
            time.sleep(0.002)


class AdderLibrary(Adder):
    name = "adder"
    title = "Adder, its library"
    command = "adder_run (engine, request)"

    def start(self):
        self.engine = None
        if self.host.library is None:
            raise Unavailable(f"there is no libadder.so that belongs to {self.host.adder}")
        try:
            self.library = ctypes.CDLL(str(self.host.library))
            self.glib = ctypes.CDLL("libglib-2.0.so.0")
        except OSError as error:
            raise Unavailable(str(error)) from error
        self.glib.g_free.argtypes, self.glib.g_free.restype = [POINTER], None
        for name, (returns, takes) in FUNCTIONS.items():
            function = getattr(self.library, name)
            function.restype, function.argtypes = returns, takes
        self.version = self.library.adder_version().decode()
        self.engine = self.library.adder_engine_new(None, None)
        if not self.engine or not self.library.adder_engine_warm(self.engine, self.host.environment.encode(), None):
            raise Unavailable("its engine does not start here: see `adder doctor`")
        self.describe(self.result("pass"))
        self.rest()

    def request(self, code):
        text = code.encode()
        request = self.library.adder_request_new(text, len(text))
        self.library.adder_request_set_environment(request, self.host.environment.encode())
        return request

    def result(self, code, session=None):
        request = self.request(code)
        if session:
            self.library.adder_request_set_session(request, session.encode(), True)
        result = self.library.adder_run(self.engine, request)
        try:
            told = json.loads(self.library.adder_result_json(result))
        finally:
            self.library.adder_result_free(result)
            self.library.adder_request_free(request)
        if told["outcome"] != "ok":
            raise Failed(f"{told['outcome']}: {told['error'] and told['error']['message']}")
        return told

    def run(self, code, caller=0):
        return self.result(code)["stdout"]

    def open_session(self):
        session = self.new_session()
        self.result("x = 0", session)
        return lambda code: self.result(code, session)["stdout"]

    def new_session(self):
        request = self.request("")
        try:
            text = self.library.adder_session_new(self.engine, request, None, None)
        finally:
            self.library.adder_request_free(request)
        if not text:
            raise Failed("no session can be made")
        try:
            return json.loads(ctypes.string_at(text))["session_id"]
        finally:
            self.glib.g_free(text)

    def status(self):
        text = self.library.adder_engine_status_json(self.engine)
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self.glib.g_free(text)

    def rest(self):
        self.settle(self.status)

    def memory(self):
        """The mean of a full pool, for its sandboxes are not alike: worker and init of each, at rest."""
        self.rest()
        parked = sum(pool["parked"] for pool in self.status()["pools"])
        sandboxes = [pid for zygote in children(os.getpid()) if is_zygote(zygote) for pid in children(zygote)]
        return [sum(private_bytes(pid) for pid in sandboxes) // parked] if parked else []

    def stop(self):
        if getattr(self, "engine", None):
            self.library.adder_engine_free(self.engine)
            self.engine = None


class AdderCommand(Adder, ProcessPeer):
    """With a daemon of its own, ended in the end."""

    name = "adder-run"
    title = "Adder, `adder run`"
    command = "adder run -c CODE"

    def variables(self):
        return dict(os.environ, ADDER_RUNTIME_DIR=str(self.host.directory / "run"))

    def command_line(self, *words):
        return finished([self.host.adder, *words], env=self.variables(), cwd=self.host.work)

    def start(self):
        self.version = self.command_line("--version").split()[-1]
        try:
            told = json.loads(self.command_line("run", "--json", "--env", self.host.environment, "-c", "import pandas"))
        except Failed as error:
            raise Unavailable(f"`adder run` does not work here: {error}") from error
        self.describe(told)

    def run(self, code, caller=0):
        return self.command_line("run", "--env", self.host.environment, "-c", code)

    def rest(self):
        self.settle(lambda: json.loads(self.command_line("serve", "status", "--json"))["engine"])

    def stop(self):
        self.command_line("serve", "stop")
