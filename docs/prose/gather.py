# SPDX-License-Identifier: Apache-2.0
"""Gathers in DIRECTORY, for check_prose, what Adder says to people and is not in a document: gather.py ADDER DIRECTORY

The help of each command becomes help/COMMAND.txt. Each source of the program becomes src/PATH.txt with the sentences among its
strings, each on the line that it has in the source."""
import pathlib
import re
import shutil
import subprocess
import sys

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:[\s\\]*"(?:[^"\\\n]|\\.)*")*')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
WORDS = 3  # fewer are a name, a key or part of a table


def help_of(adder, *command):
    return subprocess.run([adder, *command, "--help"], check=True, capture_output=True, text=True).stdout


def commands(adder):
    """All of them, as tuples of words."""
    told = subprocess.run([adder, "manual", "examples"], check=True, capture_output=True, text=True).stdout
    return sorted({tuple(line.split("\t")[0].split()) for line in told.splitlines()})


def sentences(source):
    """{line: text} of strings, those that C joins as one."""
    without = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), source.read_text())
    without = re.sub(r"^#include.*", "", without, flags=re.M)
    found = {}
    for strings in STRINGS.finditer(without):
        text = "".join(STRING.findall(strings[0]))
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS:
            line = without.count("\n", 0, strings.start())
            found[line] = f"{found[line]} {text}" if line in found else text
    return found


def main(adder, directory):
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "help").mkdir(parents=True)
    (directory / "help/adder.txt").write_text(help_of(adder))
    for command in commands(adder):
        (directory / "help" / f"{'-'.join(command)}.txt").write_text(help_of(adder, *command))
    for source in pathlib.Path("src").rglob("*.[ch]"):
        found = sentences(source)
        if found:
            copy = directory / f"{source}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("\n".join(found.get(line, "") for line in range(max(found) + 1)) + "\n")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
