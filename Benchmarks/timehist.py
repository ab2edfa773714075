"""Whether our account of a launch is perf's: `perf sched timehist` beside `firstlight record`.

    timehist.py FIRSTLIGHT PROGRAM [ARG...]

For each thread of the program the sums of running, of waiting for a core and of sleeping may differ
by 3 %, or by 4 ms where that is more: perf's tracepoint and the kernel's event of a switch are some
0.03 ms apart. All of it runs on one core, so that there is waiting to agree on. Exit status: 0 they agree, 1 they do not, 77 it cannot be told here (one line says why).
"""

import os
import re
import subprocess
import sys
import tempfile

import recording

SHARE, LEAST = 0.03, 4_000_000
STATES = ["run", "wait", "wait", "sleep"]
# time [cpu]  name[tid/pid]  wait  delay  run  state
LINE = re.compile(r"^\s*([\d.]+) \[\d+\]\s+.*?\[?(\d+)(?:/\d+)?\]?\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\S+)")


def skip(why):
    print(why)
    sys.exit(77)


def record(firstlight, program, folder):
    data, file = f"{folder}/perf.data", f"{folder}/recording"
    core = min(os.sched_getaffinity(0))
    words = ["perf", "sched", "record", "-k", "CLOCK_MONOTONIC", "-o", data, "--",
             "taskset", "-c", str(core), firstlight, "record", "--quiet", "-o", file, "--"]
    result = subprocess.run(words + program, capture_output=True, text=True)
    if not os.path.exists(file) or not os.path.exists(data):
        skip(f"perf sched record does not work here: {result.stderr.strip()[-200:]}")
    return data, file, core


def perf(*words):
    return subprocess.run(["perf", *words], capture_output=True, text=True).stdout


def expect_complete(data, core):
    """perf has been seen to miss the switches away from an idle core."""
    text = perf("script", "-i", data, "-C", str(core), "-F", "event,trace")
    switches = [line for line in text.splitlines() if "sched_switch" in line]
    to_idle = sum("next_pid=0 " in line + " " for line in switches)
    from_idle = sum("prev_pid=0 " in line for line in switches)
    if abs(to_idle - from_idle) > 2:
        skip(f"perf misses switches here: {to_idle} to idle, {from_idle} from it")


class Sums:
    """What perf says of a thread, and of which stretch of its life: it leaves out the very last."""

    def __init__(self):
        self.times = {"run": 0, "wait": 0, "sleep": 0}
        self.start = self.end = None
        self.state = "S"

    def add(self, end, away, delay, run, state, launch):
        start = end - run - away
        if start >= launch:
            self.start = self.start or start
            self.end = end
            self.times["run"] += run
            # Stopped by its tracer, us, it would have gone on as one that was pushed off its core.
            if self.state.startswith(("R", "t")):
                self.times["wait"] += away
            else:
                self.times["wait"] += min(delay, away)
                self.times["sleep"] += max(0, away - delay)
        self.state = state


def theirs(data, threads, launch):
    sums = {tid: Sums() for tid in threads}
    for line in perf("sched", "timehist", "--state", "-i", data).splitlines():
        found = LINE.match(line)
        if found and int(found[2]) in sums:
            end, *lengths = (round(float(found[group]) * scale)
                             for group, scale in ((1, 1e9), (3, 1e6), (4, 1e6), (5, 1e6)))
            sums[int(found[2])].add(end, *lengths, found[6], launch)
    return sums


def ours(file, tid, start, end):
    times = {"run": 0, "wait": 0, "sleep": 0}
    threads = recording.rows(file, "threads")
    for row in recording.rows(file, "runs"):
        if threads[row["thread"]]["tid"] != tid:
            continue
        first, cursor = row["start_ns"], recording.Cursor(row["data"])
        while not cursor.is_at_end():
            value = cursor.number()
            if value & 3 == 0:
                cursor.number()  # its core
            last = first + (value >> 2)
            times[STATES[value & 3]] += max(0, min(last, end) - max(first, start))
            first = last
    return times


def main():
    firstlight, *program = sys.argv[1:]
    agrees = True
    with tempfile.TemporaryDirectory() as folder:
        data, file, core = record(firstlight, program, folder)
        expect_complete(data, core)
        if recording.header(file)["account"] != "wakeups":
            skip("the recorder may not see wake-ups here")
        threads = [thread["tid"] for thread in recording.rows(file, "threads")]
        launch = min(mark["time_ns"] for mark in recording.rows(file, "marks"))
        for tid, sums in theirs(data, threads, launch).items():
            mine = ours(file, tid, sums.start or 0, sums.end or 0)
            for name, expected in sums.times.items():
                is_fine = abs(mine[name] - expected) <= max(LEAST, SHARE * expected)
                agrees = agrees and is_fine
                print(f"{tid} {name}: {mine[name] / 1e6:.2f} ms, perf {expected / 1e6:.2f} ms"
                      + ("" if is_fine else "  DIFFERS"))
    sys.exit(0 if agrees else 1)


main()
