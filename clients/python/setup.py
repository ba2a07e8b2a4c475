# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: the links of README.md are relative in the repository, and absolute in a package."""

import pathlib

from setuptools import setup

# Where the repository can be read. It has no public address yet, so this is a placeholder that a release replaces;
# clients/typescript/package.json has no addresses for the same reason.
SOURCE = "https://adder.example.org/source"

setup(
    long_description=pathlib.Path(__file__)
    .with_name("README.md")
    .read_text("utf-8")
    .replace("](../../", f"]({SOURCE}/"),
    long_description_content_type="text/markdown",
    project_urls={
        "Homepage": f"{SOURCE}/README.md",
        "Documentation": f"{SOURCE}/docs/http.md",
        "Changes": f"{SOURCE}/CHANGES.md",
        "Source": f"{SOURCE}/clients/python",
    },
)
