# SPDX-License-Identifier: Apache-2.0
"""The daemon, its launchers, the engine and its containers die, hang or are meddled with, at awkward moments: a run never says
that it went well when it did not, the next one works, and nothing stays in the engine or on the host."""
import os
import pathlib
import signal

import pytest

import docker_world
import harness
from contained import DEADLINE, ENDED_BY_TIME, PROFILE, SLEEPING, native, wait_until
from harness import named, with_name

BOTH = pytest.mark.parametrize("kind", docker_world.ENGINES)


def launchers(pid):
    """The processes that see to containers for the daemon PID."""
    return [process for process in harness.descendants(pid) if process.name.startswith("adder-contain")]


def places(world):
    """The directories on the host that were made for single runs and containers."""
    return sorted(
        str(path) for top in (world.runtime, world.state) for name in ("places", "containers", "scratch", "runs")
        for path in pathlib.Path(top).glob(f"**/{name}/*") if path.is_dir()
    )  # fmt: skip


def wait_empty(world, label):
    wait_until(lambda: not world.containers(label), "the containers of the dead daemon to be gone")


def settle(world):
    """The next runs work, in a container again as soon as there is one to be had; and then nothing else is left."""

    def contained():
        result = world.run_or_fall_back("print(1)")
        assert (result.outcome, result.stdout) == ("ok", "1\n"), result
        return result.isolation["backend"] == "container"

    wait_until(contained, "runs to be in containers again")
    world.wait_parked()
    world.stop_and_look()
    assert places(world) == []


def sockets_left(world):
    return [path for path in pathlib.Path(world.directory).rglob("join")]


# ---- the daemon ----


@pytest.mark.everywhere
@BOTH
def test_daemon_killed_in_mid_run(make_contained, kind):
    world = make_contained(kind=kind)
    runs = [world.start_named() for _ in range(2)]
    label, traces = world.label(), world.traces()
    harness.Process(world.daemon()).signal(signal.SIGKILL)
    for run in runs:
        _, err = run.process.communicate(timeout=DEADLINE)
        assert run.process.returncode == 125
    wait_empty(world, label)
    traces.wait_gone(DEADLINE)
    assert not [run for run in runs if with_name(run.name)]
    settle(world)
    assert not sockets_left(world)


def test_daemon_killed_with_all_that_is_its(make_contained):
    """Nobody is left to remove the containers but those that are asked for by the next daemon."""
    world = make_contained()
    run = world.start_named()
    label, pid = world.label(), world.daemon()
    mine = [harness.Process(pid), *launchers(pid)]
    assert len(mine) > 1
    for process in mine:
        process.signal(signal.SIGSTOP)
    for process in mine:
        process.signal(signal.SIGKILL)
    run.process.communicate(timeout=DEADLINE)
    wait_until(lambda: not with_name(run.name), "its process to be gone")
    settle(world)
    wait_empty(world, label)


def test_daemon_killed_while_a_container_starts(make_contained, mortal_engine):
    engine = mortal_engine()
    world = make_contained()
    run = world.adder.start("print(1)", *PROFILE)
    wait_until(world.adder.daemon, "the daemon")
    label = world.label()
    wait_until(lambda: world.containers(label), "a container to be made")
    engine.freeze()
    traces = world.traces()
    harness.Process(world.daemon()).signal(signal.SIGKILL)
    run.communicate(timeout=DEADLINE)
    engine.thaw()
    traces.wait_gone(DEADLINE)
    wait_empty(world, label)
    settle(world)


def test_launcher_killed_in_mid_run(make_contained):
    """Either the run goes on or it ends; its container does not stay."""
    world = make_contained()
    run = world.start_named(timeout=ENDED_BY_TIME)
    for process in launchers(world.daemon()):
        process.signal(signal.SIGKILL)
    assert run.end().outcome in ("timeout", "failed", "crashed")
    run.wait_gone()
    settle(world)


# ---- what others left ----


def test_leftovers_are_removed_and_others_are_not(make_contained, user):
    """By label: of a daemon that is dead or of another boot, of this user. Not: of a living one, of
    another user, of where process ids mean others, of nobody."""
    world = make_contained()
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    here, elsewhere = f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}", f"{boot}:1"
    me = harness.Process(os.getpid())
    dead, living = f"{me.pid}:{me.start + 1}", f"{me.pid}:{me.start}"

    def left(daemon, owner=user.uid, host=here):
        labels = {"adder.daemon": daemon, "adder.owner": str(owner), "adder.host": host} if daemon else {}
        return world.engine.run_bare("sleep", "1000", labels=labels)

    gone = [left(dead), left(living, host="an-earlier-boot")]
    kept = [left(living), left(dead, owner=user.uid + 1), left(dead, host=elsewhere), left(None)]
    try:
        world.run("print(1)")
        there = lambda: {container["Id"] for container in world.engine.containers()}  # noqa: E731
        wait_until(lambda: not there() & set(gone), "the leftovers to be removed")
        assert set(kept) <= there()
    finally:
        for container in gone + kept:
            world.engine.remove(container)
    world.stop_and_look()


# ---- the engine ----


@pytest.mark.everywhere
@BOTH
def test_engine_killed_in_mid_run(make_contained, mortal_engine, kind):
    """It is started again later; then nothing is left in it."""
    engine = mortal_engine(kind)
    world = make_contained(kind=kind)
    run = world.start_named(timeout=ENDED_BY_TIME)
    label = world.label()
    engine.kill()
    result = run.end()
    assert result.outcome in ("timeout", "failed", "crashed"), result
    wait_until(lambda: not with_name(run.name), "its process to be gone")
    while_away = world.run_or_fall_back("print(2)")
    assert (while_away.outcome, while_away.stdout) == ("ok", "2\n"), while_away
    engine.up()
    wait_until(lambda: run.container not in world.containers(label), "its container to be gone")
    settle(world)
    wait_empty(world, label)


def test_engine_and_daemon_killed(make_contained, mortal_engine):
    engine = mortal_engine()
    world = make_contained()
    run = world.start_named()
    # Of what an engine that died was just asked to make nobody knows for a minute whether it will.
    wait_until(lambda: world.pool()["parked"] == 1 and not world.pool()["parking"], "a container to be parked")
    label, traces = world.label(), world.traces()
    engine.kill()
    harness.Process(world.daemon()).signal(signal.SIGKILL)
    run.process.communicate(timeout=DEADLINE)
    wait_until(lambda: not with_name(run.name), "its process to be gone")
    engine.up()
    traces.wait_gone(DEADLINE)  # a launcher waits for the engine, for some minutes
    settle(world)
    wait_empty(world, label)


def test_engine_that_is_shut_down(make_contained, mortal_engine):
    """As the host's `systemctl stop docker` would: it ends its containers."""
    engine = mortal_engine()
    world = make_contained()
    run = world.start_named()
    label = world.label()
    # One that is being made when the engine goes may outlive it.
    wait_until(lambda: world.pool()["parked"] and not world.pool()["parking"], "a container to be parked")
    engine.down()
    result = run.end()
    assert result.outcome in ("failed", "crashed"), result
    # One that waits ends with the engine too; until then it serves.
    wait_until(lambda: not world.pool()["parked"] and not world.pool()["parking"], "no container to be parked")
    native(world.run_or_fall_back("print(1)"))
    engine.up()
    settle(world)
    wait_empty(world, label)


def test_engine_that_hangs(make_contained, mortal_engine):
    """A run does not wait for ever: the native sandbox takes over."""
    engine = mortal_engine()
    world = make_contained(start_ms="8s")
    engine.freeze()
    result = world.run_or_fall_back("print(1)")
    assert (result.outcome, result.stdout) == ("ok", "1\n"), result
    native(result)
    engine.thaw()
    world_settled(world)


def world_settled(world):
    def contained():
        return world.run_or_fall_back("print(1)").isolation["backend"] == "container"

    wait_until(contained, "runs to be in containers again")
    world.stop_and_look()


def test_engine_that_hangs_in_mid_run(make_contained, mortal_engine):
    """The run is ended in time, as no engine is needed for that; the container goes when the engine can."""
    engine = mortal_engine()
    world = make_contained()
    run = world.start_named(timeout=ENDED_BY_TIME)
    label = world.label()
    engine.freeze()
    try:
        result = run.end()
        assert result.outcome == "timeout", result
        wait_until(lambda: not with_name(run.name), "its process to be gone")
    finally:
        engine.thaw()
    wait_until(lambda: run.container not in world.containers(label), "its container to be gone")
    settle(world)


def test_an_image_that_is_removed(make_contained, mortal_engine):
    """Those that are parked still serve, or a sandbox of the host's does; built anew, it is used again."""
    engine = mortal_engine()
    world = make_contained()
    world.run("print(1)")
    world.wait_parked()
    engine.ask("POST", f"/v1.41/images/{docker_world.IMAGE}/tag?repo=localhost/kept&tag=latest")
    engine.ask("DELETE", f"/v1.41/images/{docker_world.IMAGE}")

    def fell_back():
        result = world.run_or_fall_back("print(1)")
        assert (result.outcome, result.stdout) == ("ok", "1\n"), result
        return result.isolation["backend"] == "native"

    try:
        wait_until(fell_back, "the image to be missed")
    finally:
        engine.ask("POST", "/v1.41/images/localhost/kept:latest/tag?repo=localhost/adder&tag=latest")
    world_settled(world)


# ---- containers ----


def test_paused_while_parked(make_contained):
    """The run that is given it does not hang, and the next one works."""
    world = make_contained()
    world.run("print(1)")
    [container] = world.wait_parked()
    world.engine.pause(container)
    assert world.run_or_fall_back("print(1)", "--timeout", "2s").outcome in ("timeout", "failed", "ok")
    result = world.run_or_fall_back("print(1)")
    assert (result.outcome, result.stdout) == ("ok", "1\n"), result
    settle(world)


def test_first_process_killed_while_parked(make_contained):
    world = make_contained()
    world.run("print(1)")
    [container] = world.wait_parked()
    starts = world.pool()["starts"]
    harness.Process(world.engine.inspect(container)["State"]["Pid"]).signal(signal.SIGKILL)
    # A run that comes before the daemon sees the end may have begun in it, so it is told to run again.
    wait_until(lambda: world.pool()["starts"] > starts, "another container to be started")
    assert world.run("print(1)").stdout == "1\n"
    settle(world)


def test_daemon_that_is_stopped(make_contained):
    """With runs under way and containers parked, and at once."""
    world = make_contained()
    run = world.start_named()
    world.stop_and_look()
    assert run.process.wait(DEADLINE) != 0
    assert not with_name(run.name)
    assert places(world) == [] and not sockets_left(world)


@pytest.mark.slow
def test_many_at_once_and_the_daemon_dies(make_contained):
    """Ten runs, at every stage of their starts: none of their containers stays."""
    world = make_contained("[pool]\nmax_running = 10\nmax_memory = 64G\n")
    world.run("print(1)")
    label, name = world.label(), harness.unique()
    runs = [world.adder.start(named(name, SLEEPING), *PROFILE, "--timeout", "10min") for _ in range(10)]
    wait_until(lambda: len(with_name(name)) >= 2, "some of the runs to be under way")
    traces = world.traces()
    harness.Process(world.daemon()).signal(signal.SIGKILL)
    for run in runs:
        run.communicate(timeout=DEADLINE)
    traces.wait_gone(DEADLINE)
    wait_empty(world, label)
    assert not with_name(name)
    settle(world)
