"""The report as a page: how long it takes to be written, how large it is, and after how long a
browser without a window can be used with it. The recordings are those of `exports`."""

import os
import subprocess

from exports import QUICK_SECONDS, SECONDS, recordings, timed
from figures import Goal, Row, Section

ROUNDS = 7
MOST_MS, MOST_MB, MOST_LOAD_MS = 1000, 1.5, 500
BROWSER = os.path.join(os.path.dirname(__file__), "..", "Tests", "Browser", "load_times.py")


def page(setting):
    section = Section("Page", "report --format html of a recording of 10 s, 8 threads, 1 kHz")
    rounds = setting.rounds(ROUNDS)
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    section.raw = {}
    for program, path in recordings(setting, seconds).items():
        target = setting.file("page.html")
        words = ["report", "--format", "html", "-o", target, path]
        written = [timed(setting, words)["ms"] for _ in range(rounds)]
        size = os.path.getsize(target) / 1e6
        loaded = load_times(target, rounds)
        section.raw[program] = {"written": written, "MB": size, "loaded": loaded}
        section.rows += [
            Row(f"{program}: written", written, "{:.0f} ms",
                [Goal(f"≤ {MOST_MS} ms", MOST_MS, written)]),
            Row(f"{program}: size", [size], "{:.2f} MB", [Goal(f"≤ {MOST_MB} MB", MOST_MB, [size])]),
            Row(f"{program}: can be used after", loaded, "{:.0f} ms",
                [Goal(f"≤ {MOST_LOAD_MS} ms", MOST_LOAD_MS, loaded)])]
    return section


def load_times(path, rounds):
    # Debian's selenium is known to Debian's Python only.
    for python in ["python3", "/usr/bin/python3"]:
        if subprocess.call([python, "-c", "import selenium"], stderr=subprocess.DEVNULL) == 0:
            printed = subprocess.run([python, BROWSER, path, str(rounds)], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout
            return [float(line) for line in printed.split()]
    raise SystemExit("bench: Python's selenium is not installed")
