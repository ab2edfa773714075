"""From the end of a launch to its printed summary: how long whoever ran `record` waits for it.

What `record` takes as a whole, less the launch: the recorder's own start is counted, too. Cold:
nothing is in the cache of symbols. Warm: runs before have filled it.
"""

import json
import os
import shutil
import subprocess
import time

import symbolicate_program
from figures import Goal, Row, Section, alternated

ROUNDS = 5
COLD_MS, WARM_MS, HELP_MS = 250, 100, 20
PYTHON = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: sum(range(1000))"


def summary(setting):
    section = Section("From the launch's end to the summary",
                      "what record takes besides the launch; a launch of one second")
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
        times = [round_[name] for round_ in section.raw]
        section.rows.append(Row(name, times, "{:.0f} ms", [Goal(f"≤ {limit} ms", limit, times)]))
    return section


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
    """Milliseconds besides the launch."""
    path = setting.file("summary.firstlight")
    took = timed(setting, ["record", "-o", path, "--"] + command, cache)
    report = subprocess.run([setting.firstlight, "report", "--format", "json", path], check=True,
                            capture_output=True)
    return took - json.loads(report.stdout)["launch"]["wallNs"] / 1e6


def helped(setting):
    return timed(setting, ["--help"], "")


def timed(setting, words, cache):
    began = time.monotonic()
    with open(setting.file("printed"), "w") as printed:
        status = subprocess.run([setting.firstlight] + words, stdout=printed, stderr=printed,
                                env=os.environ | {"FIRSTLIGHT_CACHE": cache}).returncode
    took = time.monotonic() - began
    if status:
        raise SystemExit(f"bench: firstlight {words[0]} failed")
    return took * 1000
