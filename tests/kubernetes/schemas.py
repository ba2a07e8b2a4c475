# SPDX-License-Identifier: Apache-2.0
"""Makes the schemas that kubeconform reads from those of the package kubernetes-validate: python3 schemas.py FOLDER

There, kinds refer to one file of definitions by an address that only that package resolves. Here, each kind has the definitions that
it needs."""
import importlib.util
import json
import pathlib
import sys

VERSIONS = ("1.30.0", "1.33.0", "1.37.0")  # the oldest for level 1, the oldest for levels 2 and 3, the newest
KINDS = """
    configmap-v1 deployment-apps-v1 ingress-networking-v1 networkpolicy-networking-v1 pod-v1 poddisruptionbudget-policy-v1 secret-v1
    service-v1 serviceaccount-v1 statefulset-apps-v1
""".split()
FILE = "/api/_definitions.json"


def names_in(schema):
    """Of the definitions that SCHEMA refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("#/$defs/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from names_in(part)


def alone(schema, definitions):
    needed, found = {}, list(names_in(schema))
    while found:
        name = found.pop()
        if name not in needed:
            needed[name] = definitions[name]
            found += names_in(definitions[name])
    return json.dumps({**schema, "$defs": needed}).replace(f"{FILE}#", "#")


def main():
    # Not imported: importing it needs more packages.
    source = pathlib.Path(importlib.util.find_spec("kubernetes_validate").origin).parent / "kubernetes-json-schema"
    for version in VERSIONS:
        strict = source / f"v{version}-local-strict"
        definitions = json.loads((strict / "_definitions.json").read_text())["$defs"]
        folder = pathlib.Path(sys.argv[1]) / f"v{version}"
        folder.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            (folder / f"{kind}.json").write_text(alone(json.loads((strict / f"{kind}.json").read_text()), definitions))


main()
