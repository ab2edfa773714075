"""Reads the wall times of one program's launches (JSON, nanoseconds), and prints how often `pyperf
compare_to` tells a difference between so many launches and as many behind them: recorded.py runs it.

    recorded_pyperf.py LAUNCHES ROUNDS < WALLS
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import pyperf


def suite(path, walls):
    """As `pyperf command` would have written it: a run of one value for each launch."""
    runs = [pyperf.Run([wall / 1e9], metadata={"name": "launch", "unit": "second"},
                       collect_metadata=False) for wall in walls]
    pyperf.Benchmark(runs).dump(path, replace=True)


def answer(before, after):
    text = subprocess.run(
        [sys.executable, "-m", "pyperf", "compare_to", before, after],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    for word in ("slower", "faster"):
        if word in text:
            return word
    if "not significant" in text.lower() or "no change" in text.lower():
        return "same"
    raise SystemExit(f"pyperf says something else: {text}")


def main():
    launches, rounds = map(int, sys.argv[1:])
    walls = json.load(sys.stdin)
    chance = random.Random(1)
    found = {"rounds": rounds, "slower": 0, "faster": 0, "same": 0}
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name) for name in ("before.json", "after.json"))
        for _ in range(rounds):
            begin = chance.randint(0, len(walls) - 2 * launches)
            suite(before, walls[begin:begin + launches])
            suite(after, walls[begin + launches:begin + 2 * launches])
            found[answer(before, after)] += 1
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
