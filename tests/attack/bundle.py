# SPDX-License-Identifier: Apache-2.0
"""Many attacks in one run: each in a process of its own, in a directory of its own. For where a run is dear, as a container is.

Only attacks that must be refused are bundled, since their own output says it all; what they did to the bait is the bundle's as a
whole, and so is the way in which the run ends."""
import json

import casebook

PREFIX = "bundle: "

DRIVER = """
import io, json, os, signal, sys
def play(name, code, files):
    directory = os.path.join(os.getcwd(), name.replace("/", "."))
    os.mkdir(directory)
    os.chdir(directory)
    for file, text in files.items():
        with open(file, "w") as written:
            written.write(text)
    sys.path.insert(0, directory)
    sys.argv = [name]
    exec(compile(code, name, "exec"), {"__name__": "__main__"})
    sys.stdout.flush()
def told(name, code, files):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.close(writer)
            sys.stdout = sys.stderr = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
            signal.alarm(ALARM)
            play(name, code, files)
            status = 0
        except BaseException as error:
            print("the case raised", repr(error), flush=True)
        finally:
            os._exit(status)
    os.close(writer)
    text = b""
    while part := os.read(reader, 1 << 16):
        text += part
    os.close(reader)
    os.waitpid(pid, 0)
    return text.decode(errors="replace")
with open("cases.json") as file:
    cases = json.load(file)
for case in cases:
    print(PREFIX + json.dumps([case["name"], told(**case)]), flush=True)
"""

ALARM = 60  # seconds for one of them


def fits(case):
    """It has nothing of its own that a whole run is needed for: limits, another file, a victim, a process left behind."""
    return (
        case.kind == "refused"
        and not (case.victim or case.bind or case.limits or "ATTACK_TOKEN" in case.code)
        and all(path.name in NAMES_BESIDE for path in case.files)
        and not case.whole
    )


NAMES_BESIDE = tuple(path.name for path in casebook.CASES.glob("*.py"))


def code():
    return DRIVER.replace("PREFIX", repr(PREFIX)).replace("ALARM", str(ALARM))


def content(cases):
    """What lies beside the code as cases.json."""
    return json.dumps(
        [
            {"name": case.name, "code": case.code, "files": {path.name: path.read_text() for path in case.files}}
            for case in cases
        ]
    )


def outputs(stdout):
    """Case by name: what it printed."""
    lines = [line.removeprefix(PREFIX) for line in stdout.splitlines() if line.startswith(PREFIX)]
    return dict(json.loads(line) for line in lines)
