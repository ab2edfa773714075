"""How long it takes to export a recording of ten seconds and eight threads, in each format; beside
it the report as text and JSON.

Two programs: one whose threads only compute (`crowd`), and Python, whose threads have deep stacks
and wait for each other thousands of times a second.
"""

import os
import subprocess
import time

from figures import Goal, Row, Section, alternated
from summary import python

ROUNDS = 5
MOST_MS = 500
SECONDS, QUICK_SECONDS = 10, 1
FORMATS = ["folded", "svg", "speedscope", "firefox", "pprof", "perf-script", "chrome"]
BUSY = """
import collections, hashlib, json, re, threading, time
end = time.monotonic() + {}
def work():
    while time.monotonic() < end:
        numbers = {{str(i): [i] * 10 for i in range(200)}}
        text = json.dumps(numbers)
        json.loads(text)
        re.sub(r"(\\d+)", lambda match: match.group(1) * 2, text[:2000])
        sorted(numbers.items(), key=lambda pair: hash(pair[0]))
        hashlib.sha256(text.encode() * 20).hexdigest()
        collections.Counter(text)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def exports(setting):
    section = Section("Exports", "of a recording of 10 s, 8 threads, 1 kHz: the whole command")
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    jobs = {}
    for program, path in recordings(setting, seconds).items():
        for name in FORMATS:
            words = ["export", "--format", name, path]
            jobs[f"{program}: {name}"] = lambda words=words: timed(setting, words)
        for name in ["text", "json"]:
            words = ["report", "--format", name, path]
            jobs[f"{program}: report, {name}"] = lambda words=words: timed(setting, words)
    section.raw = alternated(jobs, setting.rounds(ROUNDS))
    for name in jobs:
        times = [round_[name]["ms"] for round_ in section.raw]
        goals = [] if "report" in name else [Goal(f"≤ {MOST_MS} ms", MOST_MS, times)]
        size = section.raw[0][name]["bytes"] / 1e6
        section.rows.append(Row(name, times, "{:.0f} ms", goals, f"{size:.1f} MB"))
    return section


def recordings(setting, seconds):
    """The paths of one of each program."""
    return {
        "8 at work": record(setting, "crowd", seconds, [setting.fixture("crowd"), "8"]),
        "python3": record(setting, "python", seconds, [python(), "-c", BUSY.format(seconds)])}


def record(setting, name, seconds, command):
    """The path of a recording."""
    path = setting.file(name + ".firstlight")
    # The fixture works until its input ends.
    with open(setting.errors, "w") as errors:
        process = subprocess.Popen(
            [setting.firstlight, "record", "--quiet", "--duration", f"{seconds}s", "--after",
             "stop", "-o", path, "--"] + command,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        process.wait()
        process.stdin.close()
    if not os.path.exists(path):
        raise SystemExit(f"bench: {command[0]} could not be recorded")
    return path


def timed(setting, words):
    output = setting.file("exported")
    with open(output, "w") as file, open(setting.errors, "w") as errors:
        began = time.monotonic()
        status = subprocess.call([setting.firstlight] + words, stdout=file, stderr=errors)
        took = time.monotonic() - began
    if status:
        raise SystemExit(f"bench: firstlight {words} failed")
    return {"ms": took * 1000, "bytes": os.path.getsize(output)}
