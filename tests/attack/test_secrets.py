# SPDX-License-Identifier: Apache-2.0
"""Secrets of a daemon and of its callers, looked for from inside and from outside.

No cases: the one takes runs before it, whose code, variables, input and arguments are looked for, and a daemon of its own with
a configuration; the other looks from the host."""
import hashlib
import os
import pathlib
import secrets


def test_secrets_of_the_daemon_are_not_in_memory(make_adder, shared_adder):
    """A secret in the daemon's environment and configuration, another in a run before: none is in what a sandbox can read."""
    secret = {
        name: f"QZ{secrets.token_hex(16)}ZQ"
        for name in ("environment", "configuration", "code", "variable", "stdin", "argument")
    }
    adder = make_adder(
        f"# {secret['configuration']}\n", variables={"ADDER_TEST_SECRET": secret["environment"]}
    )
    adder.environment = shared_adder.environment
    adder.run(
        f"x = '{secret['code']}'\n" "import os, sys\n" "sys.stdin.read()",
        "--set-env",
        f"SECRET={secret['variable']}",
        "--stdin",
        adder.file("in", secret["stdin"]),
    )
    adder.json("--env", adder.environment, adder.file("x.py", "1"), "--", secret["argument"])
    script = """
import ctypes, hashlib, json, os, re, sys
wanted = set(sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
pattern = re.compile(rb"Q[Z][0-9a-f]{32}Z[Q]")
found, looked = [], 0
def look(data):
    for match in pattern.finditer(data):
        if hashlib.sha256(match.group()).hexdigest() in wanted: found.append(match.group().decode())
# Through a file: write(2) answers EFAULT where reading directly would be a fault.
for line in open("/proc/self/maps").read().splitlines():
    span, mode = line.split()[:2]
    if "r" not in mode or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")): continue
    start, end = (int(x, 16) for x in span.split("-"))
    for at in range(start, end, 4 << 20):
        fd = os.open("/work/chunk", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        written = libc.write(fd, at, min(4 << 20, end - at) + (64 if at + (4 << 20) < end else 0))
        if written > 0:
            looked += written
            with open("/work/chunk", "rb") as file: look(file.read())
        os.close(fd)
for base in ("/proc/self", "/proc/1"):
    for name in ("environ", "cmdline", "auxv", "comm", "cgroup", "mountinfo", "status", "limits", "stat"):
        try: look(open(f"{base}/{name}", "rb").read())
        except OSError: pass
os.unlink("/work/chunk")
print(json.dumps([found, looked]))
"""
    hashes = [hashlib.sha256(value.encode()).hexdigest() for value in secret.values()]
    result = adder.json(
        "--env",
        adder.environment,
        "--timeout",
        "100",
        "--limit",
        "cpu_ms=100000",
        adder.file("look.py", script),
        "--",
        *hashes,
    )
    assert result.outcome == "ok"
    found, looked = result.told()
    assert looked > 1 << 20, "it did look"
    assert found == [], [name for name in secret if secret[name] in found]

    # And the search does find what is there.
    planted = adder.file(
        "planted.py", script.replace("found, looked", f"planted = {secret['code']!r}\n" "found, looked", 1)
    )
    assert adder.json(
        "--env", adder.environment, "--timeout", "100", "--limit", "cpu_ms=100000", planted, "--", *hashes
    ).told()[0]
    adder.stop()


def test_process_list_of_the_host_shows_no_secret(make_adder):
    """Code, variables and arguments of a run do not stand in any command line that other users of the host can read."""
    adder = make_adder()
    word = secrets.token_hex(8)
    script = adder.file("x.py", f"# {word}\nprint('started', flush=True)\nimport time\ntime.sleep(1000)")
    process = adder.popen("run", "--env", "system", "--set-env", f"X={word}", script)
    assert process.stdout.readline() == b"started\n"
    shown = []
    for entry in os.listdir("/proc"):
        try:
            line = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if entry.isdigit() and word.encode() in line and b"--set-env" not in line:
            shown.append(line)
    process.terminate()
    process.communicate(timeout=60)
    assert shown == []
    adder.stop()
