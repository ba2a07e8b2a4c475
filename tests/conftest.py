# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end and attack suites. tests/README.md says how they are organised and run."""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import zlib

import pytest

# Caches the rewritten test modules: rewriting assertions costs each process seconds.
sys.dont_write_bytecode, sys.pycache_prefix = False, str(pathlib.Path(__file__).resolve().parent.parent / "build/pycache")
import contained as containers  # noqa: E402
import docker_world  # noqa: E402
import harness  # noqa: E402
import materials_world  # noqa: E402
import stored  # noqa: E402
import telegram_world  # noqa: E402


def pytest_configure(config):
    # What a shell starts in the background ignores these, and so would all that is started here, which tests interrupt.
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    config.addinivalue_line("markers", "quick: a fast, representative subset: -m quick")
    config.addinivalue_line("markers", "slow: takes more than some seconds: -m 'not slow' leaves it out")
    config.addinivalue_line("markers", "both_users: the result may depend on the user, so run as root and as nobody; other tests run as one of them")
    config.addinivalue_line("markers", "local: with the shared Adder, but not by HTTP: about what stays on one machine, or the daemon's own files")
    config.addinivalue_line("markers", "everywhere: of the tests with container engines, one for each engine and each user")
    config.addinivalue_line("markers", "deep: only with --deep, since it takes long and finds little")
    config.addinivalue_line("markers", "xdist_group: of pytest-xdist, which may not be there")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(NamesWithoutGroup())


def pytest_addoption(parser):
    parser.addoption("--deep", action="store_true", help="everything, also what adds little: all users, all levels, full crowds")
    parser.addoption("--cases", metavar="FILE", help="--cases=FILE: only the cases that FILE names, one on each line, as JUnit's XML does")


# Files that take long, or share what is dear, in the order in which they are best begun; the others follow.
FIRST = """
    test_small_model test_store_kills test_features test_setup test_broken test_review_commits test_bench test_search
    test_store_database test_telegram_faults test_local_socket test_records test_analyst_tools test_mcp_inspector test_daemon
    test_ask test_openapi test_telegram test_shell test_analysis test_ask_large test_endurance test_contract_agent test_network
""".split()


def user_of(item):
    return item.callspec.params.get("user") if hasattr(item, "callspec") else None


def is_about_users(item):
    """Attacks are, and choose for themselves."""
    return item.get_closest_marker("both_users") is not None or item.path.parent.name == "attack"


def pytest_itemcollected(item):
    """With pytest-xdist, one worker has the tests of a group: those of a file as one user, for they share servers and daemons,
    and those of all files that share the databases of materials."""
    group = f"{item.path.parent.name}/{item.path.stem} {user_of(item) or ''}"
    item.add_marker(pytest.mark.xdist_group("databases" if "databases" in getattr(item, "fixturenames", ()) else group.strip()))


class NamesWithoutGroup:
    """pytest-xdist appends the group to the names of tests, which are the same with it and without."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        report.nodeid = without_group(report.nodeid)


def without_group(name):
    return re.sub(r"@[^@\]]+$", "", name)


# A server that runs already, as "URL TOKEN": then only tests that need no more than the shared Adder are run, by its command
# line, from outside (e2e/test_server_image.py).
SERVER = dict(zip(("ADDER_URL", "ADDER_TOKEN"), os.environ.get("ADDER_TEST_SERVER", "").split()))
SHARED = {"adder", "shared_adder", "shared_adders", "installation", "common_directory", "user", "request", "forget_results"}


def is_for_any_server(item):
    names = set(item.fixturenames) - set(item.callspec.params if hasattr(item, "callspec") else ())
    return not SERVER or ("adder" in names and names <= SHARED and not item.get_closest_marker("local"))


class OfOneUser:
    """Keeps one user for each test that does not depend on the user. The choice varies by file; a test that names its user
    keeps that one."""

    def __init__(self, items):
        self.users = collections.defaultdict(set)
        for item in items:
            self.users[self.function(item)].add(user_of(item))

    @staticmethod
    def function(item):
        return item.path, item.parent.name, getattr(item, "originalname", item.name)

    def __call__(self, item):
        asked = [user for user in harness.users() if user in self.users[self.function(item)] and not user.why_not]
        return not asked or user_of(item) == asked[zlib.crc32(item.path.stem.encode()) % len(asked)]


def is_contained(item):
    return "container_engines" in getattr(item, "fixturenames", ())


def is_needed(item):
    """A container is dear. What it is made of and what it holds is tried once, with the first engine as the first user; what
    another engine or another user may change, with each of them beside."""
    everywhere = item.get_closest_marker("everywhere") and not docker_world.FIRST_ALONE
    if not is_contained(item) or docker_world.WHOLE or everywhere:
        return True
    params = item.callspec.params if hasattr(item, "callspec") else {}
    first_user = next((user for user in harness.users() if not user.why_not), None)
    others = params.get("user", first_user) != first_user, params.get("kind", docker_world.FIRST) != docker_world.FIRST
    return not any(others)


def is_named(cases, item):
    path, _, name = without_group(item.nodeid).partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}::{name}" in cases


@pytest.hookimpl(trylast=True)  # after -m and -k
def pytest_collection_modifyitems(config, items):
    asked = [is_needed, is_for_any_server]
    if not config.getoption("deep"):
        of_one_user = OfOneUser(items)
        asked.append(lambda item: not item.get_closest_marker("deep"))
        asked.append(lambda item: is_about_users(item) or is_contained(item) or of_one_user(item))
    if config.getoption("cases"):
        named = set(pathlib.Path(config.getoption("cases")).read_text().splitlines())
        asked.append(lambda item: is_named(named, item))
    chosen, others = [], []
    for item in items:
        (chosen if all(ask(item) for ask in asked) else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = sorted(chosen, key=turn)


def turn(item):
    """pytest-xdist hands out the groups in this order, in which their tests are together."""
    group = item.get_closest_marker("xdist_group").args[0]
    return *((FIRST.index(item.path.stem), "") if item.path.stem in FIRST else (len(FIRST), str(item.path))), group


def pytest_report_header(config):
    names = ", ".join(
        user.name + (f" (left out: {user.why_not})" if user.why_not else "") for user in harness.users()
    )
    return f"adder: build {harness.build_directory()}, run as {names}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        for entry in harness.gathered[-6:]:
            if isinstance(entry, harness.Result):
                report.sections.append(("result", repr(entry)))
            else:
                command, status, out, err = entry
                said = (
                    f"exit status {status}\n"
                    f"stdout: {harness.shortened(str(out))}\n"
                    f"stderr: {harness.shortened(str(err))}"
                )
                report.sections.append((f"{harness.shortened(' '.join(map(str, command)), 2000)}", said))


@pytest.fixture(autouse=True)
def forget_results():
    harness.gathered.clear()


@pytest.fixture(scope="session")
def common_directory():
    """A directory that every user of the suites can reach; pytest's own are for one user only. Not below /tmp, where no
    environment can lie: sandboxes have a /tmp of their own."""
    path = tempfile.mkdtemp(prefix="adder-tests-", dir="/var/tmp")
    os.chmod(path, 0o755)
    yield pathlib.Path(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def installation(common_directory):
    build = harness.build_directory()
    if not (build / "build.ninja").exists():
        pytest.exit(f"no build in {build}: set ADDER_BUILD, or run meson setup and ninja", 2)
    installed = harness.Installation(build, common_directory / "installed")
    mounts = harness.host_mounts()
    yield installed
    # Those that were killed last are on their way.
    with contextlib.suppress(AssertionError):
        harness.wait_until(lambda: not installed.processes(), "the end of all processes")
    left = installed.processes()
    assert not left, f"processes that outlived the suites: {left}"
    mounts = [line for line in harness.host_mounts() - mounts if str(common_directory) in line]
    assert not mounts, f"mounts that outlived the suites: {mounts}"


@pytest.fixture(scope="session", params=harness.users(), ids=lambda user: user.name)
def user(request):
    if request.param.why_not:
        pytest.skip(request.param.why_not)
    return request.param


def remove(entry):
    """What somebody else, such as the daemon, removes at the same time is no error."""

    def gone(_function, _path, caught):
        if not isinstance(caught[1], FileNotFoundError):
            raise caught[1]

    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, onerror=gone)
    else:
        entry.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def shared_adders(installation, common_directory):
    """{user: Adder}, each made when it is first wanted. They stay while tests change from one user to the other."""
    adders = {}
    yield adders
    with contextlib.ExitStack() as stack:
        for adder in adders.values():
            stack.callback(adder.kill)
            stack.callback(adder.stop)


@pytest.fixture(scope="session")
def shared_adder(installation, user, common_directory, shared_adders):
    """One user's Adder and daemon for all tests that leave it as it was."""
    if user not in shared_adders:
        adder = harness.Adder(installation, user, harness.new_directory(common_directory, user.name), variables=SERVER)
        adder.environment = "science" if adder.has_environment("science") else "system"
        shared_adders[user] = adder
    return shared_adders[user]


def with_empty_scratch(adder):
    for entry in adder.scratch.iterdir():
        remove(entry)
    return adder


@pytest.fixture
def adder(shared_adder, request):
    """The shared one, with an empty scratch directory, and without sessions of other files: which were run before is chance."""
    if shared_adder.used_by != request.path:
        harness.Sessions(shared_adder).make_room()
        shared_adder.used_by = request.path
    return with_empty_scratch(shared_adder)


def adders_of_their_own(installation, user, common_directory):
    made = []

    def make(config="", variables=None):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="own-", dir=common_directory))
        os.chmod(directory, 0o755)
        if "[environment]" not in config:
            config = "[environment]\ndefault = system\n" + config
        own = harness.Adder(installation, user, directory, config, variables)
        own.environment = "system"
        made.append(own)
        return own

    yield make
    for own in made:
        own.kill()
        shutil.rmtree(own.directory, ignore_errors=True)


@pytest.fixture
def make_adder(installation, user, common_directory):
    """Makes Adders with a daemon of their own, for tests that stop, kill or configure it. Environment: system."""
    yield from adders_of_their_own(installation, user, common_directory)


@pytest.fixture(scope="module")
def make_shared_adder(installation, user, common_directory):
    """The same for the tests of a file that need a configuration and leave the daemon as it was."""
    yield from adders_of_their_own(installation, user, common_directory)


@pytest.fixture
def own_adder(make_adder):
    return make_adder()


@pytest.fixture
def client_row(request):
    """Puts a row into the tables of docs/clients.md, which is there when the test passes (scripts/testing/clients_page.py)."""

    def put(section, client, version, reaches, changed="", tested="the client"):
        row = {"section": section, "client": client, "version": version, "reaches": reaches, "changed": changed, "tested": tested}
        request.node.user_properties.append(("client_row", json.dumps(row)))

    return put


@pytest.fixture
def sessions(adder):
    """Those of the shared Adder; what the test made is ended."""
    made = harness.Sessions(adder)
    yield made
    made.end_all()


@pytest.fixture
def make_sessions(make_adder):
    """Those of an Adder with a daemon and a configuration of its own."""
    return lambda config="": harness.Sessions(make_adder(config))


@pytest.fixture
def science(adder):
    """The shared Adder, for tests that need pandas and its like."""
    if adder.environment != "science":
        harness.skip_without("science")
    return adder


@pytest.fixture
def javascript(adder):
    """The shared Adder, for tests that need QuickJS."""
    if not adder.has_environment("javascript"):
        harness.skip_without("javascript")
    return adder


# ---- what is kept, on this machine and on servers ----


@pytest.fixture(scope="session")
def store_servers():
    """Servers that are started when they are first wanted, and shared."""
    servers = stored.Servers()
    yield servers
    servers.end()


def new_store(servers, kind, user):
    try:
        return stored.KINDS[kind](servers, user.uid)
    except FileNotFoundError as error:
        pytest.skip(str(error))


# Of modules, not of the session: pytest would put tests of all modules in the order of its values, and make and end what
# users share again and again.
@pytest.fixture(scope="module", params=stored.KINDS)
def store_kind(request):
    return request.param


@pytest.fixture
def make_store(store_servers, store_kind, user):
    """Makes empty stores of each kind; `config` is for the Adder that is to use it (stored.py)."""
    return lambda: new_store(store_servers, store_kind, user)


@pytest.fixture(scope="module")
def store_and_adder(installation, user, common_directory, store_servers, store_kind):
    directory = harness.new_directory(common_directory, f"{user.name}-{store_kind}")
    store = new_store(store_servers, store_kind, user)
    adder = harness.Adder(installation, user, directory, store.config)
    adder.environment = "science" if adder.has_environment("science") else "system"
    yield store.of(adder), adder
    try:
        adder.stop()
    finally:
        adder.kill()


@pytest.fixture
def store(store_and_adder):
    return store_and_adder[0]


@pytest.fixture
def kept_adder(store_and_adder):
    """One user's Adder that keeps things in `store`, and its daemon, for all tests that leave it as it was."""
    return with_empty_scratch(store_and_adder[1])


# ---- databases of materials ----


@pytest.fixture(scope="session")
def databases():
    """Real ones, shared: nobody can change them."""
    try:
        servers = materials_world.Databases()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    yield servers
    servers.end()


@pytest.fixture
def hostile():
    """Those that do what they should not, each test's own."""
    server = materials_world.Hostile()
    yield server
    server.end()


# ---- Telegram ----


@pytest.fixture
def telegram(adder):
    """Servers of the Bot API, and bots with the shared daemon. A test that passes has nothing misused and nothing told."""
    if adder.daemon() is None:
        adder.run("0")  # a bot would start it with its own configuration
    world = telegram_world.World(adder)
    try:
        yield world
        world.check()
    finally:
        world.end()


# ---- engines of containers ----


@pytest.fixture(scope="session")
def container_engines(installation):
    """Engines that have the image, started when they are first wanted, and shared."""
    engines = docker_world.Engines(installation.program)
    yield engines
    engines.end()


@pytest.fixture
def make_engine(container_engines):
    """Makes engines without an image for one test."""
    made = []

    def make(kind=docker_world.FIRST):
        try:
            made.append(container_engines.new(kind, with_image=False))
        except FileNotFoundError as error:
            pytest.skip(str(error))
        return made[-1]

    yield make
    for engine in made:
        engine.end()


@pytest.fixture
def mortal_engine(container_engines):
    """The shared engine of that kind, for a test that kills it, or asks for what all have in common."""
    used = []

    def get(kind=docker_world.FIRST):
        used.append(containers.engine_or_skip(container_engines, kind))
        return used[-1]

    yield get
    for engine in used:
        engine.revive()


@pytest.fixture
def make_contained(make_adder, mortal_engine, container_engines):
    """Makes Adders with a daemon of their own whose runs are in containers of the shared engine. One container waits, for each
    takes seconds to make."""
    made = []

    def make(config="", kind=docker_world.FIRST, parked=1, **container):
        engine = containers.engine_or_skip(container_engines, kind)
        made.append(containers.Contained(make_adder(config + engine.config(parked=parked, **container)), engine, parked))
        return made[-1]

    yield make
    for one in made:
        one.forget()
