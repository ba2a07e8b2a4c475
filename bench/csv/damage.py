# SPDX-License-Identifier: Apache-2.0
"""Tables with one kind of damage each, made from a seed: the bytes of the file, and what a careful person would read in it."""

import collections
import csv
import io
import random

NAMES = ["id", "day", "city", "amount", "note"]
CITIES = ["Paris", "Lyon", "Nice", "Lille", "Metz", "Brest", "Tours", "Dijon"]
NOTES = ["", "checked", "late, but paid", "see above", "as agreed", "new client", "paid in cash", "to be sent"]
RIGHT, SAID, SILENT = "right", "said", "silent"
CASES = {}

Case = collections.namedtuple("Case", "data names rows")


def damage(make):
    CASES[make.__name__.replace("_", " ")] = make
    return make


def several(**kinds):
    """The same damage in several ways: a case each."""

    def register(make):
        for name, argument in kinds.items():
            CASES[f"{make.__name__} {name}".replace("_", " ")] = lambda made, argument=argument: make(made, argument)
        return make

    return register


def all_cases(seed):
    """(name, Case) of each kind."""
    for name, make in CASES.items():
        yield name, make(random.Random(f"{name} {seed}"))


# ---- what became of it ----


def outcome(read, case, usual=()):
    """RIGHT, SAID or SILENT, of what a reader READ of CASE: `names`, `rows`, `said` and `refused`. USUAL is what it says of any such table."""
    if read.refused:
        return SAID
    if squeezed([read.names]) == squeezed([names_as_given(case.names, read.names)]) and squeezed(read.rows) == squeezed(case.rows):
        return RIGHT
    return SAID if set(read.said) - set(usual) else SILENT


def names_as_given(names, read):
    """NAMES, with those that a reader makes up where it has to: for columns without a name, and for a name that is there twice."""
    if len(names) != len(read):
        return names
    return [made if not name or name in names[:at] and made.startswith(name) else name for at, (name, made) in enumerate(zip(names, read))]


def squeezed(rows):
    """Spaces around a field are nobody's damage."""
    return [[" ".join(field.split()) for field in row] for row in rows]


# ---- what is damaged ----


def a_row(made, number, plain=False):
    note = made.choice(NOTES[3:] if plain else NOTES)
    return [str(number), f"2024-{made.randrange(1, 13):02}-{made.randrange(1, 29):02}", made.choice(CITIES), f"{made.randrange(100, 99999) / 100:.2f}", note]


def table(made, plain=False):
    """PLAIN: no field needs quotes and none is empty."""
    return [a_row(made, number, plain) for number in range(101, 101 + made.randrange(12, 30))]


def text(rows, delimiter=",", end="\n", **options):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end, **options).writerows(rows)
    return out.getvalue()


def case(written, names, rows, encoding="utf-8"):
    return Case(written if isinstance(written, bytes) else written.encode(encoding), list(names), [list(row) for row in rows])


def somewhere(made, rows, first=2):
    return made.randrange(first, len(rows) - 1)


def no_damage(made):
    rows = table(made)
    return case(text([NAMES, *rows]), NAMES, rows)


# ---- encodings ----


@several(utf_8_with_a_mark="utf-8-sig", utf_16_with_a_mark="utf-16", utf_16_le="utf-16-le", utf_16_be="utf-16-be", utf_32="utf-32", latin_1="latin-1", cp1252="cp1252")
def encoding(made, encoding):
    rows = table(made)
    for row in rows[::3]:
        row[2] = made.choice(["Orléans", "Besançon", "Nîmes"])
    return case(text([NAMES, *rows]), NAMES, rows, encoding)


@several(in_ascii="ascii", in_utf_8="utf-8")
def one_latin_1_byte(made, encoding):
    rows = table(made)
    if encoding == "utf-8":
        for row in rows:
            row[4] = "réglé à temps"
    at = somewhere(made, rows)
    rows[at][2] = "Orl@ans"
    data = text([NAMES, *rows]).encode().replace(b"Orl@ans", "Orléans".encode("latin-1"))
    rows[at][2] = "Orléans"
    return case(data, NAMES, rows)


@several(once=1, often=7)
def replacement_characters_in_valid_utf_8(made, times):
    rows = table(made)
    for row in rows[:times]:
        row[2] = "Orl\ufffdans"
    rows[-1][2] = "Éva"
    return case(text([NAMES, *rows]), NAMES, rows)


@damage
def NUL_bytes(made):
    rows = table(made)
    data = text([NAMES, *rows]).replace("Paris", "Par\0is")
    return case(data, NAMES, rows)


@damage
def the_end_of_a_file_of_DOS(made):
    rows = table(made)
    return case(text([NAMES, *rows], end="\r\n") + "\x1a", NAMES, rows)


@damage
def a_mark_amid_the_file(made):
    rows = table(made)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at]]).encode("utf-8-sig") + text(rows[at:]).encode("utf-8-sig"), NAMES, rows)


@damage
def hard_spaces_around_numbers(made):
    rows = table(made)
    for row in rows:
        row[3] = f"\u00a0{row[3]}"
    return case(text([NAMES, *rows]), NAMES, rows)


# ---- lines ----


@several(of_carriage_returns="\r", of_windows="\r\n", doubled="\r\r\n")
def line_ends(made, end):
    rows = table(made)
    return case(text([NAMES, *rows], end=end), NAMES, rows)


@damage
def line_ends_of_both_kinds(made):
    rows = table(made)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at]]) + text(rows[at:], end="\r\n"), NAMES, rows)


@damage
def no_line_end_at_the_end(made):
    rows = table(made)
    return case(text([NAMES, *rows]).rstrip("\n"), NAMES, rows)


@several(empty="\n", of_spaces="   \n", of_delimiters=",,,,\n")
def lines_amid_the_rows(made, line):
    rows = table(made)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at]]) + line + text(rows[at:]), NAMES, rows)


@several(empty="\n\n", of_delimiters=",,,,\n,,,,\n")
def lines_at_the_end(made, lines):
    rows = table(made)
    return case(text([NAMES, *rows]) + lines, NAMES, rows)


@damage
def line_separators_of_unicode(made):
    rows = table(made)
    rows[somewhere(made, rows)][4] = "one\u2028two\x85three"
    return case(text([NAMES, *rows]), NAMES, rows)


@damage
def an_end_amid_a_line(made):
    rows = table(made, plain=True)
    return case(text([NAMES, *rows]).rstrip("\n")[: -len(rows[-1][4]) - 3], NAMES, rows[:-1])


# ---- delimiters ----


@several(semicolon=";", tab="\t", bar="|", caret="^", tilde="~", control_a="\x01")
def delimiter(made, sign):
    rows = table(made)
    return case(text([NAMES, *rows], delimiter=sign), NAMES, rows)


@several(colon=":", space=" ")
def weak_delimiter(made, sign):
    rows = table(made, plain=True)
    return case(text([NAMES, *rows], delimiter=sign), NAMES, rows)


@several(bars="||", colons="::")
def delimiter_of_two(made, sign):
    rows = table(made, plain=True)
    return case("".join(sign.join(row) + "\n" for row in [NAMES, *rows]), NAMES, rows)


@damage
def a_space_after_each_delimiter(made):
    rows = table(made)
    return case("".join(", ".join(f'"{field}"' if "," in field else field for field in row) + "\n" for row in [NAMES, *rows]), NAMES, rows)


@damage
def columns_aligned_by_spaces(made):
    rows = [row[:4] for row in table(made, plain=True)]
    return case("".join("".join(f"{field:14}" for field in row).rstrip() + "\n" for row in [NAMES[:4], *rows]), NAMES[:4], rows)


@damage
def the_delimiter_named_in_the_first_line(made):
    rows = table(made)
    return case("sep=;\n" + text([NAMES, *rows], delimiter=";"), NAMES, rows)


@several(all_lines=True, data_lines=False)
def a_delimiter_at_the_end_of(made, also_header):
    rows = table(made)
    lines = text([NAMES, *rows]).splitlines()
    return case("".join(line + ("," if at or also_header else "") + "\n" for at, line in enumerate(lines)), NAMES, rows)


@damage
def decimal_commas(made):
    rows = table(made)
    for row in rows:
        row[3] = row[3].replace(".", ",")
    return case(text([NAMES, *rows], delimiter=";"), NAMES, rows)


# ---- headers ----


@damage
def no_header(made):
    rows = table(made)
    return case(text(rows), [], rows)


@damage
def units_below_the_header(made):
    rows = table(made)
    return case(text([NAMES, ["", "ISO", "", "EUR", ""], *rows]), ["id", "day ISO", "city", "amount EUR", "note"], rows)


@several(of_times=["", "Time", "", "", "Text"], spanning=["", "2023", "", "2024", ""])
def groups_above_the_header(made, groups):
    rows = [[row[2], *(str(made.randrange(1000)) for _ in range(4))] for row in table(made)]
    names = ["city", "sold", "lost", "sold", "lost"]
    whole = {"Time": ["city", "Time sold", "Time lost", "Time sold", "Text lost"], "2023": ["city", "2023 sold", "2023 lost", "2024 sold", "2024 lost"]}[groups[1]]
    return case(text([groups, names, *rows]), whole, rows)


@several(amid_the_rows=1, often=3)
def the_header_again(made, times):
    rows = table(made)
    lines = [NAMES, *rows]
    for _ in range(times):
        lines.insert(made.randrange(3, len(lines) - 1), NAMES)
    return case(text(lines), NAMES, rows)


@damage
def a_name_twice(made):
    rows = table(made)
    names = ["id", "day", "city", "day", "note"]
    return case(text([names, *rows]), names, rows)


@damage
def a_name_missing(made):
    rows = table(made)
    return case(text([["", *NAMES[1:]], *rows]), ["", *NAMES[1:]], rows)


@damage
def a_header_too_short(made):
    rows = table(made)
    return case(text([NAMES[:4], *rows]), [*NAMES[:4], ""], rows)


@damage
def a_header_too_long(made):
    rows = table(made)
    return case(text([[*NAMES, "more"], *rows]), [*NAMES, "more"], [[*row, ""] for row in rows])


@damage
def line_ends_in_names(made):
    rows = table(made)
    names = ["id", "day\nof sale", "city", "amount\n(EUR)", "note"]
    return case(text([names, *rows]), ["id", "day of sale", "city", "amount (EUR)", "note"], rows)


@damage
def years_for_names(made):
    rows = [[city, *(str(made.randrange(1000)) for _ in range(4))] for city in CITIES]
    return case(text([["city", "2020", "2021", "2022", "2023"], *rows]), ["city", "2020", "2021", "2022", "2023"], rows)


@damage
def a_header_behind_a_comment_sign(made):
    rows = table(made)
    return case("#" + text([NAMES, *rows]), NAMES, rows)


# ---- above, amid and below ----


@several(
    in_a_line="Sales of the year\n", and_an_empty_line="Sales of the year\n\n", padded="Sales of the year,,,,\n", padded_and_an_empty_line="Sales of the year,,,,\n,,,,\n",
    of_two_lines="Sales of the year,,,,\nin euros,,,,\n", of_facts="Source:,our books,,,\nMade on:,2024-12-31,,,\n,,,,\n", of_facts_unpadded="Source,our books\nMade on,2024-12-31\n\n",
    centred=",,Sales of the year,,\n,,,,\n", with_commas='"Sales, returns, and more"\n\n',
)  # fmt: skip
def title(made, title):
    rows = table(made)
    return case(title + text([NAMES, *rows]), NAMES, rows)


@several(hash="# made by hand\n# of 2024\n", hash_with_commas="# made by hand, of 2024, by me, and, others\n", percent="% made by hand\n")
def comments_above(made, comments):
    rows = table(made)
    return case(comments + text([NAMES, *rows]), NAMES, rows)


@several(bare="# checked until here\n", padded="# checked until here,,,,\n", with_commas="# checked, until here, by me, and, others\n")
def a_comment_amid_the_rows(made, comment):
    rows = table(made)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at]]) + comment + text(rows[at:]), NAMES, rows)


@several(bare="Source: our books\n", padded="Source: our books,,,,\n", after_an_empty_line="\nSource: our books\n", padded_after_an_empty_line=",,,,\nSource: our books,,,,\n")
def a_footnote(made, note):
    rows = table(made)
    return case(text([NAMES, *rows]) + note, NAMES, rows)


@several(total="Total", sum="Sum", grand_total="Grand total")
def a_last_line_of_a(made, word):
    rows = table(made)
    return case(text([NAMES, *rows, [word, "", "", f"{sum(float(row[3]) for row in rows):.2f}", ""]]), NAMES, rows)


SECOND = [["place", "people"], ["here", "5"], ["there", "7"]]
WIDER = [["place", "people", "a", "b", "c", "d", "e"], *([str(at), "5", "1", "2", "3", "4", "5"] for at in range(40))]
AS_WIDE = [["place", "people", "name", "which", "of"], *([f"p{at}", "many", "x", "no", "y"] for at in range(4))]


@several(
    narrower=("\n", SECOND), wider=("\n", WIDER), as_wide=("\n", AS_WIDE), narrower_at_once=("", SECOND), wider_at_once=("", WIDER[:15]), after_padding=(",,,,\n", [[*row, "", "", ""] for row in SECOND]),
)  # fmt: skip
def a_second_table(made, what):
    between, second = what
    rows = table(made)
    return case(text([NAMES, *rows]) + between + text(second), NAMES, rows)


# ---- rows ----


@damage
def a_row_too_short(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at], [*rows[at][:2], *rows[at][3:]], *rows[at + 1 :]]), NAMES, [*rows[:at], *rows[at + 1 :]])


@damage
def a_row_too_long(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at], [*rows[at], "more"], *rows[at + 1 :]]), NAMES, [*rows[:at], *rows[at + 1 :]])


@damage
def many_rows_that_end_early(made):
    rows = table(made, plain=True)
    for row in rows[::2]:
        row[4] = ""
    return case(text([NAMES, *([*row[:4], *row[4:]] if row[4] else row[:4] for row in rows)]), NAMES, rows)


@damage
def first_rows_and_header_that_end_early(made):
    rows = table(made, plain=True)
    for row in rows[:3]:
        row[4] = ""
    return case(text([NAMES[:4], *(row[:4] for row in rows[:3]), *rows[3:]]), [*NAMES[:4], ""], rows)


@damage
def a_row_with_another_delimiter(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at]]) + ";".join(rows[at]) + "\n" + text(rows[at + 1 :]), NAMES, [*rows[:at], *rows[at + 1 :]])


@damage
def two_rows_in_a_line(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at], [*rows[at], *rows[at + 1]], *rows[at + 2 :]]), NAMES, [*rows[:at], *rows[at + 2 :]])


@damage
def a_row_in_two_lines(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    return case(text([NAMES, *rows[:at], rows[at][:3], rows[at][3:], *rows[at + 1 :]]), NAMES, [*rows[:at], *rows[at + 1 :]])


# ---- quotes ----


@several(before_a_field='"{}', amid_a_field='{0[0]}"{0[1]}', behind_a_field='{}"')
def a_stray_quote(made, form):
    rows = table(made)
    at = somewhere(made, rows)
    place = rows[at][2]
    halves = (place[:2], place[2:])
    damaged = form.format(halves) if "[" in form else form.format(place)
    lines = text([NAMES, *rows]).splitlines()
    lines[at + 1] = lines[at + 1].replace(place, damaged, 1)
    rows[at][2] = damaged
    return case("\n".join(lines) + "\n", NAMES, rows)


@several(of_one_column=(2, False), of_two_columns=(4, False), of_one_column_among_quoted_ones=(2, True))
def stray_quotes_in_two_lines(made, what):
    """That of the second line closes what that of the first opens."""
    column, quoted = what
    rows = table(made, plain=True)
    at = somewhere(made, rows, 3)
    options = {"quoting": csv.QUOTE_ALL} if quoted else {}
    before, after = text([NAMES, *rows[:at]], **options), text(rows[at + 2 :], **options)
    rows[at][column], rows[at + 1][2] = f'"{rows[at][column]}', f'{rows[at + 1][2]}"'
    return case(before + "".join(",".join(row) + "\n" for row in rows[at : at + 2]) + after, NAMES, rows)


@damage
def quotes_within_quotes(made):
    rows = table(made)
    at = somewhere(made, rows)
    lines = text([NAMES, *rows], quoting=csv.QUOTE_ALL).splitlines()
    rows[at][4] = 'the "best" one'
    lines[at + 1] = ",".join(f'"{field}"' for field in rows[at])
    return case("\n".join(lines) + "\n", NAMES, rows)


@several(amid=None, at_the_end=-1)
def a_quote_that_nobody_closes(made, at):
    rows = table(made)
    at = somewhere(made, rows) if at is None else len(rows) - 1
    lines = text([NAMES, *rows]).splitlines()
    lines[at + 1] = ",".join(rows[at][:4]) + ',"open'
    rows[at][4] = '"open'
    return case("\n".join(lines) + "\n", NAMES, rows)


@damage
def a_quote_in_the_header(made):
    rows = table(made)
    return case(text([NAMES, *rows]).replace("city", '"city', 1), ["id", "day", '"city', "amount", "note"], rows)


@several(backslashes="\\", apostrophes="'")
def quotes_by(made, sign):
    rows = table(made)
    if sign == "'":
        return case(text([NAMES, *rows], quotechar="'"), NAMES, rows)
    for row in rows[::3]:
        row[4] = 'the "best", they say'
    return case(text([NAMES, *rows], doublequote=False, escapechar="\\"), NAMES, rows)


@damage
def curly_quotes(made):
    rows = table(made, plain=True)
    at = somewhere(made, rows)
    lines = text([NAMES, *rows]).splitlines()
    lines[at + 1] = ",".join([*rows[at][:4], "“one, two”"])
    return case("\n".join(lines) + "\n", NAMES, [*rows[:at], *rows[at + 1 :]])


@several(alone="one\ntwo", with_delimiters="one, two\nthree, four, five", with_quotes='one "two"\nthree')
def lines_within_quotes(made, note):
    rows = table(made)
    for row in rows[::4]:
        row[4] = note
    return case(text([NAMES, *rows]), NAMES, rows)


@damage
def each_line_in_quotes(made):
    rows = table(made)
    return case(text([[line] for line in text([NAMES, *rows]).splitlines()]), NAMES, rows)


# ---- single columns ----


@several(times="{:02}:{:02}", times_to_the_second="{:02}:{:02}:30", ratios="{}:{}", moments="2024-03-01 {:02}:{:02}", decimal_commas="{},{:02}", first_and_last="Ann{} Lee{}")
def one_column_of(made, form):
    rows = [[form.format(made.randrange(24), made.randrange(60))] for _ in range(30)]
    return case("value\n" + "".join(f"{row[0]}\n" for row in rows), ["value"], rows)


@damage
def one_column_of_times_without_header(made):
    rows = [[f"{made.randrange(24):02}:{made.randrange(60):02}"] for _ in range(30)]
    return case("".join(f"{row[0]}\n" for row in rows), [], rows)


# ---- values ----


@several(word=(3, "unknown"), date=(1, "2024-02-30"), code=(0, "n. n."), other_order=(1, "13/02/2024"), excel=(3, "#REF!"), formula=(0, '="00123"'))
def one_odd_value(made, what):
    column, value = what
    rows = table(made)
    rows[somewhere(made, rows)][column] = value
    return case(text([NAMES, *rows]), NAMES, rows)


@damage
def leading_zeros(made):
    rows = table(made)
    for row in rows:
        row[0] = f"00{row[0]}"
    return case(text([NAMES, *rows]), NAMES, rows)


@damage
def spaces_around_fields(made):
    rows = table(made)
    for row in rows:
        row[2] = f"{row[2]}  "
    return case(text([NAMES, *rows]), NAMES, rows)


