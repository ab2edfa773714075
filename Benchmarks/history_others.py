"""Reads series of numbers as JSON, and prints which steps Apache Otava and asv find in them: by name
a list for each series, of the index of each first value on a new level. history.py runs it.
"""

import json
import sys

from asv.step_detect import detect_steps
from otava.series import AnalysisOptions, Metric, Series


def otava(values, least):
    """As its users call it, with its defaults but for the least magnitude."""
    options = AnalysisOptions()
    options.min_magnitude = least
    series = Series(
        "launch", None, list(range(len(values))), {"median": Metric()}, {"median": values}, {})
    return [int(change.index) for change in series.analyze(options).change_points["median"]]


def asv(values, least):
    """Of each piece that it takes the series for: where it begins, but for the first."""
    steps = detect_steps(values)
    return [after[0] for before, after in zip(steps, steps[1:])
            if abs(after[2] / before[2] - 1) >= least]


def main():
    every = json.load(sys.stdin)
    ways = {"otava": (otava, 0), "otava, 3 %": (otava, 0.03),
            "asv": (asv, 0), "asv, 3 %": (asv, 0.03)}
    json.dump(
        {name: [way(values, least) for values in every] for name, (way, least) in ways.items()},
        sys.stdout)


if __name__ == "__main__":
    main()
