"""What `measure` adds to a launch, seen from outside: from exec to exit, as the kernel's tracepoints
tell. In each round a program is launched some times by itself and as often by `measure`; each time
one launch before is thrown away.
"""

import json
import os
import shutil
import statistics
import sys

from contenders import Contender, nothing, output_of
from disturbance import Program, differences, percentages
from figures import Goal, Row, Section, shuffled
from lifetimes import Lifetimes, trouble

ROUNDS = 15
LAUNCHES = 5
ALONE, AGAIN, OURS = "alone", "alone, again (the noise)", "measured"
# At most so much may be added, ms.
MOST_ADDED_MS = 0.3


def programs(folder):
    # The interpreter itself: `python3` on the path may be a script that looks for it.
    python = [sys.executable, "-c", "import asyncio, json, sqlite3"]
    for name, command in {
        "true": ["true"], "sqlite3": ["sqlite3", ":memory:", "select 1"], "python3": python,
        "gdb": ["gdb", "--version"],
    }.items():
        yield Program(name, named(folder, name, command))


def named(folder, name, command):
    """By a link of our own: by its path, our launches are told from others of the same program."""
    program = shutil.which(command[0])
    if program is None:
        return command
    link = os.path.join(folder, name)
    if not os.path.islink(link):
        os.symlink(program, link)
    return [link] + command[1:]


def measuring(setting, launches, options=()):
    """A Contender that launches a program so many times, and once before that does not count."""
    path = setting.file("bench.launches")
    return Contender(
        OURS, [setting.firstlight, "measure", "--quiet", "-n", str(launches), *options, "-o", path,
               "--"], output=path)


def measurement(setting, path):
    return json.loads(output_of([setting.firstlight, "report", "--format", "json", path]))


def counted(measured):
    """The launches that count."""
    return [launch for launch in measured["launches"] if launch["discarded"] is None]


def measure(setting):
    section = Section(
        "What measure adds", f"from exec to exit, as the kernel's tracepoints tell; medians of "
        f"{setting.launches(LAUNCHES)} launches")
    reason = trouble()
    if reason:
        section.skipped.append(("all", reason))
        return section
    with Lifetimes() as lifetimes:
        for program in programs(setting.folder):
            if program.missing:
                section.skipped.append((program.name, program.missing))
                continue
            rounds = runs(setting, lifetimes, program)
            section.raw.append({"program": program.name, "rounds": rounds})
            section.rows += rows(program, rounds)
    return section


def runs(setting, lifetimes, program):
    """For each round and way the medians, in ms: `lasted` until its exit, until it was `gone`; of
    measured ones what was `reported`, from exec, and what was `held` of it."""
    count = setting.launches(LAUNCHES)

    def alone():
        lifetimes.forget()
        for _ in range(1 + count):
            nothing(ALONE).run(program.words, setting.errors)
        return seen(lifetimes, program, ALONE, count)

    def measured():
        way = measuring(setting, count)
        lifetimes.forget()
        way.run(program.words, setting.errors)
        figures = seen(lifetimes, program, OURS, count)
        launches = counted(measurement(setting, way.output))
        figures["reported"] = statistics.median(map(from_exec, launches))
        figures["held"] = statistics.median(launch["heldNs"] / 1e6 for launch in launches)
        return figures

    return shuffled({ALONE: alone, AGAIN: alone, OURS: measured}, setting.rounds(ROUNDS))


def seen(lifetimes, program, way, count):
    lives = lifetimes.lives(program.words[0])
    if len(lives) != 1 + count or None in lives:
        raise SystemExit(f"bench: {way}: {program.name}: of {1 + count} launches the kernel "
                         f"told of {len(lives) - lives.count(None)}")
    return {"lasted": statistics.median(life.lasted / 1e6 for life in lives[1:]),
            "gone": statistics.median(life.gone / 1e6 for life in lives[1:])}


def from_exec(launch):
    """What is reported of a launch behind its exec, ms."""
    creation = sum(phase["wallNs"] for phase in launch["phases"]
                   if phase["name"] == "Process creation")
    return (launch["wallNs"] - creation) / 1e6


def rows(program, rounds):
    def values(way, key):
        return [figures[way][key] for figures in rounds]

    alone = values(ALONE, "lasted")
    yield Row(f"{program.name}: {ALONE}", alone, "{:.2f} ms", remark=" ".join(
        os.path.basename(word) if word.startswith("/") else word for word in program.command[:3]))
    noise = values(AGAIN, "lasted")
    yield Row(f"{program.name}: {AGAIN}", differences(noise, alone), "{:+.2f} ms",
              remark=f"{statistics.median(percentages(noise, alone)):+.1f} %")
    added = differences(values(OURS, "lasted"), alone)
    share = statistics.median(percentages(values(OURS, "lasted"), alone))
    held = statistics.median(values(OURS, "held"))
    yield Row(f"{program.name}: {OURS}", added, "{:+.2f} ms",
              [Goal(f"≤ {MOST_ADDED_MS} ms", MOST_ADDED_MS, added)],
              f"{share:+.1f} %; {held:.2f} ms held, left out of what is reported")
    gone = values(ALONE, "gone")
    yield Row(f"{program.name}: reported, less alone until gone",
              differences(values(OURS, "reported"), gone), "{:+.2f} ms",
              remark=f"{statistics.median(values(OURS, 'reported')):.2f} ms reported from exec")
