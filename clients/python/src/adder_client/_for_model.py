# SPDX-License-Identifier: Apache-2.0
"""A result as one text that a model reads."""

from __future__ import annotations

import json
import typing
from typing import Any, Iterator, List, Tuple

from ._display import Display, Json

if typing.TYPE_CHECKING:
    from .models import Result

LEAST, MOST = 200, 1 << 20  # characters that may be asked for
SHORT = 40  # to which texts of a reply are cut, if all else is too long

Part = Tuple[str, str]


def for_model(result: Result, max_chars: int) -> str:
    """All parts of RESULT that are there, each below its title; together no longer than MAX_CHARS. What is too long loses its middle,
    the longest part first."""
    _check(max_chars)
    parts = [(title, text.rstrip("\n")) for title, text in _parts(result) if text.strip("\n")]
    if not parts:
        return "(ok: nothing was printed, and there is no value)"
    alone = len(parts) == 1 and parts[0][0] in ("stdout", "value")
    titles = ["" if alone else f"{title}:\n" for title, _ in parts]
    room = max_chars - sum(map(len, titles)) - 2 * (len(parts) - 1)
    texts = _fitted([text for _, text in parts], room)
    return "\n\n".join(title + text for title, text in zip(titles, texts))


def reply_for_model(reply: Json, max_chars: int) -> str:
    """REPLY as JSON no longer than MAX_CHARS, without the bytes of pictures."""
    _check(max_chars)
    longest = max_chars
    text = _json(_shortened(reply, longest))
    while len(text) > max_chars and longest > SHORT:
        longest //= 2
        text = _json(_shortened(reply, longest))
    return _cut(text, max_chars)


def _check(max_chars: int) -> None:
    if not LEAST <= max_chars <= MOST:
        raise ValueError(f"max_chars is {LEAST} to {MOST}, not {max_chars}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shortened(value: Any, longest: int) -> Any:
    """VALUE with all texts in it cut to LONGEST, and a word for what has the MIME type of a picture."""
    if isinstance(value, str):
        return _cut(value, longest)
    if isinstance(value, list):
        return [_shortened(each, longest) for each in value]
    if isinstance(value, dict):
        return {
            name: "(a picture)" if name.startswith("image/") else _shortened(each, longest)
            for name, each in value.items()
        }
    return value


def _parts(result: Result) -> Iterator[Part]:
    if result.outcome not in ("ok", "error"):
        yield "outcome", result.outcome
    yield "stdout", result.stdout
    yield "stderr", result.stderr
    if result.value is not None:
        yield "value", result.value.text
    yield "displayed", "\n\n".join(map(_shown, result.displays))
    if result.error is not None:
        error = result.error
        yield "error", error.traceback or f"{error.type}: {error.message}"
        yield "hint", error.hint or ""
    yield "refused", _lines(f"line {each.line}: {each.text}{_hint(each.hint)}" for each in result.violations)
    yield "sandbox", _lines(f"{each.kind}: {each.detail}{_hint(each.hint)}" for each in result.denials)
    yield "files", _lines(f"{each.name} ({each.mime}, {each.bytes} bytes)" for each in result.files)
    yield "warnings", _lines(result.warnings)
    if result.session is not None and result.session.expires_in_ms is None:
        yield "session", result.session.status


def _lines(lines: typing.Iterable[str]) -> str:
    return "\n".join(lines)


def _hint(hint: typing.Optional[str]) -> str:
    return f" ({hint})" if hint else ""


def _shown(display: Display) -> str:
    picture = display.picture
    return display.text if picture is None else f"(a picture, {picture.mime})"


def _fitted(texts: List[str], room: int) -> List[str]:
    """TEXTS, in all no longer than ROOM: each has an equal share, and what short ones leave goes to the longer ones."""
    fitted = list(texts)
    by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for done, place in enumerate(by_length):
        fitted[place] = _cut(texts[place], max(room // (len(texts) - done), 0))
        room -= len(fitted[place])
    return fitted


def _cut(text: str, length: int) -> str:
    """TEXT with head and tail alone where it is longer than LENGTH."""
    if len(text) <= length:
        return text
    note = "\n... {} more characters ...\n"
    kept = length - len(note.format(len(text)))
    if kept < 2:
        return text[:length]
    note = note.format(len(text) - kept)
    return text[: kept - kept // 2] + note + text[-(kept // 2) :]
