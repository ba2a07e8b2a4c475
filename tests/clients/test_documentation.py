# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md and docs/*.md, run as they are written: those of a page one after the other, in a directory and
with a daemon of its own.

A command block is a fence of `sh`, `console` or `python`, or indented lines that begin with `$ ` or with `adder`. Output that a
page shows must come: `...` in it is anything, and ids, times and dates are those of the run. An id that was shown as output
stands for the real one in what follows. HTML comments before a block steer this: `<!-- not run: REASON -->`, and
`<!-- first: COMMANDS -->`, which runs commands that readers need not see, such as making a file; words of the block that are
variables of such commands (`ID`) have their values."""
import contextlib
import dataclasses
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

import harness
import ports
from harness import REPOSITORY

PAGES = ["README.md", *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs").glob("*.md"))]
ELSEWHERE = {
    "docs/http-routes.md": "its calls are of a server that others use at the same time",
    "docs/http.md": "not yet: its blocks are for a socket of another place, and nobody marked what cannot run",
    "docs/mcp.md": "test_mcp_page.py runs its examples",
    "docs/packages.md": "not yet: it needs an index (package_index.py)",
}
SECONDS = 2 * harness.DEADLINE  # for a command

FENCE = re.compile(r"```(\w*)$")
FIRST = re.compile(r"<!-- first: (.*?)-->", re.S)
NOT_RUN = re.compile(r"<!-- not run: \S.*?-->", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)

# What differs from one run to the next, in the form of pages and as a pattern for it.
ID = r"01a[0-9a-f]{1,5}(?:-?\.\.\.|-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
VARYING = re.compile(
    rf"(?P<id>{ID})|(?P<any>\.\.\.)|(?P<date>\d{{4}}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)"
    r"|(?P<token>adder_[\w-]{43})|(?P<time>\b\d[\d.]* (?:ms|s|min|h|d)\b)|(?P<spaces> {2,})"
)
PATTERNS = {
    "any": r"[\s\S]*",
    "date": r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?",
    "token": r"adder_[\w-]{43}",
    "time": r"\d[\d.]* (?:ms|s|min|h|d)",
    "spaces": r" {2,}",
}
# What differs where `science` has another Python than that of the pages: what a table takes, and marks below a line of a traceback.
PYTHON_OF_PAGES = "3.11."
SIZE = re.compile(r"\d+(?:\.\d)? (?:B|KiB|MiB|GiB)\b")
MARKS = re.compile(r"^ +[~^]+\n", re.M)
REAL_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"


@dataclasses.dataclass
class Block:
    line: int
    kind: str  # sh, console, python or first
    text: str
    output: str = ""  # of python, where the page shows it


def kind_of(indented):
    words = indented[0].split()
    return "console" if words[0] == "$" else "sh" if words[0] == "adder" and words[1:2] else None


def blocks_of(text):
    """The command blocks of a page, and those with `first`, without those that say why they are not run."""
    lines, found, skip, number = text.split("\n"), [], False, 0
    while number < len(lines):
        start, line = number, lines[number]
        fence = FENCE.match(line)
        if fence:
            end = lines.index("```", start + 1)
            kind, body, number = fence[1], lines[start + 1 : end], end + 1
        elif line.startswith("    ") and line.strip() and not line.lstrip().startswith("<!--") and not lines[start - 1]:
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number]):
                number += 1
            body = textwrap.dedent("\n".join(lines[start:number])).split("\n")
            kind = kind_of(body)
        elif line.lstrip().startswith("<!--"):
            while not lines[number].endswith("-->"):
                number += 1
            number += 1
            comment = "\n".join(lines[start:number]).strip()
            skip = skip or bool(NOT_RUN.fullmatch(comment))
            if FIRST.fullmatch(comment):
                found.append(Block(start + 1, "first", FIRST.fullmatch(comment)[1]))
            continue
        else:
            number += 1
            skip = skip and not line
            continue
        if kind in ("sh", "console", "python") and not skip:
            found.append(Block(start + 1, kind, "\n".join(body).rstrip("\n")))
        elif kind == "text" and found and found[-1].kind == "python" and not skip:
            found[-1].output = "\n".join(body)
        skip = False
    return found


def commands_of(block):
    """(line, command, output) of a console block, whose commands begin with `$ ` and go on behind a backslash or in a here-document."""
    lines = block.text.split("\n")
    number = 0
    while number < len(lines):
        assert lines[number].startswith("$ "), f"line {block.line + number}: output before a command"
        start, command = number, lines[number][2:]
        document = re.search(r"<<'?(\w+)'?", command)
        number += 1
        while number < len(lines) and (command.endswith("\\") or document and command.split("\n")[-1] != document[1]):
            command += "\n" + lines[number]
            number += 1
        output = []
        while number < len(lines) and not lines[number].startswith("$ "):
            output.append(lines[number])
            number += 1
        yield block.line + start, command, "\n".join(output).rstrip("\n")


def has_python_of_pages(adder):
    shown = harness.strict_json(adder.call("env", "show", "science", "--json").stdout)
    return shown["version"].startswith(PYTHON_OF_PAGES)


class Shell:
    """A bash that lives as long as a page, so that variables stay."""

    def __init__(self, adder, directory):
        self.directory, self.output = directory, directory.parent / "output"
        self.port = ports.reserve()
        self.ids, self.names = {}, set()
        self.has_python_of_pages = has_python_of_pages(adder)
        variables = adder.process_environment()
        variables["PATH"] = f"{adder.installation.prefix / 'bin'}:{variables['PATH']}"
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        self.ended, writer = os.pipe()
        self.process = subprocess.Popen(
            [*adder.user.prefix, "bash"], stdin=subprocess.PIPE, cwd=directory, env=variables, pass_fds=[writer], text=True, start_new_session=True
        )
        self.writer = writer
        os.close(writer)

    def run(self, text):
        """(exit status, output) of TEXT, with the real ids, and a port that is free."""
        for shown, real in self.ids.items():
            text = text.replace(shown, real)
        text = re.sub(rf"\b({'|'.join(self.names)})\b", r'"$\1"', text) if self.names else text
        address = f"127.0.0.1:{ports.number_of(self.port)}"
        text = text.replace("127.0.0.1:7117", address).replace("--http ", f"--http={address} ")
        command = self.output.with_name("command")
        command.write_text(text + "\n")
        self.process.stdin.write(f". {shlex.quote(str(command))} </dev/null >{shlex.quote(str(self.output))} 2>&1; echo $? >&{self.writer}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.ended], [], [], SECONDS)
        status = os.read(self.ended, 64).decode().strip() if ready else ""
        said = "\n".join(line.rstrip() for line in self.output.read_text(errors="replace").splitlines()).rstrip("\n")
        harness.gathered.append((["bash", text], status or "none", said, ""))
        return (int(status) if status else None), said

    def end(self):
        with contextlib.suppress(ProcessLookupError):  # where `set -e` ended it, and nothing else is left
            os.killpg(self.process.pid, signal.SIGKILL)  # also a command that takes too long
        self.process.wait()
        self.process.stdin.close()
        os.close(self.ended)
        self.port.close()

    def fits(self, shown, said):
        """Whether SAID is what a page shows, whose ids mean those that were said from then on. JSON may be broken into lines."""
        if shown.startswith("{"):
            shown, said = (re.sub(r"([,:\[{])\s+", r"\1", text) for text in (shown, said))
        if not self.has_python_of_pages:
            shown, said = (SIZE.sub("SIZE", MARKS.sub("", text)) for text in (shown, said))
        names, pieces, end = {}, [], 0
        for varying in VARYING.finditer(shown):
            pieces.append(re.escape(shown[end : varying.start()]))
            end = varying.end()
            kind, text = varying.lastgroup, varying[0]
            if kind != "id":
                pieces.append(PATTERNS[kind])
            elif text in names:  # shortened ones may look alike
                pieces.append(REAL_ID)
            else:
                names[text] = f"id{len(names)}"
                pieces.append(f"(?P<{names[text]}>{REAL_ID})")
        match = re.fullmatch("".join(pieces) + re.escape(shown[end:]), said)
        if match:
            self.ids.update({text: match[name] for text, name in names.items()})
        return match is not None


def problems_of(shell, block):
    if block.kind == "console":
        for line, command, output in commands_of(block):
            status, said = shell.run(command)
            if not output and status != 0:
                yield f"line {line}: $ {command}\nexit status {status}:\n{said}"
            elif output and not shell.fits(output, said):
                yield f"line {line}: $ {command}\nshown:\n{output}\n---- printed:\n{said}"
        return
    text = block.text
    if block.kind == "python":
        text = f"{shlex.quote(sys.executable)} - <<'END_OF_BLOCK'\n{text}\nEND_OF_BLOCK"
    else:
        text = f"set -e\n{text}\nset +e"
    status, said = shell.run(text)
    if block.kind == "first":
        shell.names.update(re.findall(r"\b([A-Z_]+)=\$\(", block.text))
    if status != 0 or (block.output and not shell.fits(block.output, said)):
        yield f"line {block.line}: exit status {status}:\n{block.text}\n---- printed:\n{said}"


@pytest.fixture
def page_directory(make_adder, shared_adder):
    if shared_adder.environment != "science":
        harness.skip_without("science")
    adder = make_adder("[environment]\ndefault = science\n")
    environments = adder.folder("environments")  # which pages add to
    for name in ("science", "javascript"):
        if adder.has_environment(name):
            shown = harness.strict_json(adder.call("env", "show", name, "--json").stdout)
            (environments / name).symlink_to(shown["directory"])
    adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(environments)
    yield adder, adder.folder("page")
    adder.stop()


def problems_with(adder, directory, text):
    shell, problems = Shell(adder, directory), []
    try:
        for block in blocks_of(text):
            problems += problems_of(shell, block)
            if shell.process.poll() is not None or problems and "exit status None" in problems[-1]:
                shell.end()
                shell = Shell(adder, directory)
    finally:
        shell.end()
    return problems


ONE_USER = pytest.mark.parametrize("user", harness.users()[:1], ids=lambda user: user.name, indirect=True)


@ONE_USER
@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE and blocks_of((REPOSITORY / page).read_text())])
def test_commands_of_a_page(page_directory, page):
    """Those of the README in an empty directory, those of other pages from the top of a checkout."""
    for name in ("examples", "bench/analyst/data") if page != "README.md" else ():
        shutil.copytree(REPOSITORY / name, page_directory[1] / name)
    problems = problems_with(*page_directory, (REPOSITORY / page).read_text())
    assert not problems, f"{page}:\n" + "\n\n".join(problems)


GOOD = """
<!-- first: echo 6 >six; ID=$(adder run --json -c 1 | jq -r .run_id) -->

    $ adder run --json -c 'print(1)' | jq -r .run_id
    01a20000-...
    $ adder history show 01a20000-...
    ...
    $ cat six
    6

```sh
adder history show ID >shown
```

<!-- not run: it fails -->

    $ false

```python
print(6 * 7)
```

```text
42
```
"""
BAD = {
    "a file that is missing": ("    $ cat none", "No such file"),
    "output that is another": ("    $ cat six\n    7", "shown:\n7"),
    "output that is not shown to its end": ("    $ printf '6\\n7\\n'\n    6", "printed:\n6\n7"),
    "an option that is unknown": ("    adder run --nothing-like-it -c 1", "unknown option --nothing-like-it"),
    "a line in the middle": ("```sh\ntrue\nfalse\ntrue\n```", "exit status"),
    "Python that fails": ("```python\nimport nothing_like_it\n```", "ModuleNotFoundError"),
    "other output of Python": ("```python\nprint(1)\n```\n\n```text\n2\n```", "printed:\n1"),
}


@ONE_USER
def test_what_does_not_run_is_found(page_directory):
    assert problems_with(*page_directory, GOOD) == []
    for name, (text, problem) in BAD.items():
        found = problems_with(*page_directory, f"{GOOD}\n{text}\n")
        assert len(found) == 1 and problem in found[0], (name, found)


def test_the_readme_is_short():
    lines = (REPOSITORY / "README.md").read_text().splitlines()
    assert len(lines) <= 180, len(lines)


@ONE_USER
def test_the_picture_is_what_a_terminal_shows(page_directory):
    adder, _ = page_directory
    if not has_python_of_pages(adder):
        pytest.skip(f"the picture has what CPython {PYTHON_OF_PAGES}* prints")
    variables = {**os.environ, "ADDER_ENVIRONMENTS_DIR": adder.variables["ADDER_ENVIRONMENTS_DIR"]}
    ended = subprocess.run([REPOSITORY / "scripts/picture", "--check", adder.installation.program], env=variables, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
