"""A long recording of many threads: what it takes of memory and disk, and what it takes to look at it.
Python with 24 threads that wait for each other all the while; beside it a quarter of it, for what grows
must not grow faster than what there is to tell.
"""

import json
import os
import subprocess

import peak
from exports import BUSY
from figures import Goal, Row, Section
from page import load_times
from summary import python

ROUNDS = 5
SECONDS, QUICK_SECONDS = 28, 4
PROGRAM = BUSY.replace("range(8)", "range(24)")
MOST_MB, MOST_RECORDER_MIB = 12, 64
MOST_REPORT_MS, MOST_REPORT_MB = 500, 100
MOST_PAGE_MS, MOST_PAGE_MB, MOST_LOAD_MS = 1500, 3, 500


def long(setting):
    section = Section("Long recording", "Python, 24 threads, 28 s, 1 kHz")
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    whole = recorded(setting, "long", seconds)
    quarter = recorded(setting, "quarter", seconds / 4)
    rounds = setting.rounds(ROUNDS)
    page = setting.file("long.html")
    reports = [run(setting, ["report", whole["path"]]) for _ in range(rounds)]
    short = [run(setting, ["report", quarter["path"]]) for _ in range(rounds)]
    pages = [run(setting, ["report", "--format", "html", "-o", page, whole["path"]])
             for _ in range(rounds)]
    loaded = load_times(page, rounds)
    slices = whole["slices"] / quarter["slices"]
    growth = [a["ms"] / b["ms"] / slices for a, b in zip(reports, short)]
    section.raw = {"whole": whole, "quarter": quarter, "reports": reports, "short": short,
                   "pages": pages, "loaded": loaded}
    remark = f"{whole['slices']} slices"
    section.rows += [
        row("file", [whole["bytes"] / 1e6], "{:.1f} MB", MOST_MB, remark),
        row("recorder's peak memory", [whole["peak"] / 1024], "{:.0f} MiB", MOST_RECORDER_MIB),
        row("report", [r["ms"] for r in reports], "{:.0f} ms", MOST_REPORT_MS),
        row("report: peak memory", [r["peak"] / 1000 for r in reports], "{:.0f} MB",
            MOST_REPORT_MB),
        row("report: time a slice, as a multiple of a quarter's", growth, "× {:.2f}", 1),
        row("page", [r["ms"] for r in pages], "{:.0f} ms", MOST_PAGE_MS),
        row("page: size", [os.path.getsize(page) / 1e6], "{:.1f} MB", MOST_PAGE_MB),
        row("page: can be used after", loaded, "{:.0f} ms", MOST_LOAD_MS)]
    return section


def row(label, values, form, most, remark=""):
    return Row(label, values, form, [Goal("≤ " + form.format(most), most, values)], remark)


def recorded(setting, name, seconds):
    path = setting.file(name + ".firstlight")
    words = ["record", "--quiet", "-o", path, "--", python(), "-c", PROGRAM.format(seconds)]
    taken = run(setting, words)
    printed = subprocess.run([setting.firstlight, "report", "--format", "json", path],
                             check=True, stdout=subprocess.PIPE).stdout
    return {"path": path, "bytes": os.path.getsize(path), "peak": taken["peak"],
            "slices": json.loads(printed)["launch"]["slices"]}


def run(setting, words):
    with open(setting.errors, "w") as errors:
        return peak.run([setting.firstlight] + words, stdout=subprocess.DEVNULL, stderr=errors)
