#!/usr/bin/env python3
"""What recording costs the program, side by side with other profilers, as ratios.

Each contender runs right after an unprofiled run of the same program, in turns, and the median of
the pairs' ratios counts: machines are noisy, neighbouring runs are alike.

usage: bench.py FIRSTLIGHT FIXTURES [PAIRS]
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    kernel = platform.release()
    return f"{model}, {os.cpu_count()} cores, Linux {kernel}, load {os.getloadavg()[0]:.2f}"


def seconds(command):
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    elapsed = time.monotonic() - start
    if done.returncode != 0:
        raise SystemExit(f"bench: {command} ended with status {done.returncode}")
    return elapsed


def truth(command, name, folder):
    """The program's own measure: wall seconds between two points inside it."""
    path = os.path.join(folder, "truth")
    environment = dict(os.environ, FIRSTLIGHT_TRUTH=path)
    subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)
    with open(path) as file:
        values = dict(line.split() for line in file)
    return int(values[name]) / 1e9


def ratios(plain, profiled, measure, pairs):
    results = []
    for index in range(pairs):
        # The order alternates, so that a drift of the machine favours nobody.
        if index % 2:
            second, first = measure(profiled), measure(plain)
        else:
            first, second = measure(plain), measure(profiled)
        results.append(second / first)
    return results


def contenders(firstlight, folder):
    recording = os.path.join(folder, "bench.firstlight")
    yield "firstlight, ptrace, 1 kHz", [
        firstlight, "record", "--quiet", "--capture", "ptrace", "-o", recording, "--"]
    if shutil.which("perf"):
        data = os.path.join(folder, "perf.data")
        yield "perf, frame pointers, 1 kHz", [
            "perf", "record", "-q", "-e", "cpu-clock", "-F", "1000", "-g", "-o", data, "--"]
        yield "perf, dwarf, 1 kHz", [
            "perf", "record", "-q", "-e", "cpu-clock", "-F", "1000", "--call-graph", "dwarf,8192",
            "-o", data, "--"]


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    firstlight, fixtures = os.path.abspath(sys.argv[1]), sys.argv[2]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print(machine())
    print(f"slowdown of the program, median of {pairs} alternated pairs (least … most)\n")
    with tempfile.TemporaryDirectory() as folder:
        spin = [os.path.join(fixtures, "spin"), "400000000"]
        threads = [os.path.join(fixtures, "threads"), "4"]
        workloads = [
            ("one CPU-bound thread", spin, lambda c: truth(c, "spin_wall", folder)),
            ("four threads", threads, lambda c: truth(c, "threads_wall", folder)),
            ("python3, imports (whole run)",
             ["python3", "-c", "import asyncio, json, sqlite3"], seconds),
        ]
        for title, command, measure in workloads:
            print(title)
            for name, prefix in contenders(firstlight, folder):
                found = ratios(command, prefix + command, measure, pairs)
                median, least, most = (
                    100 * (f(found) - 1) for f in (statistics.median, min, max))
                print(f"  {name:32} {median:+6.1f} %   ({least:+.1f} … {most:+.1f})")
            print()


if __name__ == "__main__":
    main()
