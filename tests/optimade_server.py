# SPDX-License-Identifier: Apache-2.0
"""Real databases of materials for tests: the reference server of OPTIMADE, as often as there are databases below, and its own
client. Run by the Python of build/optimade: it prints {NAME: URL} and serves on ports of 127.0.0.1 until standard input ends.
Each line that it is given, {"names": [...], "filter": "..."}, is answered by one with what the client finds there.

`left` and `right` hold parts of the data that come with the server, and of a family of oxides whose gap falls with their
density. What both hold they hold under ids of their own; a lattice of `right` is longer by a thousandth, as of another
calculation."""
import asyncio
import copy
import datetime
import json
import os
import sys
import tempfile
import threading
import warnings

warnings.simplefilter("ignore")
scratch = tempfile.TemporaryDirectory(prefix="adder-optimade-", dir="/tmp")
os.environ["OPTIMADE_CONFIG_FILE"] = os.path.join(scratch.name, "none.json")

import uvicorn  # noqa: E402
from optimade.client import OptimadeClient  # noqa: E402
from optimade.server import data  # noqa: E402
from optimade.server.config import ServerConfig  # noqa: E402
from optimade.server.create_app import create_app  # noqa: E402

PAGE = 20
METALS = ("Ge", "Hf", "Sn", "Ti", "Zr")
STOICHIOMETRIES = ((1, 1), (1, 2), (2, 3), (3, 5))  # metal, oxygen
GROUPS = (("P4_2/mnm", 136), ("I4_1/amd", 141), ("Pbca", 61), ("P2_1/c", 14))  # one for each polymorph
STRETCHED = 1.001

# The name of a database: the first and the one after the last of the structures that come with the server, the polymorph
# that it has none of, the fields of its own, by what lengths are multiplied.
DATABASES = {
    "left": ((0, 12), 3, ("band_gap",), 1.0),
    "right": ((5, 17), 0, ("band_gap", "formation_energy"), STRETCHED),
}
FIELDS = {
    "band_gap": {"type": "float", "unit": "eV", "description": "The gap between bands."},
    "formation_energy": {"type": "float", "unit": "eV/atom", "description": "The energy of formation."},
}


def formula_of(counts):
    return "".join(f"{element}{count if count > 1 else ''}" for element, count in sorted(counts.items()))


def oxide(number):
    """The one of that number: its polymorph, and so its volume, changes first."""
    rest, polymorph = divmod(number, len(GROUPS))
    metal, (metals, oxygens) = METALS[rest // len(STOICHIOMETRIES)], STOICHIOMETRIES[rest % len(STOICHIOMETRIES)]
    counts = {metal: metals, "O": oxygens}
    sites = [name for name in sorted(counts) for _ in range(counts[name])]
    base = (len(sites) * (9.0 + 1.5 * polymorph) / 1.5) ** (1 / 3)
    lattice = [[base, 0.0, 0.0], [0.0, base, 0.0], [0.0, 0.0, 1.5 * base]]
    formula = formula_of(counts)
    return {
        "task_id": f"oxide-{number}",
        "elements": sorted(counts),
        "nelements": 2,
        "elements_ratios": [counts[name] / len(sites) for name in sorted(counts)],
        "pretty_formula": formula,
        "formula_anonymous": "".join(
            f"{letter}{count if count > 1 else ''}" for letter, count in zip("AB", sorted(counts.values(), reverse=True))
        ),
        "dimension_types": [1, 1, 1],
        "nperiodic_dimensions": 3,
        "lattice_vectors": lattice,
        "cartesian_site_positions": [[base * i / len(sites)] * 3 for i in range(len(sites))],
        "nsites": len(sites),
        "species": [{"name": name, "chemical_symbols": [name], "concentration": [1.0]} for name in sorted(counts)],
        "species_at_sites": sites,
        "assemblies": None,
        "structure_features": [],
        "space_group_it_number": GROUPS[polymorph][1],
        "space_group_symbol_hermann_mauguin": GROUPS[polymorph][0],
        "last_modified": datetime.datetime(2024, 1, 1 + number % 28, tzinfo=datetime.timezone.utc),
        "band_gap": 1.0 + 0.75 * polymorph + 0.1 * (number // len(GROUPS) % 7),
        "formation_energy": -0.5 - 0.05 * number,
    }


def stretched(entry, name, factor):
    entry = copy.deepcopy(entry)
    entry.pop("_id", None)
    entry["task_id"] = f"{name}-{entry['task_id']}"
    for field in ("lattice_vectors", "cartesian_site_positions"):
        entry[field] = [[length * factor for length in vector] for vector in entry[field]]
    return entry


def entries_of(name):
    (first, end), without, own, factor = DATABASES[name]
    count = len(METALS) * len(STOICHIOMETRIES) * len(GROUPS)
    oxides = [oxide(number) for number in range(count) if number % len(GROUPS) != without]
    whole = [stretched(entry, name, factor) for entry in (*data.structures[first:end], *oxides)]
    for entry in whole:
        for field in FIELDS.keys() - set(own):
            entry.pop(field, None)
    return whole


def application(name):
    settings = ServerConfig(
        insert_test_data=False,
        structures_collection=f"{name}-structures",
        references_collection=f"{name}-references",
        links_collection=f"{name}-links",
        provider={"prefix": name, "name": f"The {name} database", "description": "For tests."},
        provider_fields={"structures": [{"name": field, **FIELDS[field]} for field in DATABASES[name][2]]},
        aliases={
            "structures": {
                "id": "task_id",
                "immutable_id": "_id",
                "chemical_formula_descriptive": "pretty_formula",
                "chemical_formula_reduced": "pretty_formula",
                "chemical_formula_anonymous": "formula_anonymous",
            }
        },
        page_limit=PAGE,
        page_limit_max=PAGE,
        log_level="critical",
        log_dir=scratch.name,
    )
    app = create_app(settings, logger_tag=name)
    app.state.entry_collections["structures"].insert(entries_of(name))
    return app


def serve(name):
    """Starts it; its URL, which may be asked at once: the kernel keeps who comes before uvicorn is there."""
    server = uvicorn.Server(uvicorn.Config(application(name), host="127.0.0.1", port=0, log_level="critical"))
    listening = server.config.bind_socket()
    listening.listen(server.config.backlog)
    threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def find(urls, names, text):
    """{NAME: entries} as the client has them."""
    client = OptimadeClient(
        base_urls=[urls[name] for name in names], max_results_per_provider=0, use_async=False, silent=True
    )
    found = client.get(text)["structures"][text]
    return {name: found[urls[name]]["data"] for name in names}


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what others print is no answer
    urls = {name: serve(name) for name in DATABASES}
    print(json.dumps(urls), file=answers)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(find(urls, asked["names"], asked["filter"])), file=answers)


main()
