# SPDX-License-Identifier: Apache-2.0
"""Paragraphs of Markdown have at most 100 columns: python3 -I scripts/testing/columns.py [--write] FILE...

Names the paragraphs that have a longer line which could be broken; --write breaks them. Code, tables, headings, HTML, and what a
program makes are left as they are, and so is a paragraph that breaks lines on purpose."""
import pathlib
import re
import sys

COLUMNS = 100

FENCE = re.compile(r"^\s*(```+|~~~+)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
OTHER = re.compile(r"^\s*(?:[|#<>]|!\[)|^(?:    |\t)")  # no paragraph
MADE = re.compile(r"<!-- .*(?:[Mm]ade by).*-->")
WORD = re.compile(r"(?:`+[^`]*`+|[^\s`])+")  # code stays on one line
BLOCK_START = re.compile(r"^(?:[-+*#>|<]|\d+[.)]$|=+$|~~~|```)")  # what would mean something else at the beginning of a line


def wrapped(text, first, rest):
    """TEXT in lines that begin with FIRST, and from the second on with REST."""
    lines = [first]
    for word in WORD.findall(text):
        begun = lines[-1] not in (first, rest)
        if begun and len(lines[-1]) + 1 + len(word) > COLUMNS and not BLOCK_START.match(word):
            lines.append(rest + word)
        else:
            lines[-1] += (" " if begun else "") + word
    return lines


def paragraph(lines, start):
    """The end of the paragraph or item at START, the beginning of its first line, and that of the others."""
    item = ITEM.match(lines[start])
    first = item[0] if item else re.match(r"\s*", lines[start])[0]
    rest = " " * len(first)
    end = start + 1
    while end < len(lines) and lines[end].strip() and lines[end].startswith(rest) and not ITEM.match(lines[end]) and not FENCE.match(lines[end]):
        if not item and OTHER.match(lines[end]):
            break
        end += 1
    return end, first, rest


def broken(lines):
    """LINES with at most COLUMNS characters where that is possible."""
    found, at, fence, made, comment = [], 0, None, False, False
    while at < len(lines):
        line = lines[at]
        mark = FENCE.match(line)
        made = (made or bool(MADE.search(line))) and ": end -->" not in line
        if mark:
            fence = None if fence and line.strip().startswith(fence) else fence or mark[1]
        inside, comment = comment, "-->" not in line and (comment or "<!--" in line)
        if mark or fence or made or inside or not line.strip() or (OTHER.match(line) and not ITEM.match(line)):
            found.append(line)
            at += 1
            continue
        end, first, rest = paragraph(lines, at)
        block = lines[at:end]
        text = " ".join([block[0][len(first) :], *(each.strip() for each in block[1:])])
        too_long = any(len(each) > COLUMNS for each in block)
        on_purpose = any(each.endswith(("  ", "\\")) for each in block)
        found += wrapped(text, first, rest) if too_long and not on_purpose and text.count("`") % 2 == 0 else block
        at = end
    return found


def main():
    write = sys.argv[1:2] == ["--write"]
    failed = 0
    for name in sys.argv[2 if write else 1 :]:
        path = pathlib.Path(name)
        lines = path.read_text(encoding="utf-8").split("\n")
        better = broken(lines)
        if better == lines:
            continue
        if write:
            path.write_text("\n".join(better), encoding="utf-8")
            continue
        failed += 1
        at = next(index for index, (was, now) in enumerate(zip(lines, better)) if was != now)
        print(f"{name}:{at + 1}: a line is longer than {COLUMNS} columns (scripts/testing/columns.py --write breaks it)")
    sys.exit(failed != 0)


main()
