"""`top` of 200 recordings: how long it takes, and how much memory.

Each is a launch of its own: most of Python with some of its modules, short, and a tenth of them of
Python that computes for a second, a thousand slices each. The files are in the page cache.
"""

import os
import subprocess

import peak
from figures import Goal, Row, Section
from summary import PYTHON, python

ROUNDS = 5
LAUNCHES, LONG, QUICK_LAUNCHES, QUICK_LONG = 180, 20, 10, 2
MOST_S, MOST_MIB = 5, 256
SHORT_PROGRAM = "import argparse, asyncio, decimal, http.client, json, logging, sqlite3, unittest"


def top(setting):
    short = QUICK_LAUNCHES if setting.quick else LAUNCHES
    long = QUICK_LONG if setting.quick else LONG
    section = Section("Top", f"of {short + long} recordings")
    folder = setting.file("recordings")
    os.makedirs(folder)
    for number in range(short):
        record(setting, f"{folder}/short-{number}.firstlight", [python(), "-c", SHORT_PROGRAM])
    for number in range(long):
        record(setting, f"{folder}/long-{number}.firstlight", [python(), "-c", PYTHON])
    size = sum(entry.stat().st_size for entry in os.scandir(folder)) / 1e6
    for words, name in [([], "text"), (["--format", "json"], "JSON")]:
        rounds = [ran(setting, ["top", folder] + words) for _ in range(setting.rounds(ROUNDS))]
        seconds, mebibytes = ([round_[index] for round_ in rounds] for index in (0, 1))
        section.raw += [{"format": name, "s": seconds, "MiB": mebibytes}]
        section.rows += [
            Row(f"{name}: time", seconds, "{:.2f} s",
                [Goal(f"≤ {MOST_S} s", MOST_S, seconds)], f"of {size:.0f} MB"),
            Row(f"{name}: memory", mebibytes, "{:.0f} MiB",
                [Goal(f"≤ {MOST_MIB} MiB", MOST_MIB, mebibytes)])]
    return section


def record(setting, path, command):
    subprocess.run([setting.firstlight, "record", "--quiet", "-o", path, "--"] + command,
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def ran(setting, words):
    """Seconds, and the most memory in MiB."""
    taken = peak.run([setting.firstlight] + words, stdout=subprocess.DEVNULL)
    return taken["ms"] / 1000, taken["peak"] / 1024
