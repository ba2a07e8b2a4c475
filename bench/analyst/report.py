# SPDX-License-Identifier: Apache-2.0
"""An evaluation in words: a line for each question as it ends, a table, a summary."""
import statistics

COLUMNS = ("question", "verdict", "attempts", "seconds", "tokens in", "tokens out", "cost")


def total(found, key):
    """The sum of KEY, or None where no question has one."""
    values = [one[key] for one in found if one.get(key) is not None]
    return sum(values) if values else None


def summary(found, asked):
    """The evaluation as numbers. FOUND: verdicts; ASKED: how many questions there were to put."""
    verdicts = [one["verdict"] for one in found]
    seconds = [one["seconds"] for one in found]
    return {
        "asked": asked,
        "ended": len(found),
        **{verdict: verdicts.count(verdict) for verdict in ("right", "wrong", "unanswered", "error")},
        "share_right": verdicts.count("right") / len(found) if found else None,
        "right_at_once": sum(one["verdict"] == "right" and one.get("attempts", 1) <= 1 for one in found),
        "median_seconds": statistics.median(seconds) if seconds else None,
        "longest_seconds": max(seconds, default=None),
        "input_tokens": total(found, "input_tokens"),
        "output_tokens": total(found, "output_tokens"),
        "cost": total(found, "cost"),
    }


def cells(one):
    return [
        one["id"],
        one["verdict"],
        str(one.get("attempts", "")),
        f"{one['seconds']:.1f}",
        *("" if one.get(key) is None else str(one[key]) for key in ("input_tokens", "output_tokens")),
        "" if one.get("cost") is None else f"{one['cost']:.4f}",
    ]


def table(found):
    rows = [list(COLUMNS), *(cells(one) for one in found)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = []
    for row in rows:
        texts = [cell.ljust(width) if place < 2 else cell.rjust(width) for place, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(texts).rstrip())
    return "\n".join(lines)


def in_words(numbers, who):
    lines = [f"{who}: {numbers['right']} of {numbers['ended']} right, {numbers['right_at_once']} of them at the first attempt"]
    others = [f"{numbers[name]} {name}" for name in ("wrong", "unanswered", "error") if numbers[name]]
    if others:
        lines.append("not right: " + ", ".join(others))
    if numbers["ended"] < numbers["asked"]:
        lines.append(f"not put: {numbers['asked'] - numbers['ended']}")
    if numbers["ended"]:
        lines.append(f"time: {numbers['median_seconds']:.1f} s in the middle, {numbers['longest_seconds']:.1f} s at most")
    if numbers["input_tokens"] is not None:
        lines.append(f"tokens: {numbers['input_tokens']} in, {numbers['output_tokens']} out")
    if numbers["cost"] is not None:
        lines.append(f"cost: {numbers['cost']:.4f}")
    return "\n".join(lines)


def progress(one, number, asked):
    text = f"[{number}/{asked}] {one['verdict']:<10} {one['seconds']:6.1f} s  {one['id']}"
    return text + (f": {one['why']}" if one.get("why") else "")
