# SPDX-License-Identifier: Apache-2.0
"""Makes src/adder_client/_sync from _async: the same code without waiting for its turn.

python make_sync.py           # writes the folder
python make_sync.py --check   # says what is not current, and fails then
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "src" / "adder_client"
WORDS = {
    "_async": "_sync",
    "AsyncIterator": "Iterator",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncHTTPTransport": "HTTPTransport",
    "AsyncClient": "Client",
    "asynccontextmanager": "contextmanager",
    "AbstractAsyncContextManager": "AbstractContextManager",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "aclose": "close",
    "anyio": "time",
}
OWN = re.compile(r"\bAsync(?=[A-Z])")  # AsyncAdder and its like
AWAITED = re.compile(r"\b(\w+)_awaited\b")  # a function that has a like without waiting
ANY = re.compile(r"\b(" + "|".join(WORDS) + r")\b")


def made_sync(text: str) -> str:
    text = re.sub(r"\basync (?=def|with|for)", "", text)
    text = re.sub(r"\bawait ", "", text)
    text = AWAITED.sub(r"\1", text)
    text = OWN.sub("", ANY.sub(lambda found: WORDS[found[1]], text))
    text = text.replace(
        "# SPDX-License-Identifier: Apache-2.0\n",
        "# SPDX-License-Identifier: Apache-2.0\n# Made from _async by make_sync.py: change that.\n",
        1,
    )
    text = text.replace(
        "The client that is awaited. _sync is made from this folder by make_sync.py.",
        "The client that waits, made from _async.",
    )
    # The standard library's module goes with its like.
    if "\nimport time\n" in text:
        text = text.replace("\nimport time\n", "\n", 1).replace(
            "\nimport types\n", "\nimport time\nimport types\n", 1
        )
    return text


def main(arguments: list) -> int:
    stale = []
    for path in sorted((SOURCE / "_async").glob("*.py")):
        target = SOURCE / "_sync" / path.name
        text = made_sync(path.read_text())
        if not target.exists() or target.read_text() != text:
            stale.append(target)
        if "--check" not in arguments:
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)
    if "--check" in arguments and stale:
        print("not current:", *stale, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
