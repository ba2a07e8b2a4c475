# SPDX-License-Identifier: Apache-2.0
"""Damaged CSVs: each is read as it was meant, or its report says what was done instead."""

import sys
import types

import pytest

from test_csv import ROOT, Reader, said

sys.path.insert(0, str(ROOT / "bench" / "csv"))
import damage  # noqa: E402


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    made = Reader(tmp_path_factory.mktemp("csv"))
    yield made
    made.end()


ROWS = "".join(f"{at},2024-01-{at:02},x{at}\n" for at in range(1, 13))
IDS = list(range(1, 13))

# (what it is, the bytes, the names of the columns, the first column, words of what was assumed, the bad lines)
CASES = [
    ("U+FFFD in UTF-8", "name,n\nÉva,1\n\ufffd,2\n\ufffd\ufffd,3\n", ["name", "n"], ["Éva", "\ufffd", "\ufffd\ufffd"], None, []),
    ("one byte of Latin-1", b"name,n\nabc,1\nJos\xe9,2\n", ["name", "n"], ["abc", "José"], ("look like latin-1",), []),
    ("a mark amid the file", "a,b\n1,x\n\ufeff2,y\n3,z\n", ["a", "b"], [1, 2, 3], ("byte order mark",), []),
    ("a padded title", "Report,,\n,,\nid,day,what\n" + ROWS, ["id", "day", "what"], IDS, ("2 lines above the table", "Report"), []),
    ("a padded title alone", "Report,,\nid,day,what\n" + ROWS, ["id", "day", "what"], IDS, ("1 line above the table", "Report"), []),
    ("padded facts", "Source:,our books,\nMade on:,2024-12-31,\n,,\nid,day,what\n" + ROWS, ["id", "day", "what"], IDS, ("3 lines above", "Source"), []),
    ("a padded title above two columns", "Report,\nx,y\n1,2\n3,4\n5,6\n7,8\n", ["x", "y"], [1, 3, 5, 7], ("1 line above",), []),
    ("an index without a name", ",a\n0,x\n1,y\n2,z\n", ["column_1", "a"], [0, 1, 2], None, []),
    ("units", "id,weight,height\n,kg,cm\n1,70,180\n2,80,190\n3,75,185\n", ["id", "weight kg", "height cm"], [1, 2, 3], ("first 2 lines together",), []),
    ("groups", ",2023,,2024,\ncity,sold,lost,sold,lost\nA,1,2,3,4\nB,5,6,7,8\nC,9,8,7,6\n", ["city", "2023 sold", "2023 lost", "2024 sold", "2024 lost"], ["A", "B", "C"], ("first 2 lines together",), []),
    ("a word for a number in the first row", "name,age\nbob,thirty\nal,30\ncy,40\ndee,50\n", ["name", "age"], ["bob", "al", "cy", "dee"], None, []),
    ("rows as short as the header", "a,b\n1,2\n3,4\n5,6,7\n8,9,10\n11,12,13\n14,15,16\n", ["a", "b", "column_3"], [1, 3, 5, 8, 11, 14], ("fewer fields",), []),
    ("a wider table below", "id,day,what\n" + ROWS + "\np,q,r,s\n" + "1,2,3,4\n" * 40, ["id", "day", "what"], IDS, ("Another table begins at line 15", "p,q,r,s"), []),
    ("a narrower one", "id,day,what\n" + ROWS + "\np,q\n1,2\n3,4\n", ["id", "day", "what"], IDS, ("Another table begins at line 15",), []),
    ("one as wide", "id,day,what\n" + ROWS + "\np,q,r\nx,y,z\nx,y,z\n", ["id", "day", "what"], IDS, ("Another table begins at line 15",), []),
    ("facts as a table above", "place,here\nyear,2024\n\nid,day,what\n" + ROWS, ["id", "day", "what"], IDS, ("above the table", "place,here"), []),
    ("empty lines amid the rows", "id,day,what\n" + ROWS + "\n" + ROWS, ["id", "day", "what"], IDS * 2, None, []),
    ("a stray quote", 'id,name,what\n1,"a,x\n2,b,"y, z"\n3,c,z\n', ["id", "name", "what"], [1, 2, 3], ("Line 2 has quotes that do not fit",), []),
    ("a stray quote that the next line closes", 'id,name,n\n1,a,1\n2,"b,2\n3,c",3\n4,d,4\n5,e,5\n', ["id", "name", "n"], [1, 2, 3, 4, 5], ("Line 3 has quotes",), []),
    ("a field of two lines", 'id,name,n\n1,a,1\n2,"b, c\nd, e",2\n4,d,4\n5,e,5\n', ["id", "name", "n"], [1, 2, 4, 5], None, []),
    ("a quote that has two readings", 'a,b\n1,2\n1,"x",y,"z"\n3,4\n', ["a", "b"], [1, 3], None, [3]),
    ("quotes within quotes", 'a,b\n1,"the "best" one"\n2,"x, y"\n', ["a", "b"], [1, 2], ("Line 2 has quotes",), []),
    ("a quote in the header", 'a,"b,c\n1,2,3\n4,5,6\n', ["a", '"b', "c"], [1, 4], None, []),
    ("lines in quotes", '"a,b"\n"1,""x, y"""\n"2,z"\n', ["a", "b"], [1, 2], ("in quotes as a whole",), []),
    ("texts in quotes", '"Doe, Ann"\n"Roe, Ben"\n', ["Doe, Ann"], ["Roe, Ben"], None, []),
    ("times", "at\n10:30\n11:45\n9:05\n", ["at"], ["10:30", "11:45", "9:05"], None, []),
    ("times without a name", "10:30\n11:45\n9:05\n", ["column_1"], ["10:30", "11:45", "9:05"], None, []),
    ("ratios", "odds\n3:1\n10:1\n5:2\n", ["odds"], ["3:1", "10:1", "5:2"], None, []),
    ("moments", "at\n2024-01-02 10:30\n2024-01-03 11:45\n", ["at"], ["2024-01-02T10:30:00", "2024-01-03T11:45:00"], None, []),
    ("decimal commas", "price\n1,5\n2,25\n3,75\n", ["price"], [1.5, 2.25, 3.75], ("comma",), []),
    ("the header again", "id,day,what\n" + ROWS + "id,day,what\n" + ROWS, ["id", "day", "what"], IDS * 2, ("Line 14 repeats the header",), []),
    ("a comment", "id,day,what\n" + ROWS + "# checked,,\n" + ROWS, ["id", "day", "what"], IDS * 2, ("Line 14 is a comment",), []),
    ("a comment with delimiters", "id,day,what\n" + ROWS + "# checked, by, me\n" + ROWS, ["id", "day", "what"], IDS * 2, ("Line 14 is a comment",), []),
    ("values that begin as comments do", "tag,n\n#a,1\n#b,2\n#c,3\n", ["tag", "n"], ["#a", "#b", "#c"], None, []),
    ("delimiters alone", "id,day,what\n" + ROWS + ",,\n" + ROWS + ",,\n", ["id", "day", "what"], IDS * 2, ("Lines 14, 27 hold delimiters alone",), []),
    ("a padded note below", "id,day,what\n" + ROWS + "Source: books,,\n", ["id", "day", "what"], IDS, ("a note below", "Source: books"), []),
    ("one odd value", "id,n\n" + "".join(f"{at},{at}\n" for at in range(10)) + "10,unknown\n", ["id", "n"], list(range(11)), ("'n'", "1 of 11", "unknown"), []),
    ("carets", "a^b\n1^x\n2^y\n", ["a", "b"], [1, 2], None, []),
]


@pytest.mark.parametrize("data, names, values, words, bad", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_damage(reader, data, names, values, words, bad):
    answer = reader.ask(data)
    assert (answer["columns"], answer["data"][0], answer["table"]["bad_lines"]["lines"]) == (names, values, bad), answer["table"]
    assert words is None or said(answer, *words), answer["table"]["assumed"]


LATER = [
    ("the header again", "id,day,what\n", "repeats the header"),
    ("a comment", "# checked, by, me\n", "is a comment"),
    ("delimiters alone", ",,\n", "holds delimiters alone"),
    ("a stray quote", '99,2024-01-01,"x\n', "has quotes that do not fit"),
    ("quotes in two lines", '99,2024-01-01,"x\n99,2024-01-01,x"\n', "has quotes that do not fit"),
]


@pytest.mark.parametrize("line, words", [case[1:] for case in LATER], ids=[case[0] for case in LATER])
def test_damage_far_down_a_large_file(reader, line, words):
    """Arrow reads such a file, and does not see what is wrong."""
    answer = reader.ask("id,day,what\n" + ROWS * 10 + line + ROWS * 10, head=200, rows=300)
    rows = 240 + (line.count("\n") if "99" in line else 0)
    assert said(answer, words, "122"), answer["table"]["assumed"]
    assert answer["rows"] == rows and answer["dtypes"][:2] == ["int64", "datetime64[ns]"] and answer["table"]["bad_lines"]["count"] == 0


def test_an_end_of_a_block_amid_u_fffd(reader):
    answer = reader.ask("a,b\n" + "\ufffdé,1\n" * 3000, head=100, rows=1)
    assert answer["data"][0] == ["\ufffdé"] and not said(answer, "could not be decoded")


@pytest.mark.parametrize("what", damage.CASES)
@pytest.mark.parametrize("head", [600, 1 << 20])
def test_no_generated_table_is_misread_silently(reader, what, head):
    for seed in (1, 2):
        case = damage.CASES[what](damage.random.Random(f"{what} {seed}"))
        table = reader.ask(case.data, head=head, rows=200)["table"]
        read = reader.ask(case.data, head=head, rows=200, texts=True)
        told = [*table["assumed"], *([f"bad lines: {table['bad_lines']['lines']}"] if table["bad_lines"]["count"] else [])]
        rows = [["" if value is None else value for value in row] for row in zip(*read["data"])]
        found = types.SimpleNamespace(names=read["columns"] if table["header"] else [], rows=rows, said=told, refused=None)
        assert damage.outcome(found, case) != damage.SILENT, (read, case)
