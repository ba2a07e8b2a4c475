# SPDX-License-Identifier: Apache-2.0
"""Says what a file is, by its content and not by its name: a table of a format that is read here, or something else, which is
then named in one sentence."""

import os
import re
import zipfile

from adder_runner import csv_bytes, csv_form

HEAD = 1 << 13
CONTROLS = bytes({*range(1, 32), 127} - set(b"\n\v\f\r\x1b") - {ord(delimiter) for delimiter in csv_form.DELIMITERS})
FEW_CONTROLS = 8
MAX_CONTROLS, MAX_NULS = 0.02, 0.3  # shares of a text's bytes; NUL bytes are left out when a CSV is read
DIRECTORY = 1 << 20  # bytes of an OLE file that are searched for the names of its streams

# The name of each format in a sentence, and the usual endings of such files.
FORMATS = {
    "csv": ("a CSV file", (".csv", ".tsv", ".txt")),
    "json": ("JSON", (".json", ".jsonl", ".ndjson")),
    "parquet": ("a Parquet file", (".parquet",)),
    "feather": ("a Feather (Arrow) file", (".feather", ".arrow")),
    "excel": ("an Excel workbook", (".xlsx", ".xlsm")),
    "sqlite": ("an SQLite database", (".sqlite", ".sqlite3", ".db")),
    "gzip": ("a gzip file", (".gz",)),
    "zstd": ("a zstd file", (".zst",)),
}
ENDINGS = tuple(ending for _, endings in FORMATS.values() for ending in endings if ending != ".txt")
TEXTS = ("csv", "json")
PACKED = ("gzip", "zstd")
BINARY = (
    (b"PAR1", "parquet"), (b"ARROW1\0\0", "feather"), (b"SQLite format 3\0", "sqlite"), (b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip

# (offset, the bytes there, the kind of file). A text can begin with none of these.
OTHERS = (
    (0, b"%PDF-", "a PDF document"), (0, b"\x89PNG\r\n", "a PNG image"), (0, b"\xff\xd8\xff", "a JPEG image"), (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"), (8, b"WEBP", "a WebP image"), (0, b"II*\0", "a TIFF image"), (0, b"MM\0*", "a TIFF image"),
    (0, b"\x7fELF", "a Linux executable"), (0, b"MZ\x90\0", "a Windows executable"), (0, b"\xcf\xfa\xed\xfe", "a macOS executable"),
    (0, b"\xca\xfe\xba\xbe", "compiled code"), (0, b"#!/", "a script"), (0, b"%!PS", "a PostScript document"), (0, b"{\\rtf", "an RTF document"),
    (0, b"BZh", "a bzip2 file"), (0, b"\xfd7zXZ\0", "an xz file"), (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x04\x22\x4d\x18", "an LZ4 file"), (257, b"ustar", "a tar archive"), (0, b"\x93NUMPY", "a NumPy array (.npy)"),
    (0, b"\x89HDF\r\n", "an HDF5 file"), (0, b"CDF\x01", "a NetCDF file"), (0, b"CDF\x02", "a NetCDF file"), (0, b"MATLAB 5.0 MAT", "a MATLAB file"),
    (0, b"ORC\n", "an ORC file"), (0, b"Obj\x01", "an Avro file"), (0, b"PARE", "an encrypted Parquet file"), (0, b"FEA1\0", "a Feather file of version 1: save it as version 2"),
    (0, b"<stata_dta>", "a Stata file"), (0, b"$FL2", "an SPSS file"), (0, b"\x80\x04\x95", "a Python pickle"), (0, b"\x80\x05\x95", "a Python pickle"),
    (0, b"ID3", "an audio file"), (0, b"OggS", "an audio or video file"), (0, b"fLaC", "an audio file"), (8, b"WAVE", "an audio file"),
    (4, b"ftyp", "a video or an image of the MP4 family"), (0, b"\x1a\x45\xdf\xa3", "a video"), (0, b"-----BEGIN ", "a key or certificate (PEM)"),
)  # fmt: skip
# By a file in the archive, the first that exists.
ZIPS = (
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb): save it as .xlsx"), ("word/document.xml", "a Word document"), ("ppt/presentation.xml", "a PowerPoint presentation"),
    ("META-INF/container.xml", "an EPUB book"), ("META-INF/MANIFEST.MF", "a Java archive"), ("AndroidManifest.xml", "an Android package"),
)  # fmt: skip
OPEN_DOCUMENT = {
    b"application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument spreadsheet (.ods): save it as .xlsx",
    b"application/vnd.oasis.opendocument.text": "an OpenDocument text",
}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# By the names of an OLE file's streams.
STREAMS = (
    ("EncryptedPackage", "an Excel workbook or another document with a password: save it without one"), ("WordDocument", "a Word document"),
    ("PowerPoint Document", "a PowerPoint presentation"), ("Workbook", "an Excel workbook of the old format (.xls): save it as .xlsx"),
    ("Book", "an Excel workbook of the old format (.xls): save it as .xlsx"),
)  # fmt: skip
OLD_EXCEL = (b"\x09\x08\x10\0", b"\x09\x04\x06\0", b"\x09\x02\x06\0", b"\x09\0\x04\0")

COMMENT = r"(?:<!--.*?-->\s*)*"
HTML = re.compile(rf"\s*{COMMENT}<(?:!doctype\s+html|html|head|body|title|meta|table|script|div|p|h1)[\s>/]", re.I | re.S)
XML = re.compile(rf"\s*(?:<\?xml[^>]*>|{COMMENT}<!DOCTYPE)", re.I | re.S)
ROOTS = (("<svg", "an SVG image"), ("<html", "an HTML page"), ("urn:schemas-microsoft-com:office:spreadsheet", "an Excel 2003 workbook as XML: save it as .xlsx"))
OBJECT = re.compile(r'\s*\{\s*(?:"(?:[^"\\]|\\.)*(?:"\s*:|$)|\}|$)')
LIST = re.compile(r'\s*\[\s*(?:[\[\{\]]|$|(?:"(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+|true|false|null)\s*(?:[,\]]|$))')


class NotTable(ValueError):
    """What the file is, as it stands in a sentence: "a PNG image"."""


def find(path):
    """The name of the format, one of FORMATS. Raises NotTable."""
    with open(path, "rb", buffering=0) as file:
        head = file.read(HEAD)
    if not head:
        raise NotTable("an empty file")
    for magic, name in BINARY:
        if head.startswith(magic) and is_no_text_after(head, len(magic)):
            return name
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return zip_format(path)
    other = next((said for at, magic, said in OTHERS if head.startswith(magic, at)), None) or ole_format(path, head)
    if other:
        raise NotTable(other)
    return text_format(head)


def is_no_text_after(head, at):
    """No text goes on with a control character after a word such as PAR1; what the longer ones have in them is none anyway."""
    return not head[:at].isalnum() or (len(head) > at and head[at] < 32 and head[at] not in b"\t\n\r")


def ending_says(name):
    """The format that the ending of NAME stands for, or None."""
    ending = os.path.splitext(name)[1].lower()
    return next((format for format, (_, endings) in FORMATS.items() if ending in endings), None)


# ---- containers ----


def zip_format(path):
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "xl/workbook.xml" in names:
                return "excel"
            found = next((said for name, said in ZIPS if name in names), None)
            if found is None and names and names[0] == "mimetype":
                with archive.open("mimetype") as kind:
                    found = OPEN_DOCUMENT.get(kind.read(100).strip())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        raise NotTable("a damaged or incomplete ZIP archive or workbook") from None
    if found is None:
        found = f"a ZIP archive of {len(names)} files: unpack it first" if names else "an empty ZIP archive"
    raise NotTable(found)


def ole_format(path, head):
    """What an OLE file is, or a workbook of the time before; None: it is neither."""
    if head.startswith(OLD_EXCEL):
        return STREAMS[-1][1]
    if not head.startswith(OLE):
        return None
    with open(path, "rb") as file:
        begin = file.read(DIRECTORY)
        file.seek(max(0, os.path.getsize(path) - DIRECTORY))
        searched = begin + file.read(DIRECTORY)
    return next((said for name, said in STREAMS if (name + "\0").encode("utf-16-le") in searched), "an OLE document")


# ---- text ----


def text_format(head):
    encoding = csv_bytes.encoding_of(head)
    if encoding.name in csv_bytes.BYTEWISE and not is_text(head):
        raise NotTable("binary data of an unknown kind")
    text, _ = csv_bytes.decode(head, encoding)
    if HTML.match(text):
        raise NotTable("an HTML page")
    if XML.match(text):
        raise NotTable(next((said for word, said in ROOTS if word in text), "an XML document"))
    return "json" if is_json(text) else "csv"


def is_text(head):
    controls = len(head) - len(head.translate(None, CONTROLS))
    # A short text may have some by mistake; bytes of no encoding at that are no text.
    is_likely = controls <= FEW_CONTROLS and csv_bytes.is_mostly_utf8(head)
    return (is_likely or controls <= MAX_CONTROLS * len(head)) and head.count(0) <= MAX_NULS * len(head)


def is_json(text):
    """Whether it is JSON, or JSON Lines of which the first may be a bad one: a CSV's header can begin with a bracket too."""
    if OBJECT.match(text) or LIST.match(text):
        return True
    lines = [line for line in text.splitlines()[:50] if line.strip()] if "\n{" in text else []
    return sum(bool(OBJECT.match(line)) for line in lines) * 2 > len(lines)


