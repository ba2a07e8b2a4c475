# SPDX-License-Identifier: Apache-2.0
"""`adder search` and search_materials: real databases, held against what their own client finds in them, and one that does
whatever a database should not."""
import collections
import json
import math
import signal
import socket

import harness
import materials_world as world
import pytest

NUMBER = (int, float, harness.NULL)
ROW = {
    "formula": (str, harness.NULL), "elements": (list, harness.NULL), "nelements": (int, harness.NULL),
    "nsites": (int, harness.NULL), "space_group": (int, harness.NULL), "space_group_symbol": (str, harness.NULL),
    "a": NUMBER, "b": NUMBER, "c": NUMBER, "alpha": NUMBER, "beta": NUMBER, "gamma": NUMBER, "volume": NUMBER, "density": NUMBER,
    "last_modified": (str, harness.NULL), "sources": list,
}  # fmt: skip
ANSWER = {
    "filter": str, "rows": list, "records": int, "complete": bool, "interrupted": bool, "providers": list, "warnings": list,
}  # fmt: skip
PROVIDER = {
    "name": str, "title": str, "url": str, "state": str, "records": int, "pages": int, "available": (int, harness.NULL),
    "duplicates": int, "skipped": int, "wall_ms": int, "error": (str, harness.NULL), "hint": (str, harness.NULL),
}  # fmt: skip

# Nobody else is asked, and pages are small enough for tests.
SETTINGS = """
[materials]
index = {index}
page_bytes = 1M
provider_bytes = 2M
"""
TITANIUM = 'elements HAS ALL "O","Ti"'


class Search:
    """`adder search` of one Adder. What it answers is held against the schema."""

    def __init__(self, adder):
        self.adder = adder

    def __call__(self, *options, status=0):
        ended = self.adder.call("search", *options, "--json")
        assert ended.returncode == status and ended.stderr == "", ended
        found = harness.strict_json(ended.stdout)
        check_answer(found)
        return found

    def explain(self, *options):
        ended = self.adder.call("search", *options, "--explain", "--json")
        assert ended.returncode == 0 and ended.stderr == "", ended
        return harness.strict_json(ended.stdout)

    def refused(self, *options):
        ended = self.adder.call("search", *options)
        assert ended.returncode == 125 and ended.stdout == "", ended
        assert ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended.stderr
        return ended.stderr


def check_answer(found):
    for name, kind in ANSWER.items():
        assert harness.fits(found[name], kind), (name, found[name])
    for row in found["rows"]:
        harness.check_fields({name: row[name] for name in ROW}, ROW, "row")
        assert not [name for name in row if name.startswith("_")], row
        assert row["sources"] and len(set(row["sources"])) == len(row["sources"])
    for one in found["providers"]:
        harness.check_fields(one, PROVIDER, "provider")
        assert one["state"] in ("ok", "partial", "failed"), one
        assert (one["error"] is None) == (one["state"] == "ok"), one
        for text in (one["error"], one["hint"]):
            assert text is None or (text.isprintable() and 0 < len(text) < 700), one
    assert found["records"] == sum(one["records"] for one in found["providers"])
    sources = sources_of(found)
    assert len(sources) == len(set(sources)) == found["records"], "every record is in one row"


def sources_of(found):
    return [source for row in found["rows"] for source in row["sources"]]


def said(found):
    return {one["name"]: one for one in found["providers"]}


@pytest.fixture(scope="module")
def made(installation, user, common_directory, databases):
    """An Adder that knows the real databases, for tests that leave it as it is."""
    adder = harness.Adder(
        installation, user, harness.new_directory(common_directory, f"search-{user.name}"), SETTINGS.format(index=world.nobody())
    )
    adder.environment = "system"
    world.configure(adder, databases.urls)
    yield adder
    try:
        adder.stop()
    finally:
        adder.kill()


@pytest.fixture
def search(made):
    return Search(made)


@pytest.fixture
def make_search(make_adder, hostile):
    """A search of an Adder that knows databases of the hostile server."""

    def make(*names, urls=None, settings="", **lines):
        adder = make_adder(SETTINGS.format(index=world.nobody()) + settings)
        world.configure(adder, {**hostile.urls(*names), **(urls or {})}, **lines)
        return Search(adder)

    return make


# ---- what is found ----

FILTERS = {
    "elements": (("--elements", "Ti,O"), TITANIUM, lambda a: {"Ti", "O"} <= set(a["elements"])),
    "one-element": (("--elements", "Ag"), 'elements HAS "Ag"', lambda a: "Ag" in a["elements"]),
    "formula": (("--formula", "TiO2"), 'chemical_formula_reduced="O2Ti"', lambda a: a["chemical_formula_reduced"] == "O2Ti"),
    "formula-turned": (("--formula", "Ti2O4"), 'chemical_formula_reduced="O2Ti"', lambda a: a["chemical_formula_reduced"] == "O2Ti"),
    "nsites": (("--nsites", "20-30"), "nsites>=20 AND nsites<=30", lambda a: 20 <= a["nsites"] <= 30),
    "all": (
        ("--elements", "O", "--nsites", "1-4", "--filter", "nelements=2 OR nelements=3"),
        'elements HAS "O" AND nsites>=1 AND nsites<=4 AND (nelements=2 OR nelements=3)',
        lambda a: "O" in a["elements"] and a["nsites"] <= 4 and a["nelements"] in (2, 3),
    ),
    "nothing": (("--elements", "Pu"), 'elements HAS "Pu"', lambda a: False),
    "every-one": (("--filter", "nelements>=1"), "nelements>=1", lambda a: True),
}


@pytest.mark.parametrize("name", harness.quick(FILTERS, "elements", "all"))
def test_records_are_those_that_the_client_of_the_servers_finds(search, databases, name):
    options, text, holds = FILTERS[name]
    found = search(*options, "--limit", "1000", "--providers", "left,right")
    expected = databases.find(text)
    names = {f"{name}:{entry['id']}": entry["attributes"] for name, entries in expected.items() for entry in entries}
    everything = databases.find("nelements>=1")
    by_hand = {f"{n}:{e['id']}" for n, entries in everything.items() for e in entries if holds(e["attributes"])}
    assert set(names) == by_hand, "the test asks for what it means"
    assert set(sources_of(found)) == set(names)
    assert found["complete"] and not found["interrupted"]
    for name, one in said(found).items():
        count = len(expected[name])
        assert (one["state"], one["records"], one["available"], one["duplicates"], one["skipped"]) == ("ok", count, count, 0, 0)
        assert one["pages"] == max(1, math.ceil(count / 20))
    for row in found["rows"]:
        check_row(row, names[row["sources"][0]])


def volume_of(lattice):
    (a, b, c), (d, e, f), (g, h, i) = lattice
    return abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def check_row(row, attributes):
    """ROW is of the entry with ATTRIBUTES; sizes by other means than Adder's."""
    assert row["elements"] == attributes["elements"]
    assert (row["nelements"], row["nsites"]) == (attributes["nelements"], attributes["nsites"])
    assert (row["space_group"], row["space_group_symbol"]) == (
        attributes["space_group_it_number"],
        attributes["space_group_symbol_hermann_mauguin"],
    )
    lattice = attributes["lattice_vectors"]
    volume = volume_of(lattice)
    if volume < 1:  # smaller than any atom
        assert [row[name] for name in ("a", "alpha", "volume", "density")] == [None] * 4
        return
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in lattice]
    assert [row["a"], row["b"], row["c"]] == pytest.approx(lengths)
    assert row["volume"] == pytest.approx(volume)
    angles = [
        math.degrees(math.acos(sum(x * y for x, y in zip(lattice[one], lattice[other])) / lengths[one] / lengths[other]))
        for one, other in ((1, 2), (0, 2), (0, 1))
    ]
    assert [row["alpha"], row["beta"], row["gamma"]] == pytest.approx(angles)
    if set(attributes["elements"]) == {"O", "Ti"}:
        sites = collections.Counter(attributes["species_at_sites"])
        grams = (15.999 * sites["O"] + 47.867 * sites["Ti"]) / 6.02214076e23
        assert row["density"] == pytest.approx(grams / (volume * 1e-24), rel=1e-4)


def test_the_same_material_of_two_databases_is_one_row(search, databases):
    found = search("--elements", "Ti,O", "--limit", "1000", "--providers", "left,right")
    pairs = [row for row in found["rows"] if len(row["sources"]) == 2]
    twins = lambda row: {source.split("-", 1)[1] for source in row["sources"]}  # noqa: E731
    assert all(len(twins(row)) == 1 for row in pairs), "those of a pair are the same oxide"
    theirs = databases.find(TITANIUM)
    left, right = ({entry["id"].split("-", 1)[1] for entry in theirs[name]} for name in ("left", "right"))
    assert {twins(row).pop() for row in pairs} == left & right
    assert len(found["rows"]) == len(left | right)
    gaps = {entry["id"]: entry["attributes"] for entries in theirs.values() for entry in entries}
    for row in pairs:
        one, other = sorted(source.split(":", 1)[1] for source in row["sources"])
        assert row["left_band_gap"] == pytest.approx(gaps[one]["_left_band_gap"])
        assert row["right_band_gap"] == pytest.approx(gaps[other]["_right_band_gap"])
        assert row["right_formation_energy"] == pytest.approx(gaps[other]["_right_formation_energy"])


def test_raw_is_all_that_a_database_said(search, databases):
    found = search("--formula", "TiO2", "--providers", "right", "--raw")
    expected = {f"right:{entry['id']}": entry for entry in databases.find('chemical_formula_reduced="O2Ti"')["right"]}
    raw = {source: whole for row in found["rows"] for source, whole in row["raw"].items()}
    assert alike(raw, expected)
    assert not any("raw" in row for row in search("--formula", "TiO2", "--providers", "right")["rows"])


def alike(value, other):
    """The same, with numbers as far as JSON of ours has them."""
    if isinstance(value, dict):
        return isinstance(other, dict) and value.keys() == other.keys() and all(alike(value[name], other[name]) for name in value)
    if isinstance(value, list):
        return isinstance(other, list) and len(value) == len(other) and all(map(alike, value, other))
    return math.isclose(value, other, rel_tol=1e-13) if isinstance(value, float) else value == other


def test_a_limit_is_of_each_database(search):
    found = search("--filter", "nelements>=1", "--limit", "25", "--providers", "left,right")
    assert [(one["records"], one["pages"], one["available"]) for one in found["providers"]] == [(25, 2, 72)] * 2


def test_a_filter_that_real_databases_refuse(search):
    found = search("--elements", "Ti", "--filter", "colour = = 3", "--providers", "left,right", status=1)
    assert found["rows"] == [] and not found["complete"]
    for one in found["providers"]:
        assert one["state"] == "failed" and "400" in one["error"], one


def test_the_tool_answers_the_same(search, made):
    tools = harness.Tools(made, "workbench")
    arguments = {"elements": ["Ti", "O"], "providers": ["left", "right"], "limit": 1000}
    assert tools.call("search_materials", arguments)["rows"] == search("--elements", "Ti,O", "--limit", "1000", "--providers", "left,right")["rows"]
    assert "Xx" in tools.refused("search_materials", {"elements": ["Xx"]})


# ---- what is asked ----


@pytest.mark.parametrize(
    "options, parts",
    [
        (("--elements", "Ti,O"), ['elements HAS ALL "O","Ti"']),
        (("--formula", "CaO2H2"), ['chemical_formula_reduced="CaH2O2"']),
        (("--nsites", "7"), ["nsites>=7 AND nsites<=7"]),
        (("--nsites", "5-"), ["nsites>=5"]),
        (("--filter", 'chemical_formula_descriptive CONTAINS "a&b=c#d %20+é\\"\\\\"', "--elements", "H"), ['"a&b=c#d %20+é\\"\\\\"', "AND"]),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_explain_asks_nobody_and_tells_what_is_asked(make_search, hostile, options, parts):
    search = make_search("good")
    told = search.explain(*options, "--providers", "good")
    assert hostile.asked == {}
    squeezed = told["filter"].replace(" ", "")
    assert all(part.replace(" ", "") in squeezed for part in parts), told
    search(*options, "--providers", "good")
    first = hostile.asked["good"][0]
    assert first.filter == told["filter"], "it comes as it was told, whatever is in it"
    assert told["requests"][0]["provider"] == "good"
    assert told["requests"][0]["url"].startswith(hostile.url + "/good/v1/structures?")
    assert hostile.url + first.target == told["requests"][0]["url"]


def test_a_key_goes_to_its_own_database_alone(make_search, hostile):
    keyed = "key_file = {}"
    search = make_search("good", "wants_key", "wants_key-2")
    secret = search.adder.file("key", "sesame-open\n")
    wrong = search.adder.file("wrong", "sesame-wrong\n")
    for path in (secret, wrong):
        path.chmod(0o600)
    world.configure(
        search.adder, hostile.urls("good", "wants_key", "wants_key-2"),
        wants_key=keyed.format(secret), wants_key_2=keyed.format(wrong),
    )  # fmt: skip
    found = search("--elements", "O", "--providers", "good,wants_key,wants_key-2")
    states = {name: one["state"] for name, one in said(found).items()}
    assert states == {"good": "ok", "wants_key": "ok", "wants_key-2": "failed"}
    assert "sesame" not in json.dumps(found)
    assert hostile.asked["good"][0].headers.get("x-api-key") is None
    listed = search.adder.call("search", "providers", "--json")
    assert listed.returncode == 0 and "sesame" not in listed.stdout + listed.stderr


# ---- many at once ----


@pytest.mark.quick
def test_ten_databases_are_asked_side_by_side(make_search, hostile):
    """None of them answers before all ten are waiting, for the first page and for the second."""
    names = [f"together-{number}" for number in range(10)]
    found = make_search(*names)("--elements", "O", "--providers", ",".join(names))
    assert [one["state"] for one in found["providers"]] == ["ok"] * 10, found["providers"]
    assert found["records"] == 60 and sorted(hostile.meetings) == [0, 3]


# ---- databases that do wrong ----

# What it does: how that ends, how many records it gave, what is said of it.
WRONGS = {
    "good": ("ok", 6),
    "html": ("failed", 0, "JSON"),
    "empty": ("failed", 0),
    "cut": ("failed", 0),
    "cut_later": ("partial", 3),
    "closed": ("failed", 0),
    "noise": ("failed", 0),
    "refuses": ("failed", 0, "400", "Unknown property 'colour'"),
    "escapes": ("failed", 0, "400", "no"),
    "errors_of_200": ("failed", 0, "the database is being moved"),
    "forbidden": ("failed", 0, "403", "Not for you"),
    "missing": ("failed", 0, "404"),
    "broken": ("failed", 0, "500"),
    "busy_once": ("ok", 3),
    "away_once": ("ok", 3),
    "busy_long": ("failed", 0, "429"),
    "busy_always": ("failed", 0, "503"),
    "endless": ("ok", 20),
    "looping": ("partial", 3),
    "circling": ("partial", 6),
    "hollow": ("failed", 0),
    "away": ("partial", 3),
    "file_next": ("partial", 3),
    "sent_away": ("failed", 0),
    "sent_round": ("failed", 0),
    "big": ("failed", 0, "longer", "MiB"),
    "big_chunked": ("failed", 0, "longer", "MiB"),
    "bomb": ("failed", 0, "longer", "MiB"),
    "packed": ("ok", 3),
    "many_bytes": ("partial", None, "longer", "MiB"),
    "silent": ("failed", 0),
    "trickling": ("failed", 0),
    "long_head": ("failed", 0),
    "old_http": ("ok", 3),
    "plain_text": ("ok", 3),
    "no_meta": ("ok", 3),
    "object_next": ("ok", 6),
    "lies": ("ok", 3),
    "greedy": ("ok", 20),
    "object_data": ("failed", 0),
    "list_top": ("failed", 0),
    "nested": ("failed", 0),
    "not_a_number": ("failed", 0),
    "huge_number": ("failed", 0),
    "not_utf8": ("failed", 0),
    "wrong_types": ("ok", 2),
    "twice": ("ok", 6),
    "odd_ids": ("ok", 2),
    "nobody": ("failed", 0),
    "nowhere": ("failed", 0),
}


@pytest.fixture(scope="module")
def wrongs(installation, user, common_directory):
    """One search of all of them: {NAME: what is said of it}, the answer, the server."""
    server = world.Hostile()
    directory = harness.new_directory(common_directory, f"wrongs-{user.name}")
    adder = harness.Adder(installation, user, directory, SETTINGS.format(index=world.nobody()))
    try:
        urls = {**server.urls(*(set(WRONGS) - {"nobody", "nowhere"})), "nobody": world.nobody(), "nowhere": "http://nobody.invalid"}
        world.configure(adder, urls, **{name: "wait = 2s" for name in ("silent", "trickling")})
        found = Search(adder)("--elements", "Ti,O", "--limit", "20", "--providers", ",".join(WRONGS))
        yield found, said(found), server
    finally:
        server.end()
        adder.kill()


@pytest.mark.parametrize("name", WRONGS)
def test_a_database_that_does_wrong_is_told_of_and_harms_nobody(wrongs, name):
    found, told, server = wrongs
    state, records, *words = WRONGS[name]
    one = told[name]
    assert one["state"] == state, one
    assert records is None or one["records"] == records, one
    assert all(word in one["error"] for word in words), one
    assert len([source for source in sources_of(found) if source.startswith(name + ":")]) == one["records"]


def test_what_all_the_wrong_ones_could_not_do(wrongs):
    found, told, server = wrongs
    assert server.asked_elsewhere == [], "nobody is led to another place"
    assert "stolen" not in json.dumps(found)
    assert max(server.sent.values()) < 64 << 20, "nobody is listened to without end"
    assert all(len(asked) <= 40 for asked in server.asked.values()), {name: len(asked) for name, asked in server.asked.items()}
    assert told["twice"]["duplicates"] == 8 and told["wrong_types"]["skipped"] == 5
    assert not found["complete"]
    row = next(row for row in found["rows"] if row["sources"] == ["wrong_types:wrong_types-1"])
    assert [row[name] for name in ("formula", "nelements", "nsites", "a", "volume", "density", "last_modified")] == [None] * 7


def test_people_see_no_control_characters(make_search, hostile):
    search = make_search("odd_ids", "escapes", "good")
    ended = search.adder.call("search", "--elements", "O", "--providers", "odd_ids,escapes,good")
    assert ended.returncode == 0, ended
    lines = (ended.stdout + ended.stderr).splitlines()
    assert all(line.isprintable() for line in lines), [line for line in lines if not line.isprintable()]
    assert "good" in ended.stdout and "no" in ended.stdout + ended.stderr


# ---- bad questions ----


@pytest.mark.parametrize(
    "options, words",
    [
        (("--elements", "Ti,Xx"), ("Xx",)),
        (("--elements", "ti"), ("ti",)),
        (("--elements", ""), ()),
        (("--formula", "Ti(O2"), ("Ti(O2",)),
        (("--formula", "Xx2"), ("Xx",)),
        (("--nsites", "20-1"), ()),
        (("--nsites", "many"), ("many",)),
        (("--limit", "0", "--elements", "O"), ()),
        (("--limit", "20001", "--elements", "O"), ("20000",)),
        (("--providers", "lift", "--elements", "O"), ("lift", "left")),
        (("--providers", "http://127.0.0.1:1/", "--elements", "O"), ()),
        (("--filter", "x" * 5000), ("4000",)),
        ((), ()),
    ],
    ids=lambda value: " ".join(value)[:30] if value and value[0].startswith("--") else "",
)
def test_a_bad_question_is_refused_in_one_line(search, options, words):
    told = search.refused(*options)
    assert all(word in told for word in words), told


@pytest.mark.parametrize(
    "text, words",
    [
        ("[left]\nurl = ftp://127.0.0.1/\n", ("left", "url")),
        ("[left]\n", ("left", "url")),
        ("[Left Side]\nurl = https://left.example\n", ("Left Side",)),
        ("[left]\nurl = https://left.example\ncolour = red\n", ("colour",)),
        ("[left]\nurl = https://left.example\npage_limit = -1\n", ("page_limit",)),
        ("url = https://left.example\n", ()),
    ],
)
def test_a_bad_materials_conf_is_told_of(own_adder, text, words):
    path = own_adder.config / "materials.conf"
    path.write_text(text)
    own_adder.own(path)
    told = Search(own_adder).refused("--elements", "O")
    assert "materials.conf" in told and all(word in told for word in words), told


# ---- who can be asked ----


def providers_of(adder, *options):
    ended = adder.call("search", "providers", "--json", *options)
    assert ended.returncode == 0, ended
    return harness.strict_json(ended.stdout)


def test_providers_are_those_of_the_configuration_the_list_and_the_index(make_adder, hostile):
    hostile.links["index"] = [world.link(name, f"{hostile.url}/index-{name}") for name in ("listed", "mine", "broken")]
    hostile.links["index"] += [world.link("nourl", None), world.link("odd name", hostile.url + "/good"), 7]
    hostile.links["index-listed"] = [
        world.link("listed", hostile.url + "/good-1", "child"),
        world.link("other", hostile.url + "/good-2", "child"),
        world.link("scheme", "file:///etc/passwd", "child"),
        world.link("up", hostile.url + "/index", "root"),
    ]
    hostile.links["index-mine"] = [world.link("mine", hostile.url + "/stolen", "child")]
    adder = make_adder(SETTINGS.format(index=f"{hostile.url}/index/v1/links"))
    world.configure(adder, {"mine": hostile.url + "/good"})
    told = providers_of(adder)
    known = {one["name"]: one for one in told["providers"]}
    assert known["mine"]["source"] == "configuration" and known["mine"]["url"] == hostile.url + "/good"
    assert known["mp"]["source"] == "built-in" and known["listed"]["source"] == "index"
    assert {name for name, one in known.items() if one["source"] == "index"} == {"listed", "listed.other"}
    asked = len(hostile.asked["index"])
    providers_of(adder)
    assert len(hostile.asked["index"]) == asked, "what the index said is kept"
    hostile.links["index"] = [world.link("later", hostile.url + "/index-later")]
    hostile.links["index-later"] = [world.link("later", hostile.url + "/good-3", "child")]
    assert "later" in {one["name"] for one in providers_of(adder, "--refresh")["providers"]}
    found = Search(adder)("--elements", "O", "--providers", "later")
    assert found["records"] == 6


@pytest.fixture
def intranet():
    """A server at an address of this host, which calls itself by this host's name."""
    name = socket.gethostname()
    try:
        server = world.Hostile(address=socket.gethostbyname(name))
    except OSError as error:
        pytest.skip(f"the name of this host leads nowhere: {error}")
    server.url = f"http://{name}:{server.socket.getsockname()[1]}"
    yield server
    server.end()


# Some readers take each for 127.0.0.1, or for a place from which it is reached.
LOCAL = (
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127%2e0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "localhost", "LOCALHOST.", "a.localhost",
)  # fmt: skip


def test_the_index_leads_nobody_into_an_intranet(make_adder, hostile, intranet):
    port = intranet.socket.getsockname()[1]
    urls = {"named": intranet.url, **{f"odd{number}": f"http://{host}:{port}" for number, host in enumerate(LOCAL)}}
    hostile.links["index"] = [world.link(name, url + "/index-there") for name, url in urls.items()]
    hostile.links["index"].append(world.link("near", hostile.url + "/index-near"))
    hostile.links["index-near"] = [world.link(name, url + "/good", "child") for name, url in urls.items()]
    adder = make_adder(SETTINGS.format(index=f"{hostile.url}/index/v1/links"))
    told = providers_of(adder)
    known = {one["name"] for one in told["providers"] if one["source"] == "index"}
    assert known == {"near.named"}, "what leads to this host by its number is no database; where a name leads shows later"
    assert [line for line in told["warnings"] if "only the index" in line and line.startswith("the databases of named")]
    found = Search(adder)("--elements", "O", "--providers", "near.named", status=1)
    failed = said(found)["near.named"]
    assert failed["state"] == "failed" and "only the index" in failed["error"] and "materials.conf" in failed["hint"]
    assert (intranet.connections, intranet.asked) == (0, {}), "not even a port can be looked for"
    # Who names it in the configuration means it.
    world.configure(adder, {"own": intranet.url + "/good-9"})
    assert Search(adder)("--elements", "O", "--providers", "own")["records"] == 6
    # And a connection that is open for that is none for the index.
    found = Search(adder)("--elements", "O", "--providers", "own,near.named")
    assert said(found)["own"]["records"] == 6 and said(found)["near.named"]["records"] == 0
    assert all(ask.target.startswith("/good-9/") for ask in intranet.asked["good-9"])


def test_behind_a_proxy_the_proxy_reaches_what_the_index_names(make_adder, hostile, intranet):
    hostile.links["index"] = [world.link("near", hostile.url + "/index-near")]
    hostile.links["index-near"] = [
        world.link("named", "http://database.invalid/good", "child"),
        world.link("spared", intranet.url + "/good-2", "child"),
    ]
    proxy = world.Hostile()
    try:
        adder = make_adder(SETTINGS.format(index=f"{hostile.url}/index/v1/links"))
        name = intranet.url.split("/")[2].split(":")[0]
        adder.variables.update(http_proxy=proxy.url, no_proxy=f"127.0.0.1,{name}")
        Search(adder)("--elements", "O", "--providers", "near.named,near.spared")
        assert set(proxy.asked) == {"good", "good-2"}, "an exception from the proxy is none for the index"
        assert all(ask.target.startswith("http://database.invalid/") for ask in proxy.asked["good"])
        assert intranet.connections == 0
    finally:
        proxy.end()


def test_without_the_index_there_is_a_list(make_adder):
    adder = make_adder(SETTINGS.format(index=world.nobody()))
    told = providers_of(adder)
    assert {"mp", "oqmd"} <= {one["name"] for one in told["providers"]}
    assert len(told["warnings"]) == 1, "that the index is away is said once"


# ---- who does not wait ----


def test_what_came_is_told_when_somebody_interrupts(make_search, hostile):
    search = make_search("good", "held")
    process = search.adder.popen("search", "--elements", "O", "--providers", "good,held", "--json")
    harness.wait_until(hostile.reached.is_set, "the second page to be asked for")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=harness.DEADLINE)
    assert process.returncode == 130, err
    found = harness.strict_json(out.decode())
    check_answer(found)
    assert found["interrupted"] and not found["complete"], err
    assert said(found)["held"]["state"] == "partial" and said(found)["held"]["records"] == 3
    good = said(found)["good"]  # it may be on its way still
    assert good["records"] == 6 or good["state"] != "ok"
