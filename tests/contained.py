# SPDX-License-Identifier: Apache-2.0
"""Adders whose runs are in containers of an engine of the tests' own (docker_world.py)."""
import contextlib
import functools
import json
import urllib.parse

import pytest

import docker_world
import harness
from harness import named, unique, with_name

PROFILE = ("--profile", "container")  # in a container, or else in a sandbox of the host's, with a warning
INSISTING = ("--isolation", "container")  # in a container, or not at all

SLEEPING = "import time\ntime.sleep(1000)"
ENDED_BY_TIME = "15s"  # the time limit that a run is to meet, but not before the test has looked at it

# An engine on a busy host starts one in a minute, and a launcher sees only then that its daemon has ended.
DEADLINE = 5 * harness.DEADLINE
wait_until = functools.partial(harness.wait_until, deadline=DEADLINE)


def engine_or_skip(engines, kind):
    try:
        return engines.get(kind)
    except FileNotFoundError as error:
        pytest.skip(str(error))


class Contained:
    """An Adder and the engine that it uses, with the engine's view of the Adder's containers."""

    def __init__(self, adder, engine, kept=2):
        self.adder, self.engine, self.kept = adder, engine, kept
        adder.environment = None  # the image's, of which there is one
        adder.deadline = DEADLINE

    def __getattr__(self, name):
        return getattr(self.adder, name)

    def run(self, code, *options, **others):
        """In a container, or it is no result of this test's."""
        return self.adder.run(code, *PROFILE, *INSISTING, *options, **others)

    def run_or_fall_back(self, code, *options, **others):
        return self.adder.run(code, *PROFILE, *options, **others)

    def label(self):
        daemon = harness.Process(self.adder.daemon())
        return f"adder.daemon={daemon.pid}:{daemon.start}"

    def containers(self, label=None):
        """The ids of those that this daemon, or the one that LABEL tells, had made."""
        return [container["Id"] for container in self.engine.containers(label or self.label())]

    def pool(self):
        pools = self.adder.status()["engine"]["pools"]
        return next((pool for pool in pools if pool.get("backend") == "container"), None)

    def wait_parked(self):
        """Until as many containers as are kept wait for a run and nothing runs; their ids."""

        def full():
            status = self.adder.status()
            pool = self.pool()
            if status["engine"]["running"] or not pool or pool["parked"] != self.kept or pool["parking"]:
                return None
            found = self.containers()
            return found if len(found) == self.kept else None

        return wait_until(full, f"{self.kept} containers to be parked")

    def start_named(self, *options, code=SLEEPING, json_reply=True, timeout="10min"):
        """A run under way, its name on the host and its container. It prints before it has the name."""
        name = unique()
        code = f"print('started', flush=True)\n{named(name, code)}"
        process = self.adder.start(code, *PROFILE, "--timeout", timeout, *options, json_reply=json_reply)
        wait_until(lambda: with_name(name) or process.poll() is not None, "the run to be under way")
        assert process.poll() is None, process.communicate()
        [worker] = with_name(name)
        return Running(self, process, name, worker)

    def stop_and_look(self):
        """Ends the daemon, after which nothing of it is left in the engine."""
        if self.adder.daemon() is None:
            return
        label = self.label()
        self.adder.stop()
        wait_until(lambda: not self.containers(label), "the daemon's containers to be gone")

    def forget(self):
        """For finalisers: no daemon stays, and none of its containers, whatever state they are in."""
        if self.adder.daemon() is not None:
            label = self.label()
            self.adder.kill()
            with contextlib.suppress(OSError):  # the engine may be what did not live
                for container in self.containers(label):
                    self.engine.remove(container)


class Running:
    def __init__(self, contained, process, name, worker):
        self.contained, self.process, self.name, self.worker = contained, process, name, worker
        self.container = self.container_of(worker)

    def container_of(self, worker):
        """By the pid namespace, which is one container's."""
        space = worker.namespace("pid")
        for container in self.contained.containers():
            try:
                first = self.contained.engine.inspect(container)["State"]["Pid"]
                if first and harness.Process(first).namespace("pid") == space:
                    return container
            except (docker_world.Refused, FileNotFoundError, ProcessLookupError):  # that of an earlier run, and gone by now
                continue
        raise AssertionError(f"{worker} is in no container")

    def facts(self):
        return self.contained.engine.inspect(self.container)

    def end(self, timeout=DEADLINE):
        """How it ended."""
        out, err = self.process.communicate(timeout=timeout)
        harness.gathered.append((self.process.args, self.process.returncode, out, err))
        return harness.Adder.parse(out.decode(), err.decode(), self.process.returncode)

    def wait_gone(self):
        wait_until(lambda: not with_name(self.name), "its process to be gone")
        wait_until(lambda: self.container not in self.contained.containers(), "its container to be gone")


def tag(engine, image, name):
    """IMAGE under another NAME as well."""
    repository, _, version = name.rpartition(":")
    engine.ask("POST", f"/v1.41/images/{image}/tag?{urllib.parse.urlencode({'repo': repository, 'tag': version})}")


def image_facts(engine, name=docker_world.IMAGE):
    return engine.ask("GET", f"/v1.41/images/{name}/json")


def native(result):
    """What every run that fell back must tell; its one sentence."""
    assert result.isolation["backend"] == "native" and result.isolation["container"] is None
    assert result.isolation["level"] >= 2
    [sentence] = result.warnings
    assert sentence.startswith("not in a container") and "\n" not in sentence
    return sentence


def told(result):
    return json.loads(result.stdout)
