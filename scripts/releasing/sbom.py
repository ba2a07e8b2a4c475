# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a release, in CycloneDX 1.6: what Adder links, what its page holds, what environments are made of,
what clients need, and what wheels bundle.

Each component has properties `adder:used-in` that say where. The same sources, packages and date give the same bytes: the serial
number is computed from the content.
"""
import base64
import csv
import datetime
import io
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid
import zipfile

import versions
from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

SCHEMA = SchemaVersion.V1_6
# Beside environments/*: what holds pins of Python packages that users get.
PINS = {"packaging/container/requirements.txt": "the image for containers"}
# `name==1.2 ; marker \` and then `--hash=sha256:...` in lines of their own.
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?: *; *(?P<marker>[^\\\n]+?))? *(?:\\|$)", re.MULTILINE)


class Materials:
    """Components by the text of their package URL; one that is used in several places is one component."""

    def __init__(self):
        self.components = {}

    def add(self, kind, name, version, used_in, namespace=None, qualifiers=None, properties=(), **more):
        url = PackageURL(kind, namespace, name, version, qualifiers) if kind else None
        reference = url.to_string() if url else f"{name}@{version}"
        component = self.components.setdefault(
            reference, Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=reference, purl=url, **more))
        component.properties.add(Property(name="adder:used-in", value=used_in))
        component.properties.update(Property(name=f"adder:{key}", value=value) for key, value in properties)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def debian_package(path):
    """(package, version) that the file PATH is from, or None. Some packages register paths as before /lib was a link into /usr."""
    path = str(pathlib.Path(path).resolve())
    try:
        said = subprocess.run(["dpkg-query", "--search", path, path.removeprefix("/usr")], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return None
    owners = {line.split(": ")[0] for line in said.splitlines()}
    if len(owners) != 1:
        return None
    return output_of("dpkg-query", "--show", "--showformat=${Package}\t${Version}", owners.pop()).split("\t")


def system():
    """(ID, VERSION_ID, architecture) of the host, as package URLs have them."""
    text = pathlib.Path("/etc/os-release").read_text()
    fields = dict(line.replace('"', "").split("=", 1) for line in text.splitlines() if "=" in line)
    return fields.get("ID", "linux"), fields.get("VERSION_ID", ""), output_of("dpkg", "--print-architecture").strip()


def add_debian(materials, package, version, used_in, architecture=None, **more):
    distribution, release, here = system()
    qualifiers = {"arch": architecture or here, "distro": f"{distribution}-{release}"}
    materials.add("deb", package, version, used_in, distribution, qualifiers, **more)


def add_linked(materials, build):
    """What Meson found, by the package that each library is from. Those without a library (threads, headers) are none."""
    for dependency in json.loads(output_of("meson", "introspect", "--dependencies", str(build))):
        for library in dependency["link_args"]:
            if library.startswith("/"):
                owner = debian_package(library)
                properties = [("meson-dependency", dependency["name"]), ("upstream-version", dependency["version"])]
                if owner:
                    add_debian(materials, *owner, "adder", properties=properties)
                else:
                    materials.add(None, dependency["name"], dependency["version"], "adder", properties=properties)


def add_page(materials, source):
    """Packages of npm that the page is made of; those that only build it are none."""
    for path, package in json.loads((source / "web/package-lock.json").read_text())["packages"].items():
        if path and not package.get("dev"):
            *scope, name = path.rpartition("node_modules/")[2].split("/")
            licence = LicenseFactory().make_from_string(package["license"]) if "license" in package else None
            algorithm, _, encoded = package["integrity"].partition("-")
            materials.add("npm", name, package["version"], "the web interface", scope[0] if scope else None,
                          licenses=[licence] if licence else None,
                          hashes=[HashTypeFactory().from_composite_str(f"{algorithm}:{base64.b64decode(encoded).hex()}")])


def add_pins(materials, source):
    lists = {f"environments/{path.parent.name}/requirements.txt": f"the environment {path.parent.name}"
             for path in sorted(source.glob("environments/*/requirements.txt"))}
    for name, used_in in {**lists, **PINS}.items():
        text = (source / name).read_text()
        pins = list(PIN.finditer(text))
        if len(pins) != len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)):
            sys.exit(f"sbom.py: {name} has lines that are no pins")
        for pin in pins:
            marker = [("marker", pin["marker"])] if pin["marker"] else []
            materials.add("pypi", pin["name"], pin["version"], used_in, properties=marker)


def add_clients(materials, source):
    project = tomllib.loads((source / "clients/python/pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)[0]
        materials.add("pypi", name, None, "the Python client", properties=[("requirement", requirement)])
    if "dependencies" in json.loads((source / "clients/typescript/package.json").read_text()):
        sys.exit("sbom.py: the TypeScript client had no dependencies until now: list them here")


def add_bundled(materials, wheel):
    """packaging/wheel/ puts a table into each wheel that says which package a bundled library is from."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/licenses/libraries.tsv")]
        rows = csv.DictReader(io.StringIO(archive.read(name).decode()), delimiter="\t")
        architecture = {"x86_64": "amd64", "aarch64": "arm64"}[re.search(r"_(x86_64|aarch64)\.whl$", wheel.name)[1]]
        for row in rows:
            add_debian(materials, row["package"], row["version"], f"the wheel for {architecture}", architecture,
                       properties=[("library", row["library"]), ("source", f"{row['source']} {row['source version']}")])


def bill(source, build, wheels, epoch):
    """Of the checkout SOURCE, of which BUILD is a configured build directory."""
    materials = Materials()
    add_linked(materials, build)
    add_page(materials, source)
    add_pins(materials, source)
    add_clients(materials, source)
    for wheel in sorted(wheels):
        add_bundled(materials, wheel)
    version = versions.current(source)
    whole = Component(name="adder", version=version, type=ComponentType.APPLICATION, bom_ref=f"adder@{version}",
                      licenses=[LicenseFactory().make_from_string("Apache-2.0")],
                      description="Runs Python written by language models in isolated, pre-warmed CPython interpreters")
    bom = Bom(components=materials.components.values(), serial_number=uuid.UUID(int=0))
    bom.metadata.component = whole
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    bom.register_dependency(whole, list(materials.components.values()))
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_OID, text_of(bom))
    return text_of(bom)


def text_of(bom):
    return make_outputter(bom, OutputFormat.JSON, SCHEMA).output_as_string(indent=2) + "\n"


def validate(text):
    """What the schema says against it, or None."""
    error = JsonStrictValidator(SCHEMA).validate_str(text)
    return None if error is None else str(error)
