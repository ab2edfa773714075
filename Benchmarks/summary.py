"""From the end of a launch to its printed summary: how long whoever ran `record` waits for it.

From the moment at which the recording ends (the last row of its `marks`, on the same clock) until
`record` has printed the last of the summary. Cold: nothing is in the cache of symbols. Warm: runs before have
filled it. Beside it, how long the recorder took before the launch began, and how much later it ends:
what is written after the summary, into the recording and the cache.
"""

import os
import shutil
import statistics
import subprocess
import time

import recording
import symbolicate_program
from figures import Goal, Row, Section, alternated

ROUNDS = 5
COLD_MS, WARM_MS, HELP_MS = 250, 100, 20
PYTHON = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: sum(range(1000))"


def summary(setting):
    section = Section("From the launch's end to the summary",
                      "of a launch of one second")
    programs = {"python3": [python(), "-c", PYTHON]}
    if shutil.which("g++"):
        programs["100 MB of DWARF"] = [symbolicate_program.make(setting.folder, setting.quick)]
    else:
        section.skipped.append(("100 MB of DWARF", "g++ is not installed"))
    jobs = {}
    for name, command in programs.items():
        warm = setting.file("cache of " + name.replace(" ", "-"))
        os.makedirs(warm, mode=0o700)
        for _ in range(2):
            recorded(setting, command, warm)
        jobs[f"{name}, cold"] = lambda command=command: cold(setting, command)
        jobs[f"{name}, warm"] = lambda command=command, warm=warm: recorded(setting, command, warm)
    jobs["--help"] = lambda: helped(setting)
    section.raw = alternated(jobs, setting.rounds(ROUNDS))
    for name in jobs:
        limit = HELP_MS if name == "--help" else COLD_MS if name.endswith("cold") else WARM_MS
        times = [round_[name][0] for round_ in section.raw]
        section.rows.append(Row(name, times, "{:.0f} ms", [Goal(f"≤ {limit} ms", limit, times)],
                                beside([round_[name] for round_ in section.raw])))
    return section


def beside(figures):
    if len(figures[0]) == 1:
        return ""
    rest, start = (statistics.median(figure[index] for figure in figures) for index in (1, 2))
    return f"{start:.0f} ms before the launch, {rest:.0f} ms after the summary"


def python():
    """Not a wrapper, if that can be had."""
    usual = "/usr/bin/python3"
    return usual if os.access(usual, os.X_OK) else shutil.which("python3")


def cold(setting, command):
    cache = setting.file("empty cache")
    shutil.rmtree(cache, ignore_errors=True)
    os.makedirs(cache, mode=0o700)
    return recorded(setting, command, cache)


def recorded(setting, command, cache):
    """Milliseconds from the recording's end to the summary, from there to the recorder's end, and
    from the recorder's start to the launch's."""
    path = setting.file("summary.firstlight")
    began, printed, ended = timed(setting, ["record", "-o", path, "--"] + command, cache)
    times = [mark["time_ns"] for mark in recording.rows(path, "marks")]
    first, last = min(times), max(times)
    return (printed - last / 1e9) * 1000, (ended - printed) * 1000, (first / 1e9 - began) * 1000


def helped(setting):
    began, printed, _ = timed(setting, ["--help"], "")
    return ((printed - began) * 1000,)


def timed(setting, words, cache):
    """When it was started, had printed its last, and had ended."""
    began = printed = time.monotonic()
    process = subprocess.Popen([setting.firstlight] + words, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               env=os.environ | {"FIRSTLIGHT_CACHE": cache})
    with process:
        while os.read(process.stdout.fileno(), 1 << 16):
            printed = time.monotonic()
    ended = time.monotonic()
    if process.returncode:
        raise SystemExit(f"bench: firstlight {words[0]} failed")
    return began, printed, ended
