# SPDX-License-Identifier: Apache-2.0
"""Versions of clients as they are installed, for the rows of docs/clients.md."""
import json
import subprocess


def npm_version(modules, package):
    """Of PACKAGE in the directory MODULES of node_modules."""
    return json.loads((modules / package / "package.json").read_text())["version"]


def python_version(python, package):
    """Of PACKAGE among those of the interpreter PYTHON."""
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return subprocess.run([python, "-c", code, package], check=True, capture_output=True, text=True).stdout.strip()
