# SPDX-License-Identifier: Apache-2.0
"""Commands that install packages. Nothing can be installed in a sandbox without a network, and pip is told so
(sandbox/variables.c), so that it fails at once; here is what to say of it. What is there already is no reason to say anything: pip
answers that it is, as uv does, and the code goes on."""

import re

NAMES = ("pip", "conda", "mamba", "micromamba", "uv", "pipx", "poetry", "easy_install")
NAMES_MAX = 8

# The text of a command line, or words joined by spaces: what follows "install" up to the end of that command.
COMMAND = re.compile(
    rf"(?:^|[\s/'\"])((?:{'|'.join(NAMES)})(?:\d[\d.]*)?)['\"]?\s((?:[^|;&\n]*?\s)?(?:install|add))(?=\s)((?:(?!\s\d?>)[^|;&\n])*)"
)
REQUIREMENT = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*([<>=!~].*)?$")
# What stands behind these is no package.
WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --prefix --root -p --python -n --name --channel"
    " --platform --python-version --abi --implementation --proxy --retries --timeout --cache-dir --log --src --progress-bar".split()
)
# With these, what is installed is on the disk of the run, and may be had.
LOCAL = ("-f", "--find-links", "-e", "--editable", "--index-strategy")


def missing(text):
    """The installation that the command TEXT tries in vain, as "pip install NAME": None where it tries none, or none in vain as far
    as can be told."""
    found = COMMAND.search(text)
    if found is None:
        return None
    names = absent(words_of(found))
    return f"{found[1]} {found[2]} {' '.join(names)}" if names else None


def words_of(found):
    return found[3].replace("'", " ").replace('"', " ").split()


def is_met_by_what_is_there(text):
    """Whether the command TEXT installs packages that are there, and nothing else."""
    found = COMMAND.search(text)
    words = [word for word in words_of(found) if not word.startswith("-")] if found else []
    return bool(words) and all(is_met(word) for word in words)


def absent(words):
    """Those requirements among WORDS that are not met by what is there."""
    names, skip = [], False
    for word in words:
        if word.startswith(LOCAL):
            return []
        if skip or word.startswith("-"):
            skip = not skip and word in WITH_VALUE
            continue
        if is_met(word) is False:
            names.append(word)
    return names[:NAMES_MAX]


def is_met(word):
    """Whether WORD is a requirement that is met. None: it is something else, such as a file."""
    requirement = REQUIREMENT.match(word)
    if requirement is None:
        return False if "://" in word else None
    from importlib import metadata

    try:
        version = metadata.version(requirement[1])
    except metadata.PackageNotFoundError:
        return False
    return requirement[2] is None or is_within(version, requirement[2])


def is_within(version, specifier):
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        return True  # pip says if it is not
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except ValueError:
        return True
