# SPDX-License-Identifier: Apache-2.0
"""README.md as a package index shows it: alone, without the pages and pictures that it links to."""
import re

# Sections about the checkout, with what stands for them in the description. None: nothing does.
SECTIONS = {
    "Installation": """\
This wheel has the program and all libraries that it needs, for Linux 5.13 or later with glibc 2.34 or later (Debian 12,
Ubuntu 22.04, RHEL 9, Fedora 35 and what is newer), and no compiler is needed:

```sh
pip install adder-runtime          # or: uv tool install adder-runtime
adder doctor                       # what your host offers, and how to get what it lacks
adder env new science              # pandas, NumPy, Matplotlib and more, for runs
```

`uvx adder-runtime run -c '6*7'` tries it without installing. Runs use CPython 3.9 or later of the host, or the one that
Adder was installed with where the host has none.

The Python client is `adder-client`. The bundled libraries are unchanged files of Debian packages; the wheel's `licenses/`
lists them with their licenses.
""",
    "Documentation": None,
}


def without_relative_links(text):
    """Pictures go, links leave their text; those to elsewhere stay."""
    text = re.sub(r"^!\[[^]]*\]\((?!https?:)[^)]*\)\n+", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def for_index(source):
    text = (source / "README.md").read_text()
    text = re.sub(r"<!--.*?-->\n+", "", text, flags=re.DOTALL)
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    titles = [section.partition("\n")[0] for section in sections]
    assert set(SECTIONS) <= set(titles), f"README.md lacks {set(SECTIONS) - set(titles)}"
    kept = [head]
    for title, section in zip(titles, sections):
        instead = SECTIONS.get(title, section.partition("\n")[2].strip("\n") + "\n")
        if instead is not None:
            kept.append(f"## {title}\n\n{instead}\n")
    return without_relative_links("".join(kept)).rstrip("\n") + "\n\nApache License 2.0.\n"
