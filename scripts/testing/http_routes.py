# SPDX-License-Identifier: Apache-2.0
"""Holds docs/http-routes.md against the program: each route of `adder serve --openapi` is named there, as `METHOD /path`, and none that
there is not."""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path("docs/http-routes.md")
METHOD = re.compile(r"`(?:((?:GET|POST|DELETE|HEAD)(?:, (?:GET|POST|DELETE))*) )(/[^`? ]*)`")


def routes_of_program():
    document = json.loads(subprocess.run(["build/adder", "serve", "--openapi"], check=True, capture_output=True, text=True).stdout)
    return {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}


def routes_of_page(text):
    return {(method, path) for methods, path in METHOD.findall(text) for method in methods.split(", ")}


def main():
    program, page = routes_of_program(), routes_of_page(PAGE.read_text())
    problems = [f"{PAGE} does not name `{method} {path}`" for method, path in sorted(program - page)]
    problems += [f"{PAGE} names `{method} {path}`, which there is not" for method, path in sorted(page - program)]
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
