# SPDX-License-Identifier: Apache-2.0
"""The bytes of a file as UTF-8: how they are encoded, and a stream of them from where its rows begin."""

import codecs
import io
import os
import re

from adder_runner import progress

HEAD = 1 << 20  # what is looked at before anything is decided
TAIL = 1 << 16

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BYTEWISE = ("utf-8", "ascii", "latin-1", "cp1252")  # a line end is one byte, and no other character has it
MOST = 1 << 23
NOT_DECODED = re.compile("[\udc80-\udcff]")
MARK = "\ufeff"


class Encoding:
    """`name` is Python's; `mark` the bytes at the file's beginning that say so; `certain`: nothing was assumed."""

    def __init__(self, name, mark=b"", certain=True):
        self.name, self.mark, self.certain = name, mark, certain

    def text_name(self):
        return "utf-8" if self.name == "ascii" else self.name


class Met:
    """What a stream met: bytes that could not be decoded, NUL bytes, byte order marks amid it, line ends; `late`, an encoding
    found only then; `is_begun`: whether the last line has no end."""

    def __init__(self):
        self.broken = self.nuls = self.marks = self.lines = 0
        self.late, self.is_begun = None, False


def encoding_of(head, given=None):
    for mark, name in MARKS:
        if head.startswith(mark) and given is None:
            return Encoding(name, mark)
    if given is not None:
        name = codecs.lookup(given).name
        name = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1", "utf-16": wide(head) or "utf-16-le"}.get(name, name)
        mark = next((mark for mark, marked in MARKS if marked == name and head.startswith(mark)), b"")
        return Encoding(name, mark)
    name = wide(head)
    if name:
        return Encoding(name, certain=False)
    if head.isascii():
        return Encoding("ascii")
    if is_mostly_utf8(head):
        return Encoding("utf-8")
    return Encoding("latin-1" if not set(head) & set(range(0x80, 0xA0)) else "cp1252", certain=False)


def wide(head):
    """UTF-16 without a mark: every other byte of what is mostly Latin is zero."""
    sample = head[:4096]
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    if sample[1::2].count(0) > pairs * 0.7 and sample[0::2].count(0) < pairs * 0.1:
        return "utf-16-le"
    if sample[0::2].count(0) > pairs * 0.7 and sample[1::2].count(0) < pairs * 0.1:
        return "utf-16-be"
    return None


def is_mostly_utf8(data):
    """Whether it is, but for a few broken bytes. It may end amid a character."""
    if is_utf8(data):
        return True
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(data)
    broken = len(NOT_DECODED.findall(text))
    return broken * 3 <= sum(character > "\x7f" for character in text) - broken


def is_utf8(data):
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(data)
    except UnicodeDecodeError:
        return False
    return True


def replaced(text, data, encoding):
    """How many characters of TEXT stand for bytes of DATA that could not be decoded: others may be U+FFFD in the file."""
    count = text.count("\ufffd")
    try:
        return count - data.count("\ufffd".encode(encoding)) if count else 0
    except UnicodeEncodeError:
        return count


def cut_at_line(data, encoding):
    """DATA up to its last line end, or all of it where it has none."""
    end = "\n".encode(encoding)
    at = data.rfind(end)
    if len(end) > 1:
        while at > 0 and at % len(end):
            at = data.rfind(end, 0, at)
    if at < 0:
        end = "\r".encode(encoding)
        at = data.rfind(end)
    return data[: at + len(end)] if at >= 0 else data


def decode(data, encoding):
    """(the text of DATA, what was met)"""
    met, data = Met(), data[len(encoding.mark) :]
    text = codecs.getincrementaldecoder(encoding.text_name())("replace").decode(data, final=True)
    met.broken = replaced(text, data, encoding.text_name())
    met.nuls, met.marks = text.count("\0"), text.count(MARK)
    return text.replace("\0", "").replace(MARK, "") if met.nuls or met.marks else text, met


class Stream(io.RawIOBase):
    """FILE's text as UTF-8, without its first SKIP bytes of that and no further than END of its own. Arrow reads it on a thread of
    its own. `watch` is called with all that is read, if it is set."""

    def __init__(self, file, encoding, skip, end):
        super().__init__()
        self.file, self.skip, self.end, self.left, self.met = file, skip, end, end - len(encoding.mark), Met()
        self.name, self.watch = encoding.text_name(), None
        self.is_ascii = encoding.name == "ascii"
        self.decoder = codecs.getincrementaldecoder(encoding.text_name())("replace")
        self.is_utf8 = encoding.name in ("utf-8", "ascii")
        file.seek(len(encoding.mark))

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.read(len(buffer) // 3)  # what is decoded may be longer
        buffer[: len(data)] = data
        return len(data)

    def read(self, size=-1):
        while self.left > 0:
            data = self.file.read(min(self.left, size if size > 0 else self.left, MOST))
            self.left = self.left - len(data) if data else 0
            progress.note(self.end - self.left, self.end)
            data = self.as_utf8(data)
            if self.skip:
                skipped = min(self.skip, len(data))
                self.skip -= skipped
                data = data[skipped:]
            if data:
                self.met.lines += data.count(b"\n")
                self.met.is_begun = not data.endswith(b"\n")
                if self.watch:
                    self.watch(data)
                return data
        return b""

    def as_utf8(self, data):
        if not (self.is_utf8 and data.isascii() and self.decoder.getstate()[0] == b""):
            data = self.decoded(data).encode("utf-8", "replace")
        if b"\0" in data:
            self.met.nuls += data.count(b"\0")
            data = data.replace(b"\0", b"")
        if codecs.BOM_UTF8 in data:
            self.met.marks += data.count(codecs.BOM_UTF8)
            data = data.replace(codecs.BOM_UTF8, b"")
        return data

    def decoded(self, data):
        if self.is_ascii and not is_mostly_utf8(data):
            self.met.late = "cp1252"
            self.decoder, self.is_utf8 = codecs.getincrementaldecoder("cp1252")("replace"), False
        self.is_ascii = False
        begun = self.decoder.getstate()[0]
        text = self.decoder.decode(data, final=self.left <= 0)
        self.met.broken += replaced(text, begun + data, self.met.late or self.name)
        return text


def read_head(path):
    """(what is looked at, the file's size)"""
    size = os.stat(path).st_size
    with open(path, "rb", buffering=0) as file:
        data = read_up_to(file, HEAD)
    return data, max(size, len(data))


def read_up_to(file, most):
    """What FILE, which may give less at a time, has left of MOST bytes."""
    data = b""
    while len(data) < most and (block := file.read(most - len(data))):
        data += block
    return data


def read_tail(path, size):
    with open(path, "rb") as file:
        file.seek(max(0, size - TAIL))
        return file.read(TAIL)
