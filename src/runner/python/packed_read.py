# SPDX-License-Identifier: Apache-2.0
"""Unpacks a gzip or zstd file for a reader of texts: as much as a scan looks at, or all of it, into a temporary file."""

import contextlib
import errno
import gzip
import os
import tempfile
import zlib

from adder_runner import csv_bytes, csv_form, csv_read, places, table_format

BLOCK = 1 << 20


@contextlib.contextmanager
def unpacked(path, format, called, is_scan):
    """(the path of the text, its format, whether there is more of it): gone when this ends."""
    with tempfile.NamedTemporaryFile(dir=places.temporary, prefix="adder-unpacked-") as file:
        try:
            with opened(path, format) as source:
                begin = csv_bytes.read_up_to(source, csv_bytes.HEAD + 1)
                write(file, begin)
                # Of what is no text, no more is unpacked.
                found = text_format(file.name, format, called)
                # Of JSON, a part may say nothing.
                is_cut = is_scan and found == "csv" and len(begin) > csv_bytes.HEAD
                if is_cut:
                    file.truncate(len(cut(begin[:-1])))
                while not is_cut and (block := source.read(BLOCK)):
                    write(file, block)
        except csv_read.CannotRead:
            raise
        except (EOFError, zlib.error, ValueError, OSError) as error:
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            reason = "it unpacks to more than the limits workspace_bytes and file_bytes let it" if is_full else csv_form.brief(str(error), 100)
            raise csv_read.CannotRead(f"{called} cannot be unpacked: {reason}") from None
        yield file.name, found, is_cut


def opened(path, format):
    if format == "gzip":
        return gzip.open(path, "rb")
    try:
        import pyarrow
    except ImportError:
        raise csv_read.CannotRead("this environment has no pyarrow, which zstd files need: take the environment science, or another that has it") from None
    return pyarrow.input_stream(path, compression="zstd")


def cut(data):
    return csv_bytes.cut_at_line(data, csv_bytes.encoding_of(data).text_name())


def write(file, data):
    file.write(data)
    file.flush()


def text_format(path, format, called):
    packed = table_format.FORMATS[format][0]
    try:
        found = table_format.find(path)
    except table_format.NotTable as error:
        raise csv_read.CannotRead(f"{called} is {packed} with {error} in it, not a table") from None
    if found not in table_format.TEXTS:
        raise csv_read.CannotRead(f"{called} is {packed} with {table_format.FORMATS[found][0]} in it: unpack it first")
    return found
