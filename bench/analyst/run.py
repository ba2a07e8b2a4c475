#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a file of questions with known answers to `adder ask`, and scores what comes back: README.md."""
import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import signal
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import asking  # noqa: E402
import report  # noqa: E402


def arguments(words):
    parser = argparse.ArgumentParser(
        description="Puts questions with known answers to `adder ask`, and scores what comes back.",
        epilog="What stands behind -- goes to `adder ask` as it is: -- --tests none --memory 1G",
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--model", metavar="NAME", help="the model to ask; replay:DIR/{id}.jsonl plays a recording of each question")
    who.add_argument("--code", action="store_true", help="run the reference code of the questions; no model is asked")
    parser.add_argument("--questions", type=pathlib.Path, default=HERE / "questions.jsonl", metavar="FILE")
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "data", metavar="DIR", help="where the files of the questions lie")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="questions whose id fits, such as 'weather-*'")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="questions at a time (2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for each question (600)")
    parser.add_argument("--adder", default="adder", metavar="PATH")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all of it there")
    parser.add_argument("--record", type=pathlib.Path, metavar="DIR", help="keep what the model says as DIR/ID.jsonl, to be played again")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="fail (1) when fewer are right")
    parser.add_argument("options", nargs="*", metavar="OPTION", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.jobs < 1 or given.jobs > 64:
        parser.error("--jobs must be from 1 to 64")
    if given.code and given.record:
        parser.error("--record is of what a model says, and --code asks none")
    try:
        questions = asking.read_questions(given.questions)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if given.only:
        questions = [one for one in questions if any(fnmatch.fnmatchcase(one["id"], pattern) for pattern in given.only)]
    if not questions:
        parser.error("no question is left to put")
    without = [one["id"] for one in questions if given.code and not one.get("code")]
    if without:
        parser.error(f"these questions have no reference code: {', '.join(without)}")
    return given, questions


class Evaluation:
    """Some questions at a time; what ended is told at once, and kept in the order of the questions."""

    def __init__(self, questions, how, jobs):
        self.questions, self.how, self.jobs = questions, how, jobs
        self.lock = threading.Lock()
        self.processes = set()
        self.found = {}
        self.stopped = False

    def put(self, question):
        # Waiting ones of a stopped evaluation end here, before they begin.
        if self.stopped:
            return
        begun = []
        one = asking.ask(question, self.how, lambda process: (begun.append(process), self.remember(process)))
        with self.lock:
            self.processes -= set(begun)
            if self.stopped:
                return
            self.found[question["id"]] = one
            print(report.progress(one, len(self.found), len(self.questions)), file=sys.stderr, flush=True)

    def remember(self, process):
        with self.lock:
            self.processes.add(process)
            if self.stopped:
                process.terminate()

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.terminate()

    def run(self):
        """Whether all questions were put."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.put, question) for question in self.questions]
            try:
                for one in waiting:
                    one.result()
            except KeyboardInterrupt:
                self.stop()
        return not self.stopped

    def in_order(self):
        return [self.found[question["id"]] for question in self.questions if question["id"] in self.found]


def main(words):
    given, questions = arguments(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    how = asking.How(given.adder, given.data, given.model, given.record, given.timeout, tuple(given.options))
    if given.record:
        given.record.mkdir(parents=True, exist_ok=True)
    evaluation = Evaluation(questions, how, given.jobs)
    whole = evaluation.run()
    found = evaluation.in_order()
    numbers = report.summary(found, len(questions))
    who = given.model or "reference code"
    print(report.table(found))
    print()
    print(report.in_words(numbers, who))
    if given.json:
        text = json.dumps({"who": who, "summary": numbers, "questions": found}, indent=2, ensure_ascii=False)
        given.json.write_text(text + "\n", encoding="utf-8")
    if not whole:
        return 130
    return 0 if 100 * (numbers["share_right"] or 0) >= given.at_least else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except FileNotFoundError as error:
        sys.exit(f"run.py: {error.strerror}: {error.filename}")
