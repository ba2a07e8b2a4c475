# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of a tier, counts their cases and writes down what they cost."""
import collections
import fcntl
import os
import pathlib
import re
import shutil
import signal
import sys
import time

import results
import scheduler
import stages

SLOWEST = 50  # tests that are listed with what they took
RUN_AGAIN = 10  # failed tests of one stage that are run again; more have a cause that a second run would not explain
LOG_LINES, LOG_COLUMNS = 100, 300  # of the log of a stage that failed
SKIPPED = 77  # exit status of a stage that this host cannot run, as Meson has it; the last line of its log says why
REASON_COLUMNS = 600  # of the reason that a test failed or was skipped, which has several lines from pytest
FLAKY = pathlib.Path("tests/flaky")
FLAKY_ENTRY = re.compile(r"(?P<name>\S.*?)  # \d{4}-\d\d-\d\d: \S.*")
LOCK = pathlib.Path("build/test-lock")  # two runs would remove each other's results


def say(text):
    print(text, file=sys.stderr, flush=True)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def flaky():
    """The names in tests/flaky: a line each, `NAME  # DATE: CAUSE`."""
    lines = [line for line in FLAKY.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
    entries = {line: FLAKY_ENTRY.fullmatch(line) for line in lines}
    for line in (line for line, entry in entries.items() if not entry):
        sys.exit(f"{FLAKY}: not of the form NAME  # YYYY-MM-DD: CAUSE: {line}")
    return {entry["name"] for entry in entries.values()}


class Run:
    """What has come of all stages so far."""

    def __init__(self, tier):
        self.tier, self.began, self.flaky = tier, time.monotonic(), flaky()
        self.cases, self.costs = {}, {}  # by the name of the stage
        self.again = []  # (stage, cases that failed, to be run again)
        self.scheduler = scheduler.Scheduler(stages.RESULTS, self.ended)

    def ended(self, ended):
        """A stage has ended: counts its cases and says what they are."""
        stage, report = ended.stage, ended.report
        found = self.cases_of(ended)
        self.cases[stage.name] = found
        count = collections.Counter(case.state for case in found)
        cost = "not run" if report is None else f"{clock(report['wall'])}, {clock(report['cpu'])} of processor time"
        counted = f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped" if found else "done"
        say(f"{clock(time.monotonic() - self.began):>6} {stage.name}: {counted} ({cost})")
        if report:
            self.costs[stage.name] = report["wall"], report["cpu"], count
        failed = [case for case in found if case.state == "failed"]
        for case in failed:
            say(f"       FAILED {case.name}")
        if failed and report:
            self.show_log(stage)
        tests = [case for case in failed if "::" in case.name]
        if tests and stage.results.endswith(".xml") and len(tests) <= RUN_AGAIN:
            self.again.append((stage, tests))

    def cases_of(self, ended):
        stage, report = ended.stage, ended.report
        left = report["left"] if ended.succeeded else []  # one that was killed has no time to clean up
        return self.own_cases(ended) + ([results.Case(f"{stage.name}: it left processes behind: {', '.join(left)}", "failed")] if left else [])

    def own_cases(self, ended):
        stage, report = ended.stage, ended.report
        if report is None:
            return [results.Case(f"{stage.name}: {ended.why_not}", "failed")]
        if report["status"] == SKIPPED:
            return [results.Case(stage.name, "skipped", self.scheduler.log(stage).read_text(encoding="utf-8", errors="replace").splitlines()[-1])]
        if not stage.results:
            state = "passed" if ended.succeeded else "failed"
            own = [results.Case(stage.name, state, "", report["wall"])] if stage.counts or state == "failed" else []
            return own + self.sanitizer_reports(stage)
        found = results.cases(pathlib.Path(stage.results))
        failed = sum(case.state == "failed" for case in found)
        # When tests failed, pytest ends with 1 and Meson with the number of programs.
        explained = range(1, failed + 1 if stage.results.endswith(".json") else min(failed, 1) + 1)
        if report["status"] not in (0, *explained):
            found.append(results.Case(f"{stage.name}: exit status {report['status']}", "failed"))
        if not found:
            found.append(results.Case(f"{stage.name}: it ran no test", "failed"))
        return found + self.sanitizer_reports(stage)

    @staticmethod
    def sanitizer_reports(stage):
        """LeakSanitizer reads the stacks of all threads, and crashes itself ("Tracer caught signal") where one ends just then."""
        found = []
        for path in sorted(pathlib.Path(stage.reports).iterdir()) if stage.reports else []:
            text = path.read_text(encoding="utf-8", errors="replace")
            if "Tracer caught signal" in text and not any(word in text for word in ("ERROR:", "runtime error:", "WARNING: ThreadSanitizer")):
                say(f"       LeakSanitizer crashed in one process, so its leaks were not checked ({path})")
                continue
            say("\n".join(text.splitlines()[-60:]))
            shutil.copy(path, stages.RESULTS / f"{stage.name}-{path.name}")
            summary = re.findall(r"^SUMMARY: .*", text, re.MULTILINE) or text.splitlines()[:5]
            functions = re.findall(r"^ +#\d+ (?:0x\w+ in )?(\w+)", text, re.MULTILINE)
            reason = f"{' '.join(summary)} in {' '.join(functions)}"
            found.append(results.Case(f"a report of the sanitizers: {path.name}", "failed", reason))
        return found

    def show_log(self, stage):
        lines = self.scheduler.log(stage).read_text(encoding="utf-8", errors="replace").splitlines()
        say("\n".join(f"       | {line[:LOG_COLUMNS]}" for line in lines[-LOG_LINES:]))

    def run_again(self):
        """Runs what failed once more by itself, so that a flaky test is told from a broken one."""
        for stage, failed in self.again:
            say(f"       Running {len(failed)} of {stage.name} again")
            names = stages.RESULTS / f"{stage.name}.cases"
            names.write_text("".join(f"{case.name}\n" for case in failed), encoding="utf-8")
            again = stages.again(stage, names)
            ended = scheduler.Scheduler(stages.RESULTS, lambda _: None)
            ended.run([again])
            passed = {case.name for case in results.cases(pathlib.Path(again.results)) if case.state == "passed"}
            for index, case in enumerate(self.cases[stage.name]):
                if case.state == "failed" and case.name in passed:
                    known = case.name in self.flaky
                    say(f"       FLAKY {case.name}: it failed, and passed when run again" + (" (listed in tests/flaky)" if known else ""))
                    self.cases[stage.name][index] = case._replace(state="passed" if known else "failed")

    def write(self):
        """The files for people and for the next comparison."""
        cases = [case for found in self.cases.values() for case in found]
        timed = [(case.seconds, stage, case.timed or case.name) for stage, found in self.cases.items() for case in found if case.seconds]
        rows = [
            f"{name}\t{wall:.1f}\t{cpu:.1f}\t{count['passed']}\t{count['failed']}\t{count['skipped']}"
            for name, (wall, cpu, count) in sorted(self.costs.items(), key=lambda row: -row[1][1])
        ]
        self.write_lines("stages.tsv", ["stage\twall_s\tcpu_s\tpassed\tfailed\tskipped", *rows])
        self.write_lines("slowest.tsv", ["seconds\tstage\ttest", *(f"{row[0]:.1f}\t{row[1]}\t{row[2]}" for row in sorted(timed, reverse=True)[:SLOWEST])])
        for state in ("failed", "skipped"):
            self.write_lines(state, [self.told(case) for case in cases if case.state == state])
        return collections.Counter(case.state for case in cases)

    @staticmethod
    def told(case):
        return f"{case.name}: {' '.join(case.reason.split())[:REASON_COLUMNS] or 'no reason given'}"

    @staticmethod
    def write_lines(name, lines):
        (stages.RESULTS / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def summary(self, count):
        reasons = collections.Counter(
            case.reason or "no reason given" for found in self.cases.values() for case in found if case.state == "skipped"
        )
        for reason, times in reasons.most_common(20):
            say(f"skipped {times} times: {reason}")
        for found in self.cases.values():
            for case in found:
                if case.state == "failed":
                    say(f"FAILED {self.told(case)}")
        cpu = sum(cost[1] for cost in self.costs.values())
        say(f"{self.tier}: {clock(time.monotonic() - self.began)}, {clock(cpu)} of processor time")
        print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped", flush=True)


def run_tier(tier):
    """Returns whether something failed."""
    shutil.rmtree(stages.RESULTS, ignore_errors=True)
    stages.RESULTS.mkdir(parents=True)
    table = stages.stages(tier)
    for stage in table:
        if stage.reports:
            pathlib.Path(stage.reports).mkdir()
            pathlib.Path(stage.reports).chmod(0o1777)  # daemons of any user report there
    run = Run(tier)
    try:
        run.scheduler.run(table)
        run.run_again()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for stage in table:
            if stage.reports:
                shutil.rmtree(stage.reports)
    count = run.write()
    run.summary(count)
    return count["failed"] != 0


def main():
    tier = sys.argv[1] if len(sys.argv) == 2 else ""
    if tier not in stages.TIERS:
        sys.exit(f"usage: testing {'|'.join(stages.TIERS)}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    LOCK.parent.mkdir(exist_ok=True)
    with open(LOCK, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("scripts/test is already running in this checkout")
        sys.exit(run_tier(tier))
