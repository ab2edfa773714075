"""How well `firstlight history` finds steps in series of launches, beside Apache Otava and asv on
the same series.

The series are made up, so that the truth is known: log-normal medians of a launch, with outliers or
without, with one step or none. Each is written as measurements' files, one for each version, and
given to `firstlight history`; to the others it is given as numbers, with their own defaults.
"""

import json
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field

SEED = 20_261_124
STEPS = [0, 0.05, 0.08, 0.10, 0.20]
LENGTHS = [20, 50, 100, 200]
SPREADS = [0.01, 0.02, 0.03]
OUTLIERS, HOW_FAR = 0.05, 1.3
# A step is at least so far from either end.
LEAST_SEGMENT = 5
SERIES, QUICK_SERIES = 10, 1
USUAL_NS = 400e6
DAY_NS = 86_400 * 10**9
REQUIREMENTS = ["apache-otava==0.8.0", "asv==0.6.6"]
OURS = "firstlight"
OTHERS = {
    "otava": "Apache Otava 0.8.0",
    "otava, 3 %": "the same, its min_magnitude 3 %",
    "asv": "asv 0.6.6",
    "asv, 3 %": "the same, steps of 3 % and more",
}


@dataclass
class Series:
    values: list
    step: float
    place: int | None


def series(numbers, length, spread, step, has_outliers):
    deviation = math.sqrt(math.log(1 + spread * spread))
    values = [USUAL_NS * math.exp(numbers.gauss(0, deviation)) for _ in range(length)]
    if has_outliers:
        values = [value * (HOW_FAR if numbers.random() < OUTLIERS else 1) for value in values]
    if step == 0:
        return Series(values, step, None)
    place = numbers.randint(LEAST_SEGMENT, length - LEAST_SEGMENT)
    factor = 1 + step if numbers.random() < 0.5 else 1 / (1 + step)
    return Series(
        [value * (factor if index >= place else 1) for index, value in enumerate(values)],
        step, place)


def all_series(count):
    numbers = random.Random(SEED)
    return [series(numbers, length, spread, step, has_outliers)
            for step in STEPS for length in LENGTHS for spread in SPREADS
            for has_outliers in (True, False) for _ in range(count)]


class Files:
    """Measurements' files, made from one that `firstlight measure` wrote: other numbers are put in
    their places, which are as long."""

    WALL, DATE, VERSION = 0x3ABBCCDD, 0x1122334455667788, "version-000000"

    def __init__(self, setting):
        self.folder = setting.file("history")
        path = setting.file("history.firstlight")
        subprocess.run(
            [setting.firstlight, "measure", "-n", "1", "--version-name", self.VERSION, "-o", path,
             "true"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM phases")
            database.execute("UPDATE measurement SET date_ns = ?", [self.DATE])
            database.execute("UPDATE launches SET wall_ns = ? WHERE discarded IS NULL", [self.WALL])
        database.close()
        with open(path, "rb") as file:
            self.template = file.read()
        for placeholder in (self.wall(self.WALL), self.date(self.DATE), self.version(0)):
            if self.template.count(placeholder) != 1:
                raise SystemExit("bench: history: the measurement's file is not as expected")

    @staticmethod
    def wall(value):
        return round(value).to_bytes(4, "big")

    @staticmethod
    def date(value):
        return value.to_bytes(8, "big")

    @staticmethod
    def version(number):
        return f"version-{number:06}".encode()

    def write(self, values):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for index, value in enumerate(values):
            # Any other length would move what follows.
            assert 1 << 23 <= value < 1 << 31
            content = (self.template.replace(self.wall(self.WALL), self.wall(value))
                       .replace(self.date(self.DATE), self.date((20_000 + index) * DAY_NS))
                       .replace(self.version(0), self.version(index)))
            with open(os.path.join(self.folder, f"{index:06}.firstlight"), "wb") as file:
                file.write(content)
        return self.folder


def ours(setting, every):
    files = Files(setting)
    found = []
    for one in every:
        output = subprocess.run(
            [setting.firstlight, "history", "--format", "json", files.write(one.values)],
            check=True, stdout=subprocess.PIPE).stdout
        [line] = json.loads(output)["series"]
        assert len(line["points"]) == len(one.values)
        found.append([change["index"] for change in line["changes"]])
    return found


def others(setting, every):
    """Found by the others, by name. They are installed into a folder of their own."""
    folder = os.environ.get("HISTORY_VENV") or setting.file("venv")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q"] + REQUIREMENTS, check=True)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "history_others.py")
    output = subprocess.run(
        [python, script], input=json.dumps([one.values for one in every]), text=True, check=True,
        stdout=subprocess.PIPE).stdout
    return json.loads(output)


@dataclass
class Score:
    """Of the series with steps of one size."""
    series: int = 0
    near: int = 0
    exact: int = 0
    false: int = 0

    def add(self, one, places):
        near = [place for place in places
                if one.place is not None and abs(place - one.place) <= 1]
        self.series += 1
        self.near += bool(near)
        self.exact += one.place is not None and one.place in places
        self.false += len(places) - bool(near)


@dataclass
class Scores:
    """What every part of the benchmark gives: lines for people, values for programs."""
    count: int
    by_name: dict = field(default_factory=dict)
    skipped: str | None = None

    def lines(self):
        yield (f"History: {self.count} series of {min(LENGTHS)} to {max(LENGTHS)} medians for each "
               "size of step; found: within one version of where it is (exactly there); false: "
               "other steps for each series")
        width = max(map(len, self.by_name), default=0)
        yield "  " + " " * width + "".join(
            f"  {'no step' if step == 0 else f'{step:.0%} found':>15}  {'false':>5}"
            for step in STEPS)
        for name, scores in self.by_name.items():
            yield "  " + name.ljust(width) + "".join(
                f"  {self.found(step, scores[step]):>15}"
                f"  {scores[step].false / scores[step].series:5.3f}" for step in STEPS)
        if self.skipped:
            yield f"  the others: skipped: {self.skipped}"
        yield ""

    @staticmethod
    def found(step, score):
        if step == 0:
            return ""
        return f"{score.near / score.series:.1%} ({score.exact / score.series:.1%})"

    def to_json(self):
        return {"title": "History", "seriesOfEachStep": self.count, "skipped": self.skipped,
                "scores": {name: {str(step): vars(score) for step, score in scores.items()}
                           for name, scores in self.by_name.items()}}


def history(setting):
    every = all_series(QUICK_SERIES if setting.quick else SERIES)
    result = Scores(len(every) // len(STEPS))
    found = {OURS: ours(setting, every)}
    try:
        theirs = others(setting, every)
        found.update({OTHERS[name]: places for name, places in theirs.items()})
    except (OSError, subprocess.CalledProcessError) as error:
        result.skipped = str(error)
    for name, places in found.items():
        scores = {step: Score() for step in STEPS}
        for one, of_one in zip(every, places, strict=True):
            scores[one.step].add(one, of_one)
        result.by_name[name] = scores
    return result
