# SPDX-License-Identifier: Apache-2.0
"""`adder doctor` on hosts that offer less. Each is made here for real, for the one command: by namespaces, a chroot, or
a system call filter such as a container has. What cannot be made here (AppArmor, Debian's older setting, other kernels)
is in tests/unit/test_sandbox_probe.c."""
import ctypes
import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import harness

pytestmark = pytest.mark.both_users

MECHANISMS = ["kernel", "user namespaces", "/proc", "seccomp", "landlock", "control groups", "huge pages"]

# With a filter of libseccomp's making: NAME=ERRNO for each call, then the command.
FILTER = r"""
import ctypes, errno, os, sys
library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(0x7FFF0000))
NAMESPACES = 0x7E020000


class Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


command = sys.argv.index("--")
for rule in sys.argv[1:command]:
    name, error = rule.split("=")
    number = library.seccomp_syscall_resolve_name(name.encode())
    action = ctypes.c_uint32(0x00050000 | getattr(errno, error))
    if name == "clone":  # only with namespaces, as in Docker's profile
        for bit in range(32):
            if NAMESPACES & 1 << bit:
                rule = Compare(0, 7, 1 << bit, 1 << bit)
                assert library.seccomp_rule_add_array(context, action, number, 1, ctypes.byref(rule)) == 0
    else:
        assert library.seccomp_rule_add_array(context, action, number, 0, None) == 0
assert library.seccomp_load(context) == 0
os.execv(sys.argv[command + 1], sys.argv[command + 1:])
"""


def read(ended):
    """The object of `adder doctor --json`, held against its contract."""
    harness.gathered.append((ended.args, ended.returncode, ended.stdout, ended.stderr))
    told = harness.strict_json(ended.stdout)
    assert [line["name"] for line in told["mechanisms"]] == MECHANISMS
    for line in told["mechanisms"]:
        assert line["state"] and line["text"] and line["cost"], "each fact says what it costs to do without"
        assert line["good"] == (line["remedy"] is None), "what is not good says how to get it"
    tried = told["trial"] and told["trial"]["outcome"] == "ok"
    assert tried or told["problems"] or told["trial"]["message"], "a run that does not work says why"
    assert ended.returncode == (0 if told["level"] >= 2 and tried else 1)
    return {line["name"]: line for line in told["mechanisms"]}, told


def doctor(adder, *before, **options):
    """`adder doctor --json` as the last words of the command BEFORE."""
    if before and not shutil.which(before[0]):
        pytest.skip(f"no {before[0]} on this host")
    ended = subprocess.run(
        [*adder.user.prefix, *before, str(adder.installation.program), "doctor", "--json"],
        cwd=adder.scratch,
        env=adder.process_environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        **options,
    )
    assert ended.stdout, f"{ended.args}: {ended.stderr}"
    return read(ended)


def apart(adder, preparation, *namespaces):
    """The words that make namespaces of the test's own and run the shell's PREPARATION in them. Otherwise one for
    mounts: an ordinary user needs a user namespace for it."""
    unshare = ["unshare", *(namespaces or ["-m" if adder.user.uid == 0 else "-Urm"])]
    if subprocess.run([*adder.user.prefix, *unshare, "true"], cwd=adder.scratch, capture_output=True).returncode != 0:
        pytest.skip("user namespaces cannot be made here")
    return [*unshare, "sh", "-ec", f'{preparation}\nexec "$@"', "sh"]


def filtered(*rules):
    python = next((path for path in ("/usr/bin/python3", sys.executable) if os.path.exists(path)))
    return [python, "-I", "-c", FILTER, *rules, "--"]


@pytest.mark.quick
def test_this_host(make_adder):
    facts, told = doctor(make_adder())
    assert facts["user namespaces"]["state"] == "ok" and facts["seccomp"]["state"] == "ok"
    assert told["level"] == told["trial"]["level"]


def test_text_says_costs_and_remedies(make_adder):
    adder = make_adder()
    before = apart(adder, "mount -t tmpfs none /sys/fs/cgroup")
    _, told = doctor(adder, *before)
    ended = subprocess.run(
        [*adder.user.prefix, *before, str(adder.installation.program), "doctor"],
        cwd=adder.scratch,
        env=adder.process_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    for line in told["mechanisms"]:
        assert line["text"] in ended.stdout
        assert (line["cost"] in ended.stdout) == (not line["good"])
        assert line["good"] or line["remedy"] in ended.stdout


# ---- what other users and neighbours could use ----


def surroundings(told):
    return {row["name"]: row for row in told["surroundings"]}


@pytest.mark.parametrize("mode, state", [(0o755, "own"), (0o777, "exposed")])
def test_where_the_runtime_directory_lies(make_adder, mode, state):
    adder = make_adder()
    place = adder.folder("place")
    place.chmod(mode)
    adder.variables["ADDER_RUNTIME_DIR"] = str(place / "run")
    row = surroundings(doctor(adder)[1])["runtime"]
    assert (row["state"], row["good"]) == (state, state == "own") and str(place) in row["text"]
    assert ("XDG_RUNTIME_DIR" in (row["remedy"] or "")) == (state == "exposed")


@pytest.mark.parametrize("state", ["shared", "private"])
def test_propagation_of_mounts(make_adder, state):
    if os.geteuid() != 0:
        pytest.skip("only root shares mounts")
    adder = make_adder()
    adder.user = harness.User(adder.user.name, adder.user.uid, ["unshare", "-m", "--propagation", state, *adder.user.prefix])
    row = surroundings(doctor(adder)[1])["mounts"]
    assert (row["state"], row["good"], row["remedy"]) == (state, True, None)


def test_switches_of_the_kernel(make_adder):
    rows = surroundings(doctor(make_adder())[1])
    for name, path in (("SMT", "/sys/devices/system/cpu/smt/active"), ("KSM", "/sys/kernel/mm/ksm/run")):
        if os.path.exists(path):
            on = pathlib.Path(path).read_text() == "1\n"
            assert (rows[name]["state"], rows[name]["good"], bool(rows[name]["remedy"])) == ("on" if on else "off", not on, on)
        else:
            assert name not in rows


@pytest.mark.parametrize("installed", [True, False])
def test_module_of_a_cluster(make_adder, installation, installed):
    """It is named where a cluster is configured. Without it the daemon does not start."""
    assert "cluster" not in surroundings(doctor(make_adder())[1])
    module = installation.prefix / "libexec/adder/adder-nats.so"
    if installed and not module.exists():
        pytest.skip("built without libnats")
    adder = make_adder()
    secret = adder.file("secret", "0123456789abcdef" * 4)
    secret.chmod(0o600)
    adder.configure(f"[cluster]\nnats = nats://127.0.0.1:1\nsecret_file = {secret}\n")
    if not installed:
        programs = adder.folder("libexec") / "adder"
        shutil.copytree(module.parent, programs, ignore=shutil.ignore_patterns(module.name))
        adder.variables["ADDER_LIBEXECDIR"] = str(programs)
    row = surroundings(doctor(adder)[1])["cluster"]
    assert (row["state"], row["good"]) == (("installed", True) if installed else ("missing", False))
    assert ("libnats 3." if installed else "cannot load adder-nats") in row["text"]
    if not installed:
        assert "Debian package adder-nats" in row["remedy"]
        started = adder.call("serve", "--background")
        assert started.returncode != 0 and "cannot load adder-nats" in started.stderr, started


SCHED_CORE_GET = (62, 0, 0, 0)  # prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, this process, PR_SCHED_CORE_SCOPE_THREAD, ...)


@pytest.mark.parametrize("words", ["none", "store_bypass core_scheduling"])
@pytest.mark.parametrize("threads", [0, 1])
def test_core_scheduling(make_adder, threads, words):
    """As the kernel answers, on a host whose cores have two threads, and on one whose cores have not."""
    path = "/sys/devices/system/cpu/smt/active"
    if not os.path.exists(path):
        pytest.skip(f"this kernel has no {path}")
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.prctl(*SCHED_CORE_GET, ctypes.byref(ctypes.c_uint64()))
    unneeded = not threads or (found < 0 and ctypes.get_errno() == errno.ENODEV)
    expected = "unneeded" if unneeded else "unavailable" if found < 0 else "on" if "core" in words else "off"
    adder = make_adder(f"[sandbox]\nmitigations = {words}\n")
    active = adder.file("active", f"{threads}\n")
    row = surroundings(doctor(adder, *apart(adder, f"mount --bind {active} {path}"))[1])["core scheduling"]
    assert (row["state"], row["good"]) == (expected, expected in ("unneeded", "on"))
    assert bool(row["remedy"]) == (not row["good"])


# ---- user namespaces ----


def test_no_user_namespaces_are_left(make_adder):
    adder = make_adder()
    facts, told = doctor(adder, *apart(adder, "echo 0 > /proc/sys/user/max_user_namespaces", "-Ur"))
    assert facts["user namespaces"]["state"] == "max_user_namespaces"
    assert "is 0" in facts["user namespaces"]["text"] and "sysctl -w" in facts["user namespaces"]["remedy"]
    assert facts["/proc"]["state"] == "untried"
    assert told["level"] < 2


def test_user_namespaces_are_used_up(make_adder):
    """The limit counts those below: the one that the doctor is in is the last that may be."""
    adder = make_adder()
    before = apart(
        adder,
        'echo 1 > /proc/sys/user/max_user_namespaces\nset -- unshare -U --map-user=7 --map-group=7 "$@"',
        "-Ur",
    )
    facts, _ = doctor(adder, *before)
    assert facts["user namespaces"]["state"] == "max_user_namespaces"


@pytest.mark.parametrize(
    "rules",
    [
        ["clone3=ENOSYS", "clone=EPERM", "unshare=EPERM"],
        ["unshare=EPERM", "mount=EPERM", "fsopen=EPERM"],
    ],
    ids=["as Docker does", "no mounts"],
)
def test_filter_of_a_container(make_adder, rules):
    facts, told = doctor(make_adder(), *filtered(*rules))
    assert facts["user namespaces"]["state"] == "seccomp"
    assert "container" in facts["user namespaces"]["text"] and "seccomp" in facts["user namespaces"]["remedy"]
    assert told["level"] < 2


# What a chroot needs to hold for the program to start there. The shell stays outside of it.
JAIL = """
for each in usr bin lib lib64 etc dev var proc sys; do
  [ -e /$each ] || continue
  if [ -L /$each ]; then cp -P /$each "{jail}/"; else mkdir "{jail}/$each"; mount --rbind /$each "{jail}/$each"; fi
done
chroot "{jail}" "$@"
exit
"""


@pytest.mark.parametrize("mounted", [False, True], ids=["a directory", "a mount"])
def test_chroot(make_adder, user, mounted):
    """Of a chroot into a directory mountinfo tells; of one into a mount, that pid 1 has another root."""
    if user.uid != 0:
        pytest.skip("only root may chroot outside of a user namespace")
    adder = make_adder()
    jail = adder.folder("jail")
    preparation = JAIL.format(jail=jail)
    if mounted:
        preparation = f'mount -t tmpfs none "{jail}"\n{preparation}'
    facts, told = doctor(adder, *apart(adder, preparation, "-mpf", "--mount-proc"))
    assert facts["user namespaces"]["state"] == "chroot"
    assert "pivot_root" in facts["user namespaces"]["remedy"] and told["level"] < 2


# ---- the rest ----


def test_masked_proc(make_adder):
    adder = make_adder()
    facts, _ = doctor(adder, *apart(adder, "mount --bind /dev/null /proc/version"))
    assert facts["user namespaces"]["state"] == "ok" and facts["/proc"]["state"] == "masked"
    assert "unmasked" in facts["/proc"]["remedy"]


@pytest.mark.parametrize(
    "rules, state",
    [
        (["landlock_create_ruleset=EOPNOTSUPP"], "off"),
        (["landlock_create_ruleset=ENOSYS"], "seccomp"),
        (["landlock_create_ruleset=EPERM"], "seccomp"),
    ],
    ids=["switched off", "not known", "refused"],
)
def test_without_landlock(make_adder, rules, state):
    facts, told = doctor(make_adder(), *filtered(*rules))
    assert facts["landlock"]["state"] == state and facts["landlock"]["remedy"]
    assert facts["user namespaces"]["state"] == "ok"
    assert told["level"] >= 2, "landlock deepens what other mechanisms hold"
    assert told["trial"]["outcome"] == "ok" and "landlock" in told["trial"]["missing"]


def test_filters_are_refused(make_adder):
    """A container whose filter allows no further ones; here made in the kernel's own words, since it needs no seccomp()
    after it was loaded."""
    facts, told = doctor(make_adder(), *filtered("seccomp=ENOSYS"))
    assert facts["seccomp"]["state"] == "seccomp" and told["level"] == 0


def test_without_control_groups(make_adder):
    adder = make_adder()
    facts, told = doctor(adder, *apart(adder, "mount -t tmpfs none /sys/fs/cgroup"))
    assert facts["control groups"]["state"] == "none"
    assert (told["level"], told["trial"]["level"], told["trial"]["missing"]) == (2, 2, ["cgroup"])


def mounted_groups():
    """Which kinds of control groups with controllers this host has mounted."""
    kinds = set()
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        kind, _, options = line.split(" - ")[1].split(" ")[:3]
        if kind == "cgroup2":
            kinds.add("v2")
        elif kind == "cgroup" and {"memory", "pids"} & set(options.split(",")):
            kinds.add("v1")
    return kinds


def test_control_groups_of_this_host(make_adder, user):
    facts, told = doctor(make_adder())
    state = facts["control groups"]["state"]
    allowed = {
        frozenset(): {"none"},
        frozenset({"v1"}): {"v1", "v1-foreign"},
        frozenset({"v2"}): {"v2", "v2-undelegated"},
        frozenset({"v1", "v2"}): {"mixed", "mixed-foreign", "v2", "v2-undelegated"},
    }[frozenset(mounted_groups())]
    assert state in allowed
    assert (told["level"] == 3) == facts["control groups"]["good"]
    if user.uid != 0:
        assert state not in ("v1", "mixed"), "v1 is root's alone"


def test_v2_without_its_controllers(make_adder, user):
    if user.uid != 0 or "v1" not in mounted_groups():
        pytest.skip("needs root, on a host whose controllers are in v1")
    adder = make_adder()
    only_v2 = "umount -l -R /sys/fs/cgroup\nmount -t cgroup2 none /sys/fs/cgroup"
    facts, _ = doctor(adder, *apart(adder, only_v2))
    assert facts["control groups"]["state"] == "v2-undelegated"
    assert "memory" in facts["control groups"]["text"] and "Delegate" in facts["control groups"]["remedy"]


def test_v1_alone(make_adder, user):
    if user.uid != 0 or mounted_groups() != {"v1", "v2"}:
        pytest.skip("needs root, on a host with both kinds")
    adder = make_adder()
    only_v1 = "for tree in $(findmnt -rno TARGET -t cgroup2); do umount -l $tree; done"
    facts, told = doctor(adder, *apart(adder, only_v1))
    assert facts["control groups"]["state"] == "v1" and told["level"] == 3


# ---- the policy ----


@pytest.fixture
def policy(adder):
    ended = adder.call("doctor", "--policy", "--json")
    assert ended.returncode == 0 and ended.stderr == ""
    return harness.strict_json(ended.stdout)


def test_policy_says_what_happens_by_default(policy):
    assert policy["default"] == "ENOSYS" and policy["foreign"] == "kill" and policy["instructions"] > 100
    if os.uname().machine == "x86_64":
        assert policy["foreign_calls"] == "i386 and x32"


def test_every_rule_has_a_reason(policy):
    for rule in policy["rules"]:
        assert rule["reason"] and rule["calls"] and rule["when"]
        assert rule["verdict"] in ("allow", "pretend") or rule["verdict"].startswith("E")
        assert (rule["argument"] is None) == (rule["values"] == []) == (rule["compare"] == "any")


# The policy tells what the kernel does: a call of each kind, made in a sandbox with arguments that the kernel itself would
# refuse otherwise. (Those that would stop or end the process are not tried.)
TRY = """
import ctypes, errno, json
numbers = {numbers}
syscall = ctypes.CDLL(None, use_errno=True).syscall
said = {{}}
for name, number in numbers.items():
    ctypes.set_errno(0)
    result = syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    said[name] = errno.errorcode.get(ctypes.get_errno(), "ok") if result == -1 else "ok"
print(json.dumps(said))
"""


def number_of(name):
    import ctypes

    try:
        return ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(name.encode())
    except OSError:
        pytest.skip("no libseccomp that tells the numbers of calls")


def test_policy_is_what_sandboxes_get(adder, policy):
    expected = {}
    for rule in policy["rules"]:
        if not rule["applies"] or rule["values"]:
            continue
        if rule["verdict"] in ("EPERM", "ENOSYS"):
            expected.update({name: rule["verdict"] for name in rule["calls"]})
        if rule["verdict"] == "pretend":
            expected.update({name: "ok" for name in rule["calls"]})
    expected = {name: verdict for name, verdict in expected.items() if name not in policy["unknown"]}
    numbers = {name: number_of(name) for name in expected}
    result = adder.run(TRY.format(numbers=json.dumps(numbers)))
    assert result.outcome == "ok" and result.told() == expected


def test_policy_as_text(adder, policy):
    told = adder.call("doctor", "--policy")
    assert told.returncode == 0 and told.stderr == "" and "\x1b" not in told.stdout
    words = " ".join(told.stdout.split())
    for rule in policy["rules"]:
        assert rule["reason"] in words and " ".join(rule["calls"]) in words
        assert rule["when"] == "always" or rule["when"] in words
    assert f"{policy['instructions']} instructions" in words and policy["foreign_calls"] in words
    assert max(map(len, told.stdout.splitlines())) <= 100


def test_policy_follows_the_configuration(make_adder):
    """Without a control group, memory that nobody has mapped is refused, and the policy says that it is."""
    adder = make_adder("[sandbox]\ncgroup = none\n")
    told = harness.strict_json(adder.call("doctor", "--policy", "--json").stdout)
    rule = next(rule for rule in told["rules"] if "memfd_create" in rule["calls"])
    assert told["memory_counted"] is False and rule["applies"] is False


def test_policy_without_landlock(make_adder):
    """Where abstract sockets are shared, no socket is made that could have a name."""
    adder = make_adder()
    ended = subprocess.run(
        [*adder.user.prefix, *filtered("landlock_create_ruleset=ENOSYS"), str(adder.installation.program),
         "doctor", "--policy", "--json"],
        cwd=adder.scratch, env=adder.process_environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    told = harness.strict_json(ended.stdout)
    sockets = [rule for rule in told["rules"] if "socket" in rule["calls"] and rule["applies"]]
    assert told["landlock"] == 0 and [rule["verdict"] for rule in sockets] == ["EAFNOSUPPORT"]


# ---- containers ----


def look_at_containers(adder):
    told = harness.strict_json(adder.call("doctor", "--json").stdout)["containers"]
    assert all(check["text"] for check in told["checks"])
    return told, {check["name"]: check for check in told["checks"]}


def test_containers_without_an_engine(make_adder):
    adder = make_adder("[container]\nsocket = /nowhere/engine.sock\n")
    told, checks = look_at_containers(adder)
    assert told["ready"] is False and told["engine"] is None and told["trial"] is None
    assert list(checks) == ["engine"] and not checks["engine"]["good"]
    assert "/nowhere/engine.sock" in checks["engine"]["text"] and "systemctl start docker" in checks["engine"]["text"]
    ended = adder.call("doctor")
    assert ended.returncode == 0, "the host's own sandboxes are enough"
    assert checks["engine"]["text"] in ended.stdout and "have a sandbox of the host's" in ended.stdout


@pytest.mark.slow
def test_containers_with_an_engine(make_contained):
    contained = make_contained()
    told, checks = look_at_containers(contained.adder)
    assert told["ready"] is True and told["engine"] == "docker" and told["engine_version"] and told["socket"], told
    assert told["runtime"] == "runc" and told["image"]["digest"] and told["image"]["warning"] is None
    assert told["trial"]["outcome"] == "ok" and told["trial"]["level"] == 3
    assert list(checks) == ["engine", "runtime", "image", "run"] and all(check["good"] for check in checks.values())


@pytest.mark.slow
def test_containers_without_an_image_or_a_runtime(make_contained):
    told, checks = look_at_containers(make_contained(image="localhost/nothing:latest").adder)
    assert not told["ready"] and told["image"] is None and "adder env image build" in checks["image"]["text"]
    told, checks = look_at_containers(make_contained(runtime="none-such").adder)
    assert not told["ready"] and "no runtime none-such" in checks["runtime"]["text"] and "runc" in told["runtimes"]
