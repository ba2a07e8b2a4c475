# SPDX-License-Identifier: Apache-2.0
"""What the values of a column are, judged by a sample of its texts. The patterns are such that Arrow's RE2 reads them as
Python does, so that both readers convert by them."""

import copy
import datetime
import re

# No value, in a column of numbers, dates or booleans. In a text column most of these may be values.
MISSING = ("", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none", "NONE", "nil", "(null)", "<NA>", "NaT", "#N/A", "#N/A N/A", "#NA", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "-", "--", "---", "—", "–", ".", "..", "...", "?", "missing")
NO_VALUE = frozenset(MISSING)
MISSING_TEXT = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")

TRUE = ("true", "yes", "y", "t")
FALSE = ("false", "no", "n", "f")
PAIRS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"))

# What a number, a date or a time looks like at a glance.
TYPED = re.compile(r"\s*[-+(]?[$€£¥]?\s*(\d[\d.,'  ]*([eE][-+]?\d+)?\s*%?\)?|\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?([ T]\d.*)?|\.\d+|\d{1,3}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?)\s*$")
INTEGER = r"^[+-]?[0-9]+$"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|^[+-]?(?:inf|Inf|INF|infinity|Infinity)$"
LEADING_ZERO = r"^[+-]?0[0-9]+$"
SYMBOLS = r"(?:[$€£¥₹₩₽]|US\$|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|kr|zł)"
SPACES = "[ \u00a0\u202f\u2009]"

# Digits, by (decimal, thousands). Groups are of three, but for a number's first.
GROUPED = {
    (".", ","): r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?",
    (",", "."): r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?",
    (".", " "): r"[0-9]{1,3}(?:" + SPACES + r"[0-9]{3})+(?:\.[0-9]+)?",
    (",", " "): r"[0-9]{1,3}(?:" + SPACES + r"[0-9]{3})+(?:,[0-9]+)?",
    (".", "'"): r"[0-9]{1,3}(?:['’][0-9]{3})+(?:\.[0-9]+)?",
}
PLAIN = {".": r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", ",": r"(?:[0-9]+,?[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?"}
STYLES = ((".", None), (",", None), *GROUPED)
SEPARATORS = {",": ",", ".": r"\.", " ": SPACES, "'": "['’]"}
JUDGED = 1000  # values of a column
LONGEST = 100  # characters of a number or a date
CENTURY = 69  # years of two digits from here on are of the last one

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = r"(?P<b>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\.?"
DAY_NAME = r"(?i:(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)(?:day|nesday|sday|rsday|urday)?,? )?"
YEAR4, YEAR2 = r"(?P<y>[0-9]{4})", r"(?P<y>[0-9]{2})"
TWO = r"(?P<%s>[0-9]{1,2})"
M, D = TWO % "m", TWO % "d"
TIME = r"(?:(?:T|,? +)(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)? ?(?P<p>[AaPp]\.?[Mm]\.?)? ?(?P<z>Z|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?)?)?$"

# (how it is called, its pattern, whether day and month could be the other way round)
SHAPES = (
    ("%Y-%m-%d", rf"^{YEAR4}-{M}-{D}{TIME}", None),
    ("%Y/%m/%d", rf"^{YEAR4}/{M}/{D}{TIME}", None),
    ("%Y.%m.%d", rf"^{YEAR4}\.{M}\.{D}{TIME}", None),
    ("%m/%d/%Y", rf"^{M}/{D}/{YEAR4}{TIME}", "%d/%m/%Y"),
    ("%d/%m/%Y", rf"^{D}/{M}/{YEAR4}{TIME}", "%m/%d/%Y"),
    ("%m-%d-%Y", rf"^{M}-{D}-{YEAR4}{TIME}", "%d-%m-%Y"),
    ("%d-%m-%Y", rf"^{D}-{M}-{YEAR4}{TIME}", "%m-%d-%Y"),
    ("%d.%m.%Y", rf"^{D}\.{M}\.{YEAR4}{TIME}", None),
    ("%m/%d/%y", rf"^{M}/{D}/{YEAR2}{TIME}", "%d/%m/%y"),
    ("%d/%m/%y", rf"^{D}/{M}/{YEAR2}{TIME}", "%m/%d/%y"),
    ("%d.%m.%y", rf"^{D}\.{M}\.{YEAR2}{TIME}", None),
    ("%d %b %Y", rf"^{DAY_NAME}{D}[ -]{MONTH}[ -,]+{YEAR4}{TIME}", None),
    ("%d-%b-%y", rf"^{D}[ -]{MONTH}[ -]{YEAR2}{TIME}", None),
    ("%b %d %Y", rf"^{DAY_NAME}{MONTH} {D},? {YEAR4}{TIME}", None),
    ("%b %Y", rf"^{MONTH}[ -,]+{YEAR4}$", None),
    ("%b-%y", rf"^{MONTH}-{YEAR2}$", None),
    ("%Y %b", rf"^{YEAR4}[ -]{MONTH}$", None),
    ("%Y-%m", rf"^{YEAR4}-(?P<m>0[1-9]|1[0-2])$", None),
    ("%m/%Y", rf"^{M}/{YEAR4}$", None),
    ("%Y/%m", rf"^{YEAR4}/{M}$", None),
)
EITHER = r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}"
PATTERNS = {name: pattern for name, pattern, _ in SHAPES}
SWAPPED = {name: other for name, _, other in SHAPES if other}
compiled = {}


def is_typed(cell):
    """Whether CELL is a number or a date, as far as its looks go."""
    return len(cell) <= 60 and bool(TYPED.match(cell))


class Kind:
    """`kind` of what TABLE names; for numbers `style` (decimal, thousands), `symbol` and `percent`; for dates `format`; for
    booleans the word that is `true`."""

    def __init__(self, kind, style=(".", None), symbol=False, percent=False, format=None, negative=False):
        self.kind, self.style, self.symbol, self.percent, self.format, self.negative = kind, style, symbol, percent, format, negative
        self.keeps = ()  # words that look missing and are not
        self.notes = []

    def copy(self):
        copied = copy.copy(self)
        copied.notes = list(self.notes)
        return copied

    def is_plain(self):
        return self.style == (".", None) and not self.symbol and not self.percent and not self.negative

    def pattern(self):
        """Of a number as it is written."""
        decimal, thousands = self.style
        digits = PLAIN[decimal]
        if thousands:
            digits = f"(?:{GROUPED[self.style]}|{digits})"
        return number_pattern(digits)


def number_pattern(digits):
    symbol = f"(?:{SYMBOLS} ?)?"
    signed = f"[+-]?{symbol}[+-]?{digits} ?{symbol}%?"
    return rf"^(?:{signed}|\({symbol}{digits}\))$"


def regex(pattern):
    found = compiled.get(pattern)
    if found is None:
        found = compiled[pattern] = re.compile(pattern)
    return found


def matches(pattern, values):
    match = regex(pattern).match
    return all(match(value) for value in values)


# ---- numbers ----


def judge_number(values, options, likely):
    """The kind of number that VALUES are, or None. LIKELY is the decimal sign that others of the file show."""
    joined = "".join(values)
    if joined.isascii() and joined.isdigit() or matches(INTEGER, values):
        return judge_integer(values, joined)
    if likely != "," and not options and is_plain(values, joined):
        return Kind("number")
    fitting = [style for style in STYLES if is_as_asked(style, options) and matches(Kind("number", style).pattern(), values)]
    if not fitting:
        return Kind("number") if matches(NUMBER, values) else None
    symbols = {symbol for value in values for symbol in regex(SYMBOLS).findall(value)}
    percents = sum("%" in value for value in values)
    if len(symbols) > 1:
        return text("values have different currencies and are kept as text")
    if percents and percents < len(values):
        return text("some values are per cent and others are not, so they are kept as text")
    style = choose_style(fitting, likely)
    kind = Kind("number", style, bool(symbols), percents > 0, negative="(" in joined)
    bare = [strip(value, kind) for value in values]
    if not kind.percent and not kind.symbol and matches(INTEGER, bare) and all(len(value) < 16 for value in bare):
        kind.kind = "integer"
    kind.notes.extend(said_of_number(kind, values, symbols, len(fitting) > 1 and is_as_fraction(values, style)))
    return kind


def judge_integer(values, joined):
    if any(regex(LEADING_ZERO).match(value) for value in values if "0" in value[:2]):
        return text("numbers with leading zeros are kept as text")
    if not all(map(fits, values)):
        return text("numbers of more than 18 digits are kept as text")
    return Kind("integer")


def is_plain(values, joined):
    """Whether Python reads all VALUES as numbers, which is quicker than to match them."""
    if not joined.isascii() or "_" in joined or "n" in joined or "N" in joined:
        return False
    try:
        for value in values:
            float(value)
    except ValueError:
        return False
    return True


def said_of_number(kind, values, symbols, is_guess):
    decimal, thousands = kind.style
    names = {",": "commas", ".": "dots", " ": "spaces", "'": "apostrophes"}
    if is_guess:
        yield f"{names[thousands]} were taken for separators of thousands, though they could be decimal signs"
    elif thousands:
        yield f"{names[thousands]} separate thousands"
    if decimal == ",":
        yield "the decimal sign is a comma"
    for symbol in symbols:
        yield f"amounts in {symbol}, read as numbers"
    if kind.percent:
        yield "per cent: 12.5 means 12.5 %"
    if kind.negative:
        yield "amounts in parentheses are negative"


def fits(value):
    return len(value) <= 20 and -(2**63) <= int(value) < 2**63


def is_as_asked(style, options):
    return options.get("decimal", style[0]) == style[0] and style[1] in (None, options.get("thousands", style[1]))


def choose_style(fitting, likely):
    """Of the styles FITTING all values, what others of the file show, then plain numbers, then commas between thousands."""
    for style in fitting:
        if likely and style[0] == likely and (likely == "," or style[1] is None):
            return style
    return next((style for style in ((".", None), (".", ",")) if style in fitting), fitting[0])


def is_as_fraction(values, style):
    """Whether the separators of thousands of VALUES could all be decimal signs: `1,234`."""
    return style[1] in (",", ".") and all(value.count(style[1]) <= 1 and style[0] not in value for value in values)


def strip(value, kind):
    """VALUE, written as KIND is, as Python writes numbers."""
    value = regex(SYMBOLS).sub("", value).replace("%", "").strip()
    if value.startswith("("):
        value = "-" + value[1:-1].strip()
    decimal, thousands = kind.style
    if thousands:
        value = regex(SEPARATORS[thousands]).sub("", value)
    return value.replace(decimal, ".").replace(" ", "")


COMMA_SHOWN = r"^[^0-9]*[0-9.]*[0-9],(?:[0-9]{1,2}|[0-9]{4,})[^0-9,.]*$"


def shows_decimal_comma(values):
    """Whether VALUES prove that a comma is the decimal sign: numbers all, and one such as `12,5`."""
    if not any("," in value for value in values) or not matches(Kind("number", (",", ".")).pattern(), values):
        return False
    return any(regex(COMMA_SHOWN).match(value) for value in values)


# ---- dates ----


def parts(value, pattern):
    """VALUE as a datetime and its zone, as that is written, or None."""
    found = regex(pattern).match(value)
    if not found:
        return None
    get = found.groupdict().get
    year = int(get("y"))
    if year < 100 and len(get("y")) == 2:
        year += 1900 if year >= CENTURY else 2000
    month = MONTHS.index(get("b")[:3].lower()) + 1 if get("b") else int(get("m"))
    hour = int(get("H") or 0)
    if get("p"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if get("p")[0] in "pP" else 0)
    try:
        at = datetime.datetime(year, month, int(get("d") or 1), hour, int(get("M") or 0), int(get("S") or 0), int(((get("f") or "0") + "000000")[:6]))
    except ValueError:
        return None
    return at, get("z")


def judge_date(values, options, day_first):
    """The kind of date that VALUES are, or None. DAY_FIRST is what other columns of the file prove, or None."""
    fitting = [name for name in PATTERNS if matches(PATTERNS[name], values)]
    valid = [name for name in fitting if all(parts(value, PATTERNS[name]) for value in values)]
    if not valid:
        mixed = [name for name in fitting if name in SWAPPED]
        return text("some dates have their day first and others their month, so they are kept as text") if mixed else None
    chosen, note = valid[0], None
    swapped = SWAPPED.get(chosen)
    if swapped and swapped not in PATTERNS:
        swapped = None
    if swapped and swapped in valid:
        chosen, note = choose_order(values, chosen, swapped, options, day_first)
    elif swapped:
        note = f"dates have their {'day' if chosen.startswith('%d') else 'month'} first, since a number above 12 stands {'first' if chosen.startswith('%d') else 'second'}"
    kind = Kind("date", format=chosen)
    if note:
        kind.notes.append(note)
    if "%y" in chosen:
        kind.notes.append("years of two digits were taken for 1969 to 2068")
    return kind


def choose_order(values, first, second, options, day_first):
    by_day, by_month = (first, second) if first.startswith("%d") else (second, first)
    if options.get("day_first") is not None:
        return (by_day if options["day_first"] else by_month), None
    if day_first is not None:
        return (by_day if day_first else by_month), f"nothing in the column shows whether days or months come first, so {'days' if day_first else 'months'} do, as in another column"
    return by_month, "nothing in the data shows whether days or months come first, so months were taken to; if that is wrong, say day_first"


def shown_order(values):
    """Whether VALUES prove that days come first (True) or months (False), or None."""
    if not regex(EITHER).match(values[0]):
        return None
    for name in SWAPPED:
        if name.startswith("%m") and matches(PATTERNS[name], values):
            by_month = all(parts(value, PATTERNS[name]) for value in values)
            by_day = all(parts(value, PATTERNS[SWAPPED[name]]) for value in values) if SWAPPED[name] in PATTERNS else False
            return by_day if by_day != by_month else None
    return None


# ---- the whole ----


def text(note=None):
    kind = Kind("text")
    if note:
        kind.notes.append(note)
    return kind


def judge_boolean(values):
    words = {value.lower() for value in values}
    for pair in PAIRS:
        if words <= set(pair) and (len(words) == 2 or pair[0] in ("true",)):
            kind = Kind("boolean")
            if pair != ("true", "false"):
                kind.notes.append(f"{pair[0]} and {pair[1]} are true and false")
            return kind
    return None


def judge(values, options, likely=None, day_first=None):
    """The kind of a column that holds VALUES, texts that are not missing."""
    if not values:
        return Kind("empty")
    if len(max(values, key=len)) > LONGEST and not "".join(values).isdigit():
        return text()
    kind = judge_boolean(values) if len(values) <= 8 else None
    if kind is None and (any("0" <= character <= "9" for character in values[0]) or regex(NUMBER).match(values[0])):
        kind = judge_number(values, options, likely) or judge_date(values, options, day_first)
    return kind or text()


def judge_columns(columns, options):
    """The kind of each of COLUMNS, texts as they are in the file."""
    distinct = []
    for column in columns:
        distinct.append(sample_of(column))
    typed = [values for values in distinct if values and any("0" <= character <= "9" for character in values[0])]
    likely = "," if "decimal" not in options and any(map(shows_decimal_comma, typed)) else options.get("decimal")
    orders = {order for order in map(shown_order, typed) if order is not None}
    day_first = orders.pop() if len(orders) == 1 else None
    kinds = []
    for values in distinct:
        kind = judge(values, options, likely, day_first)
        if kind.kind == "text":
            kind.keeps = kept(values)
            kind.notes.extend(said_of_text(kind, values))
        kinds.append(kind)
    return kinds


def said_of_text(kind, values):
    """Where nearly all values are numbers or dates, which of them make a text of the column."""
    odd, most = [], len(values) // 5
    for value in values if not kind.notes else ():
        if not is_typed(value):
            odd.append(value)
            if len(odd) > most:
                return
    if odd:
        yield f"it holds text, for {len(odd)} of {len(values)} different values {'are' if len(odd) > 1 else 'is'} neither number nor date, such as {odd[0][:40]!r}"


def sample_of(column):
    """Some of the values of COLUMN, from all over it, once each. What they do not show, reading does."""
    values = list(dict.fromkeys(column))
    if len(values) > JUDGED:
        values = values[: JUDGED // 2] + values[JUDGED // 2 :: max(1, len(values) // (JUDGED // 2))]
    return [value for value in dict.fromkeys(value.strip() for value in values) if value not in NO_VALUE]


def kept(values):
    """Words that look missing and are not: among codes of two letters, NA is one."""
    codes = sum(len(value) == 2 and value.isupper() for value in values)
    return ("NA",) if codes * 2 > len(values) else ()
