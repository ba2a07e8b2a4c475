# SPDX-License-Identifier: Apache-2.0
"""The answers to bench/analyst/questions.jsonl, computed anew with the csv module, math and datetime: no pandas, and no
other line of the program or of the questions' reference code. A function for each question, of its name."""
import csv
import datetime
import functools
import math
import pathlib
import statistics
from collections import Counter, defaultdict

DATA = pathlib.Path(__file__).resolve().parent.parent / "bench/analyst/data"
ANSWERS = {}


def answer(function):
    ANSWERS[function.__name__.replace("_", "-")] = function
    return function


@functools.lru_cache(maxsize=None)
def read(name):
    with open(DATA / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(rows, name):
    return [float(row[name]) for row in rows if row[name] != ""]


def day(text):
    return datetime.date.fromisoformat(text[:10])


def quarter(date):
    return (date.month - 1) // 3 + 1


def groups(rows, key):
    found = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(found)


def mean(values):
    return math.fsum(values) / len(values)


def quantile(values, share):
    """Linear between the two neighbours, as numpy and spreadsheets have it."""
    values = sorted(values)
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def correlation(left, right):
    middle_left, middle_right = mean(left), mean(right)
    both = math.fsum((x - middle_left) * (y - middle_right) for x, y in zip(left, right))
    spread_left = math.fsum((x - middle_left) ** 2 for x in left)
    spread_right = math.fsum((y - middle_right) ** 2 for y in right)
    return both / math.sqrt(spread_left * spread_right)


def ranks(values):
    """From 1, those that are equal share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def growth(values):
    return [(now - before) / before for before, now in zip(values, values[1:])]


def rolling(values, width):
    return [mean(values[end - width : end]) for end in range(width, len(values) + 1)]


def largest(pairs, most):
    """The first of PAIRS by value, and no tie at the edge, which would leave the answer open."""
    order = sorted(pairs, key=lambda pair: -pair[1])
    values = [value for _, value in order[: most + 1]]
    assert len(set(values)) == len(values), values
    return [list(pair) for pair in order[:most]]


# ---- birdstrikes.csv ----

DAMAGE, COST, SPEED = "Effect Amount of damage", "Cost Total $", "Speed IAS in knots"


@answer
def birdstrikes_without_damage():
    return sum(row[DAMAGE] == "None" for row in read("birdstrikes"))


@answer
def birdstrikes_top_airports():
    return largest(Counter(row["Airport Name"] for row in read("birdstrikes")).items(), 5)


@answer
def birdstrikes_damage_share_by_size():
    sizes = groups(read("birdstrikes"), lambda row: row["Wildlife Size"])
    return largest([(size, mean([row[DAMAGE] != "None" for row in rows])) for size, rows in sizes.items()], 3)


@answer
def birdstrikes_median_speed_by_phase():
    phases = groups(read("birdstrikes"), lambda row: row["Phase of flight"])
    speeds = {phase: numbers(rows, SPEED) for phase, rows in phases.items()}
    return [[phase, statistics.median(speeds[phase])] for phase in sorted(speeds) if len(speeds[phase]) >= 100]


@answer
def birdstrikes_speed_missing():
    rows = read("birdstrikes")
    return 100 * sum(row[SPEED] == "" for row in rows) / len(rows)


@answer
def birdstrikes_quarters_of_1998():
    counts = Counter()
    for row in read("birdstrikes"):
        date = day(row["Flight Date"])
        counts[(date.year, quarter(date))] += 1
    quarters = [counts[(1997, 4)]] + [counts[(1998, number)] for number in range(1, 5)]
    return [[number, quarters[number], change] for number, change in enumerate(growth(quarters), 1)]


@answer
def birdstrikes_size_by_time():
    counts = Counter((row["Wildlife Size"], row["Time of day"]) for row in read("birdstrikes"))
    return [[size] + [counts[(size, time)] for time in ("Dawn", "Day", "Dusk", "Night")] for size in ("Large", "Medium", "Small")]


@answer
def birdstrikes_cost_quantile():
    return quantile([cost for cost in numbers(read("birdstrikes"), COST) if cost > 0], 0.9)


@answer
def birdstrikes_gulls():
    return sum("gull" in row["Wildlife Species"].lower() for row in read("birdstrikes"))


@answer
def birdstrikes_repeated_rows():
    rows = [tuple(row.values()) for row in read("birdstrikes")]
    return len(rows) - len(set(rows))


# ---- flights-airport.csv ----


@answer
def flights_from_atlanta():
    return sum(int(row["count"]) for row in read("flights-airport") if row["origin"] == "ATL")


def flights_by(name):
    return {code: int(sum(numbers(rows, "count"))) for code, rows in groups(read("flights-airport"), lambda row: row[name]).items()}


@answer
def flights_top_destinations():
    total = sum(numbers(read("flights-airport"), "count"))
    return [[code, count, 100 * count / total] for code, count in largest(flights_by("destination").items(), 5)]


@answer
def flights_one_way_routes():
    routes = {(row["origin"], row["destination"]) for row in read("flights-airport")}
    return sum((there, here) not in routes for here, there in routes)


@answer
def flights_quartiles():
    counts = numbers(read("flights-airport"), "count")
    return [quantile(counts, share) for share in (0.25, 0.5, 0.75)]


@answer
def flights_rank_of_seattle():
    counts = flights_by("origin")
    return 1 + sum(count > counts["SEA"] for count in counts.values())


@answer
def flights_busiest_pair():
    pairs = Counter()
    for row in read("flights-airport"):
        pairs["-".join(sorted((row["origin"], row["destination"])))] += int(row["count"])
    return largest(pairs.items(), 1)[0]


# ---- global-temp.csv ----


@answer
def temperature_warmest_year():
    return int(largest([(row["year"], float(row["temp"])) for row in read("global-temp")], 1)[0][0])


@answer
def temperature_by_decade():
    decades = groups(read("global-temp"), lambda row: int(row["year"]) // 10 * 10)
    return [[decade, mean(numbers(decades[decade], "temp"))] for decade in sorted(decades) if 1980 <= decade <= 2010]


@answer
def temperature_ten_years():
    rows = sorted(read("global-temp"), key=lambda row: int(row["year"]))
    means = rolling(numbers(rows, "temp"), 10)
    return next(int(row["year"]) for row, value in zip(rows[9:], means) if value > 0.5)


@answer
def temperature_trend():
    rows = read("global-temp")
    return correlation(numbers(rows, "year"), numbers(rows, "temp"))


@answer
def temperature_warmer_than_before():
    values = numbers(sorted(read("global-temp"), key=lambda row: int(row["year"])), "temp")
    return sum(now > before for before, now in zip(values, values[1:]))


# ---- iowa-electricity.csv ----


def iowa(source, first=2001, last=2017):
    found = {day(row["year"]).year: float(row["net_generation"]) for row in read("iowa-electricity") if row["source"] == source}
    return [found[year] for year in range(first, last + 1)]


@answer
def iowa_share_of_renewables():
    last = [row for row in read("iowa-electricity") if row["year"] == "2017-01-01"]
    return 100 * sum(numbers([row for row in last if row["source"] == "Renewables"], "net_generation")) / sum(numbers(last, "net_generation"))


@answer
def iowa_sources_by_year():
    sources = ("Fossil Fuels", "Nuclear Energy", "Renewables")
    return [[year] + [iowa(source, year, year)[0] for source in sources] for year in (2015, 2016, 2017)]


@answer
def iowa_best_year_of_renewables():
    changes = zip(range(2002, 2018), growth(iowa("Renewables")))
    return largest(list(changes), 1)[0]


@answer
def iowa_renewables_overtake():
    pairs = zip(range(2001, 2018), iowa("Renewables"), iowa("Nuclear Energy"))
    return next(year for year, renewable, nuclear in pairs if renewable > nuclear)


@answer
def iowa_yearly_growth_rate():
    values = iowa("Renewables")
    return (values[-1] / values[0]) ** (1 / 16) - 1


# ---- population_engineers_hurricanes.csv ----


def states():
    return read("population_engineers_hurricanes")


@answer
def states_most_engineers():
    return largest([(row["state"], int(row["population"]) * float(row["engineers"])) for row in states()], 5)


@answer
def states_without_hurricanes():
    return sum(row["hurricanes"] == "0" for row in states())


@answer
def states_weighted_engineers():
    people = numbers(states(), "population")
    return sum(count * share for count, share in zip(people, numbers(states(), "engineers"))) / sum(people)


@answer
def states_hurricanes_for_each_million():
    return largest([(row["state"], int(row["hurricanes"]) / int(row["population"]) * 1e6) for row in states()], 3)


@answer
def states_hurricanes_by_quartile():
    order = sorted(states(), key=lambda row: int(row["population"]))
    bounds = [quantile(numbers(order, "population"), share) for share in (0.25, 0.5, 0.75)]
    totals = Counter()
    for row in order:
        totals[1 + sum(int(row["population"]) > bound for bound in bounds)] += int(row["hurricanes"])
    return [[number, totals[number]] for number in (1, 2, 3, 4)]


@answer
def states_rank_correlation():
    return correlation(ranks(numbers(states(), "population")), ranks(numbers(states(), "hurricanes")))


# ---- seattle-weather.csv ----


def seattle():
    return read("seattle-weather")


@answer
def seattle_wet_days_by_year():
    counts = Counter(day(row["date"]).year for row in seattle() if float(row["precipitation"]) > 0)
    return [[year, counts[year]] for year in sorted(counts)]


@answer
def seattle_warmest_month():
    months = groups(seattle(), lambda row: day(row["date"]).month)
    return largest([(month, mean(numbers(rows, "temp_max"))) for month, rows in months.items()], 1)[0]


@answer
def seattle_wettest_week():
    rows = sorted(seattle(), key=lambda row: row["date"])
    rain = numbers(rows, "precipitation")
    return max(7 * value for value in rolling(rain, 7))


@answer
def seattle_longest_dry_spell():
    longest = length = 0
    for row in sorted(seattle(), key=lambda row: row["date"]):
        length = length + 1 if float(row["precipitation"]) == 0 else 0
        longest = max(longest, length)
    return longest


@answer
def seattle_rain_by_quarter():
    totals = defaultdict(list)
    for row in seattle():
        totals[(day(row["date"]).year, quarter(day(row["date"])))].append(float(row["precipitation"]))
    sums = [math.fsum(totals[key]) for key in [(2013, 4), (2014, 1), (2014, 2), (2014, 3), (2014, 4)]]
    return [[number, sums[number], change] for number, change in enumerate(growth(sums), 1)]


@answer
def seattle_weather_by_year():
    counts = Counter((row["weather"], day(row["date"]).year) for row in seattle())
    return [[kind] + [counts[(kind, year)] for year in range(2012, 2016)] for kind in sorted({kind for kind, _ in counts})]


@answer
def seattle_largest_range():
    return largest([(row["date"], float(row["temp_max"]) - float(row["temp_min"])) for row in seattle()], 1)[0][0]


# ---- seattle-weather-hourly-normals.csv ----


def normals():
    return read("seattle-weather-hourly-normals")


def moment(row):
    return datetime.datetime.fromisoformat(row["date"])


@answer
def normals_warmest_hour():
    hours = groups(normals(), lambda row: moment(row).hour)
    return largest([(hour, mean(numbers(rows, "temperature"))) for hour, rows in hours.items()], 1)[0]


@answer
def normals_missing_hour():
    there = {moment(row) for row in normals()}
    year = (datetime.datetime(2010, 1, 1) + datetime.timedelta(hours=hour) for hour in range(365 * 24))
    missing = [hour for hour in year if hour not in there]
    assert len(missing) == 1
    return missing[0].isoformat()


@answer
def normals_daily_range():
    months = defaultdict(list)
    for date, rows in groups(normals(), lambda row: moment(row).date()).items():
        temperatures = numbers(rows, "temperature")
        months[date.month].append(max(temperatures) - min(temperatures))
    return largest([(month, mean(ranges)) for month, ranges in months.items()], 3)


@answer
def normals_wind_and_pressure():
    return correlation(numbers(normals(), "wind"), numbers(normals(), "pressure"))


@answer
def normals_windiest_month():
    months = groups(normals(), lambda row: moment(row).month)
    return largest([(month, mean(numbers(rows, "wind"))) for month, rows in months.items()], 1)[0]


# ---- species.csv ----


@answer
def species_mean_habitat():
    kinds = groups(read("species"), lambda row: row["common_name"])
    return largest([(kind, mean(numbers(rows, "habitat_yearround_pct"))) for kind, rows in kinds.items()], 4)


@answer
def species_bullfrog_counties():
    return sum(row["common_name"] == "American Bullfrog" and float(row["habitat_yearround_pct"]) > 0.5 for row in read("species"))


@answer
def species_robins_in_washington():
    chosen = [row for row in read("species") if row["common_name"] == "American Robin" and int(row["county_id"]) // 1000 == 53]
    return mean(numbers(chosen, "habitat_yearround_pct"))


@answer
def species_deer_before_robins():
    counties = defaultdict(dict)
    for row in read("species"):
        counties[row["county_id"]][row["common_name"]] = float(row["habitat_yearround_pct"])
    return sum(found["White-tailed Deer"] > found["American Robin"] for found in counties.values())


@answer
def species_genera():
    return sorted({row["scientific_name"].split(" ")[0] for row in read("species")})


# ---- us-employment.csv ----


def jobs():
    return sorted(read("us-employment"), key=lambda row: row["month"])


SECTORS = ("construction", "manufacturing", "information", "financial_activities", "education_and_health_services", "leisure_and_hospitality")


@answer
def jobs_gained():
    values = numbers(jobs(), "nonfarm")
    return int(values[-1] - values[0])


@answer
def jobs_worst_month():
    return min(jobs(), key=lambda row: float(row["nonfarm_change"]))["month"]


@answer
def jobs_top_sectors():
    rows = {row["month"]: row for row in jobs()}
    first, last = rows["2010-01-01"], rows["2015-12-01"]
    return largest([(name, (float(last[name]) - float(first[name])) / float(first[name])) for name in SECTORS], 3)


@answer
def jobs_best_quarter_of_construction():
    quarters = groups(jobs(), lambda row: (day(row["month"]).year, quarter(day(row["month"]))))
    names = sorted(quarters)
    means = [mean(numbers(quarters[name], "construction")) for name in names]
    return largest([(f"{year}Q{number}", change) for (year, number), change in zip(names[1:], growth(means))], 1)[0]


@answer
def jobs_recovery():
    rows = jobs()
    means = rolling(numbers(rows, "nonfarm_change"), 12)
    lowest = means.index(min(means))
    return next(row["month"] for row, value in list(zip(rows[11:], means))[lowest:] if value > 0)


@answer
def jobs_construction_and_all():
    return correlation(numbers(jobs(), "construction"), numbers(jobs(), "nonfarm"))


# ---- weather.csv ----


def places():
    return groups(read("weather"), lambda row: row["location"])


@answer
def weather_hottest_day():
    return [[name] + largest([(row["date"], float(row["temp_max"])) for row in rows], 1)[0] for name, rows in sorted(places().items())]


@answer
def weather_snow_days():
    return [[name, sum(row["weather"] == "snow" for row in rows)] for name, rows in sorted(places().items())]


@answer
def weather_warmer_by():
    found = {}
    for name, rows in places().items():
        for year, those in groups(rows, lambda row: day(row["date"]).year).items():
            found[(name, year)] = mean(numbers(those, "temp_max"))
    return [[year, found[("New York", year)] - found[("Seattle", year)]] for year in range(2012, 2016)]


@answer
def weather_correlation_of_cities():
    both = defaultdict(dict)
    for row in read("weather"):
        both[row["date"]][row["location"]] = float(row["temp_max"])
    return correlation(*zip(*[(found["Seattle"], found["New York"]) for found in both.values()]))


@answer
def weather_wet_share():
    return [[name, 100 * mean([float(row["precipitation"]) > 0 for row in rows])] for name, rows in sorted(places().items())]


# ---- two files ----


@answer
def seattle_warmer_than_normal():
    usual = groups(normals(), lambda row: (moment(row).month, moment(row).day))
    count = 0
    for row in seattle():
        date = day(row["date"])
        if date.year == 2015:
            middle = (float(row["temp_max"]) + float(row["temp_min"])) / 2
            count += middle > mean(numbers(usual[(date.month, date.day)], "temperature"))
    return count


@answer
def strikes_for_each_million():
    people = {row["state"]: int(row["population"]) for row in states()}
    counts = Counter(row["Origin State"] for row in read("birdstrikes"))
    return largest([(name, count / people[name] * 1e6) for name, count in counts.items() if name in people], 5)


@answer
def strikes_in_unknown_states():
    known = {row["state"] for row in states()}
    return sorted({row["Origin State"] for row in read("birdstrikes")} - known)


@answer
def deer_and_hurricanes():
    hit = {int(row["id"]): int(row["hurricanes"]) > 0 for row in states()}
    found = defaultdict(list)
    for row in read("species"):
        number = int(row["county_id"]) // 1000
        if row["common_name"] == "White-tailed Deer" and number in hit:
            found[hit[number]].append(float(row["habitat_yearround_pct"]))
    return mean(found[True]) - mean(found[False])


@answer
def iowa_and_the_planet():
    warm = {int(row["year"]): float(row["temp"]) for row in read("global-temp")}
    return correlation(iowa("Fossil Fuels"), [warm[year] for year in range(2001, 2018)])


@answer
def jobs_and_fossil_power():
    years = groups(jobs(), lambda row: day(row["month"]).year)
    work = [mean(numbers(years[year], "manufacturing")) for year in range(2006, 2016)]
    return correlation(work, iowa("Fossil Fuels", 2006, 2015))
