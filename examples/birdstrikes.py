# SPDX-License-Identifier: Apache-2.0
"""Ten thousand collisions of aircraft with birds: when they happen, and which of them are dear.

Reads birdstrikes.csv from the current directory; leaves birdstrikes.png and by_month.csv there.
"""
import matplotlib.pyplot as plt
import pandas as pd

# "None" is a word in this file, the one for an undamaged aircraft, and not a missing value.
strikes = pd.read_csv("birdstrikes.csv", na_values=[""], keep_default_na=False, parse_dates=["Flight Date"])
strikes = strikes.rename(columns={"Effect Amount of damage": "Damage"})
before = len(strikes)
strikes = strikes.drop_duplicates()
strikes = strikes[strikes["Damage"].isin(["None", "Minor", "Medium", "Substantial"])]  # the rest have codes
strikes["Damaged"] = strikes["Damage"] != "None"
first, last = strikes["Flight Date"].agg(["min", "max"]).dt.year
print(f"{len(strikes):,} of {before:,} rows kept, from {first} to {last}\n")

sizes = ["Small", "Medium", "Large"]
months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
by_month = pd.crosstab(strikes["Flight Date"].dt.month, strikes["Wildlife Size"])[sizes]
by_month.index = pd.Index(months, name="Month")
by_month.to_csv("by_month.csv")

by_size = strikes.groupby("Wildlife Size").agg(
    strikes=("Damaged", "size"), damaged=("Damaged", "mean"), cost=("Cost Total $", "sum")
)
table = by_size.loc[sizes].assign(
    damaged=by_size["damaged"].map("{:.1%}".format), cost=by_size["cost"].map("${:,.0f}".format)
)
print(table.to_string())

known = strikes[~strikes["Wildlife Species"].str.startswith("Unknown")]
costs = known.groupby("Wildlife Species")["Cost Total $"].sum().nlargest(8).sort_values() / 1e6
print(f"\nbusiest month: {by_month.sum(axis=1).idxmax()}; dearest species: {costs.index[-1]}, ${costs.iloc[-1]:.2f} million")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.2))
figure.subplots_adjust(left=0.06, right=0.97, bottom=0.1, top=0.85, wspace=0.32)
figure.suptitle(f"Birds and aircraft, {first} to {last}", fontsize=15, fontweight="bold")
by_month.plot.bar(stacked=True, ax=left, color=["#9ecae1", "#4292c6", "#08306b"], width=0.8, rot=0)
left.set(title="Strikes by month and size of the animal", xlabel="", ylabel="strikes")
left.legend(title=None, frameon=False, loc="upper left")
bars = right.barh(costs.index, costs, color="#d94801")
right.bar_label(bars, fmt="${:.2f} M", padding=4)
right.set(title="Cost by species, where the species is known", xlabel="million dollars")
right.margins(x=0.18)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig("birdstrikes.png", dpi=120)
