# SPDX-License-Identifier: Apache-2.0
"""Runs the conformance suite of MCP against the fixtures program, and judges what it wrote down.

    python3 conformance.py [--junit FILE] [--build DIRECTORY] [SCENARIO]...

A scenario has passed when all of its checks did: what the suite calls a warning is a failure here, and so is a scenario of
a requirement set that did not come to its end. With SCENARIO only those are run.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
REVISIONS = ("2025-11-25", "2026-07-28")
SCORED = {"2025-11-25": 30, "2026-07-28": 37}  # frozen with the revisions
SUITE_SECONDS = 300
# Of the suite's, whose own text says that the server is well either way.
FINE = {"SUCCESS", "INFO", "SKIPPED"}


class Server:
    """The fixtures program, for a while. Its files are in a folder of its own."""

    def __init__(self, build, folder):
        self.log = open(folder / "server.log", "wb")
        environment = dict(os.environ, HOME=str(folder), XDG_STATE_HOME=str(folder / "state"),
                           XDG_CACHE_HOME=str(folder / "cache"), XDG_RUNTIME_DIR=str(folder / "run"),
                           XDG_CONFIG_HOME=str(folder / "config"))
        (folder / "run").mkdir(mode=0o700)
        self.process = subprocess.Popen([build / "tests/mcp/mcp-fixtures"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, env=environment, cwd=folder)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise SystemExit(f"the server did not start:\n{(folder / 'server.log').read_text()}")

    def end(self):
        """Returns its exit status."""
        self.process.stdin.close()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.log.close()


def requirements(package, revision):
    """The names of the scenarios for servers in the suite's own list: scored, and run beside."""
    scored, beside, section, name = [], [], None, None
    for line in (package / "requirements" / f"{revision}.yaml").read_text(encoding="utf-8").splitlines():
        if re.match(r"[a-z_]+:", line):
            section = line.split(":")[0]
        elif section == "server" and (found := re.match(r"  - (\S+)$", line)):
            scored.append(found[1])
        elif section == "not_scored" and (found := re.match(r"  - scenario: (\S+)$", line)):
            name = found[1]
        elif section == "not_scored" and line.strip() == "leg: server":
            beside.append(name)
    return scored, beside


def run(build, arguments, folder):
    """Runs the suite with its report in FOLDER; returns what it printed."""
    node, suite = build / "node/bin/node", build / "node-packages/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    done = subprocess.run([node, suite, "server", *arguments, "-o", folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SUITE_SECONDS, check=False)
    return done.stdout.decode(errors="replace")


def checks_of(folder, scenario):
    """The checks that the suite wrote down for SCENARIO, or None."""
    for path in folder.glob(f"server-{scenario}-[0-9]*/checks.json"):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def fault_of(checks):
    """What is wrong with a scenario, or None."""
    if not checks:
        return "it did not come to its end"
    bad = [check for check in checks if check["status"] not in FINE]
    return "; ".join(f"{check['id']}: {check['status']}: {check.get('errorMessage') or check['description']}"
                     for check in bad) or None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--junit", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("scenarios", nargs="*")
    options = parser.parse_args()
    build = options.build.resolve()
    package = build / "node-packages/node_modules/@modelcontextprotocol/conformance"
    cases, begun = [], time.monotonic()

    folder = pathlib.Path(tempfile.mkdtemp(prefix="adder-conformance-", dir="/var/tmp"))
    try:
        server = Server(build, folder)
        for revision in REVISIONS:
            scored, beside = requirements(package, revision)
            report = folder / revision
            if options.scenarios:
                scored = [name for name in scored if name in options.scenarios]
                beside = [name for name in beside if name in options.scenarios]
                printed = "".join(run(build, ["--url", server.url, "--scenario", name, "--spec-version", revision], report)
                                  for name in scored + beside)
            else:
                printed = run(build, ["--url", server.url, "--requirements", revision], report)
                if len(scored) != SCORED[revision]:
                    cases.append((revision, "the requirement set", "scored", f"has {len(scored)} scenarios", 0))
            for name in scored + beside:
                checks = checks_of(report, name)
                fault = fault_of(checks)
                cases.append((revision, name, "scored" if name in scored else "", fault, len(checks or [])))
            if any(fault for _, _, _, fault, _ in cases):
                print(printed[-20000:], file=sys.stderr)
        status = server.end()
        if status != 0:
            cases.append(("server", "its end", "", f"it ended with {status}:\n{(folder / 'server.log').read_text()}", 0))
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    for revision, name, kind, fault, checks in cases:
        print(f"{'FAILED' if fault else 'ok':7} {revision}  {kind:7} {checks:3}  {name}{': ' + fault if fault else ''}")
    failed = sum(fault is not None for _, _, _, fault, _ in cases)
    scored = [fault for _, _, kind, fault, _ in cases if kind]
    print(f"scored: {scored.count(None)} of {len(scored)}; beside them: {len(cases) - len(scored) - failed + sum(map(bool, scored))} "
          f"of {len(cases) - len(scored)}; {sum(case[4] for case in cases)} checks; {time.monotonic() - begun:.0f} s")
    if options.junit:
        suite = ElementTree.Element("testsuite", name="mcp-conformance")
        for revision, name, _, fault, _ in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=f"mcp-conformance.{revision}", name=name)
            if fault:
                ElementTree.SubElement(case, "failure", message=fault)
        ElementTree.ElementTree(suite).write(options.junit)
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
