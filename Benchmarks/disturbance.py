"""What recording adds to a launch, seen from outside: from exec to exit, as the kernel's
tracepoints tell; and whether what we report of the launch is what it takes alone.

The ways to run a program are taken in random order in each round, and only figures of the same
round are compared.
"""

import dataclasses
import json
import os
import shutil
import statistics
import sys
from dataclasses import dataclass

import servers
from contenders import DWARF, PERF_DWARF, firstlight, nothing, output_of, perf
from figures import Goal, Row, Section, shuffled
from lifetimes import Lifetimes, trouble

ROUNDS = 15
BROWSER_ROUNDS = 5
ALONE, AGAIN = "alone", "alone, again (the noise)"
OURS, SELDOM = "firstlight", "firstlight, 10 Hz"
# At most so much may be added, ms: at 10 Hz to any program, and at 1 kHz, unless a share is given.
MOST_SELDOM_MS = 0.5
# What we report may be off by so much, whichever is more.
CLAIM_MS, CLAIM_PERCENT = 0.3, 3
# By so much the static initialisers' wall time may be above their CPU time.
MOST_BEFORE_MAIN_MS = 0.2
CREATION, INITIALIZERS = "Process creation", "Static initialisers"


@dataclass(frozen=True)
class Program:
    """What is run. It may be made longer by `most_ms`, or by `most_percent` and no more than perf
    does; of one that is `whole` only the time of the whole run is looked at."""

    name: str
    command: list
    most_ms: float = None
    most_percent: float = None
    whole: bool = False

    @property
    def missing(self):
        return None if shutil.which(self.command[0]) else f"{self.command[0]} is not installed"

    @property
    def words(self):
        """With the path that is given to exec: by it, the kernel's account is searched."""
        return [shutil.which(self.command[0])] + self.command[1:]


def programs(folder):
    yield Program("true", ["true"], most_ms=0.5)
    yield Program("git", ["git", "--version"], most_ms=0.5)
    yield Program("sqlite3", ["sqlite3", ":memory:", "select 1"], most_ms=0.5)
    yield Program("perl", ["perl", "-MPOSIX", "-MData::Dumper", "-e", "1"], most_ms=1)
    yield Program("gdb", ["gdb", "--version"], most_percent=4)
    yield Program("node", ["node", "-e", "0"], most_percent=4)
    # The interpreter itself: `python3` on the path may be a script that looks for it.
    yield Program(
        "python3", [sys.executable, "-c", "import asyncio, json, sqlite3"], most_percent=4)
    yield Program("chromium", browser(folder), whole=True)


def browser(folder):
    """Itself, where what is on the path is a script that looks for it."""
    inner = "/usr/lib/chromium/chromium"
    return [inner if os.access(inner, os.X_OK) else "chromium", "--headless", "--no-sandbox",
            "--disable-gpu", f"--user-data-dir={folder}/browser", "--dump-dom", "about:blank"]


def disturbance(setting):
    section = Section(
        "Disturbance", "what recording adds from exec to exit, as the kernel's tracepoints tell; "
        "and what is reported, less what it takes alone")
    reason = trouble()
    if reason:
        section.skipped.append(("exec to exit", reason))
    else:
        whole_launches(setting, section)
    for name, command in {
        "nginx": servers.nginx(setting.folder), "redis-server": servers.redis(setting.folder),
    }.items():
        if shutil.which(command[0]):
            section.rows += before_main(setting, name, command)
        else:
            section.skipped.append((f"{name}, before main", f"{name} is not installed"))
    return section


def whole_launches(setting, section):
    profilers, skipped = setting.usable([
        firstlight(setting.firstlight, setting.folder),
        dataclasses.replace(firstlight(setting.firstlight, setting.folder, 10), name=SELDOM),
        perf(setting.folder, DWARF, 999),
    ])
    section.skipped += skipped
    ways = [nothing(ALONE), nothing(AGAIN)] + profilers
    with Lifetimes() as lifetimes:
        for program in programs(setting.folder):
            if program.missing:
                section.skipped.append((program.name, program.missing))
                continue
            rounds = runs(setting, lifetimes, program, ways)
            section.raw.append({"program": program.name, "rounds": rounds})
            section.rows += rows(program, rounds)


def runs(setting, lifetimes, program, ways):
    """For each round and way, in ms: `lasted` until its exit, until it was `gone`, and what we
    report of it."""
    def job(way):
        def run():
            lifetimes.forget()
            way.run(program.words, setting.errors)
            life = lifetimes.of(program.words[0])
            if life is None:
                raise SystemExit(f"bench: {way.name}: {program.name}: not seen by the kernel")
            reported = {}
            if way.name == OURS and not program.whole:
                reported = claimed(report(setting, way.output))
            return {"lasted": life.lasted / 1e6, "gone": life.gone / 1e6, **reported}
        return run

    jobs = {way.name: job(way) for way in ways}
    # Thrown away: it brings the program's files and the cores up to temperature.
    jobs[ALONE]()
    return shuffled(jobs, setting.rounds(BROWSER_ROUNDS if program.whole else ROUNDS))


def report(setting, path):
    return json.loads(output_of([setting.firstlight, "report", "--format", "json", path]))


def claimed(report):
    """What our report says of a launch from its exec, in ms; how much the scheduler told of it; how
    long threads were held, where the report has it."""
    phases = [phase for phase in report["phases"] if phase["name"] != CREATION]
    figures = {"claimed": sum(phase["wallNs"] for phase in phases) / 1e6,
               "scheduler": report["launch"]["scheduler"] or "nothing"}
    if "heldNs" in report["launch"]:
        figures["held"] = report["launch"]["heldNs"] / 1e6
    return figures


def rows(program, rounds):
    lasted = {way: [figures[way]["lasted"] for figures in rounds] for way in rounds[0]}
    alone = lasted.pop(ALONE)
    yield Row(f"{program.name}: {ALONE}", alone, "{:.2f} ms", remark=" ".join(
        os.path.basename(word) if word.startswith("/") else word for word in program.command[:3]))
    for way, times in lasted.items():
        added = differences(times, alone)
        share = statistics.median(percentages(times, alone))
        goals = added_goals(program, way, lasted, alone) if way in (OURS, SELDOM) else []
        yield Row(f"{program.name}: {way}", added, "{:+.2f} ms", goals, f"{share:+.1f} %")
    if "claimed" in rounds[0].get(OURS, {}):
        ours = [figures[OURS] for figures in rounds]
        gone = [figures[ALONE]["gone"] for figures in rounds]
        yield claim_row(f"{program.name}: reported, less alone", ours, alone)
        yield claim_row(f"{program.name}: reported, less alone until gone", ours, gone)


def differences(values, others):
    return [value - other for value, other in zip(values, others)]


def percentages(values, others):
    return [100 * (value / other - 1) for value, other in zip(values, others)]


def added_goals(program, way, lasted, alone):
    added = differences(lasted[way], alone)
    if program.whole:
        return []
    if way == SELDOM:
        return [Goal(f"≤ {MOST_SELDOM_MS} ms", MOST_SELDOM_MS, added)]
    if program.most_ms is not None:
        return [Goal(f"≤ {program.most_ms} ms", program.most_ms, added)]
    most = program.most_percent
    more = differences(lasted[way], lasted[PERF_DWARF]) if PERF_DWARF in lasted else []
    return [Goal(f"≤ {most} %", most, percentages(lasted[way], alone)),
            Goal("≤ perf dwarf", 0, more)]


def claim_row(label, ours, alone):
    claims = [figures["claimed"] for figures in ours]
    off = differences(claims, alone)
    limit = max(CLAIM_MS, CLAIM_PERCENT / 100 * statistics.median(alone))
    share = statistics.median(percentages(claims, alone))
    remark = f"{share:+.1f} %: {statistics.median(claims):.2f} ms reported"
    remark += f", scheduler: {' or '.join(sorted({each['scheduler'] for each in ours}))}"
    if "held" in ours[0]:
        held = statistics.median(figures["held"] for figures in ours)
        remark += f", {held:.2f} ms held"
    return Row(label, off, "{:+.2f} ms",
               [Goal(f"± {limit:.2f} ms", limit, towards_more(off))], remark)


def towards_more(values):
    """Turned round where their median is below 0: it may be off to neither side."""
    return [-value for value in values] if statistics.median(values) < 0 else values


def before_main(setting, name, command):
    """What our stops before main add to a server's static initialisers, where each look is one."""
    way = firstlight(setting.firstlight, setting.folder)
    prefix = way.prefix[:-1] + ["--until", "listen", "--"]
    way = dataclasses.replace(way, prefix=prefix)
    found = []
    for _ in range(setting.rounds(ROUNDS)):
        way.run(command, setting.errors)
        told = report(setting, way.output)
        phase = next(each for each in told["phases"] if each["name"] == INITIALIZERS)
        found.append({"wall": phase["wallNs"] / 1e6, "cpu": phase["cpuNs"] / 1e6,
                      "held": phase["heldNs"] / 1e6 if "heldNs" in phase else None,
                      "count": len(told["initializers"])})
    wall, cpu = ([figures[key] for figures in found] for key in ("wall", "cpu"))
    added = differences(wall, cpu)
    remark = (f"{statistics.median(wall):.2f} ms wall, {statistics.median(cpu):.2f} ms CPU, "
              f"{found[0]['count']} initialisers")
    if found[0]["held"] is not None:
        remark += f", {statistics.median(figures['held'] for figures in found):.2f} ms held"
    yield Row(f"{name}: static initialisers, wall less CPU", added, "{:+.2f} ms",
              [Goal(f"≤ {MOST_BEFORE_MAIN_MS} ms", MOST_BEFORE_MAIN_MS, added)], remark)
