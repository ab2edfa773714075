"""Programs that a recorder could harm, alone and recorded in several ways: they print the same."""

import glob
import os
import re
import subprocess
import time

import processes
from processes import Ended, Hung

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 30
# Before a result that a program never had alone counts as a difference, the program runs alone so often.
ENOUGH = 6

# Programs of harmed/ and fixtures. The number in braces says how much they do, and the other one how many
# times as much they do while they are attached to.
PROGRAMS = [
    ("borrowed {40} threads", 4),
    ("borrowed {40} deep", 4),
    ("coroutines {10} shallow", 4),
    ("coroutines {10} deep", 4),
    ("heapstack {60}", 4),
    ("dispatched {100}", 4),
    ("masked work {50}", 6),
    ("partial computed {8}", 3),
    ("partial deep {8}", 3),
    ("partial pipe {8}", 4),
    ("partial parts {8}", 4),
    ("partial socket {8}", 4),
]


class Way:
    """How a program is recorded. `attach` comes again and again until the program ends."""

    def __init__(self, command, *options, is_filtered=False):
        self.is_attached = command == "attach"
        self.words, self.is_filtered = [command, "--quiet", *options], is_filtered

    def recorder(self, options, recording):
        without = [os.path.join(options.fixtures, "without"), "perf_event_open"]
        words = [options.firstlight, *self.words, "-o", recording]
        return without + words if self.is_filtered else words


WAYS = {
    "record": Way("record"),
    "record, no events": Way("record", is_filtered=True),
    "record, ptrace": Way("record", "--capture", "ptrace"),
    "record, children": Way("record", "--follow-children"),
    "attach": Way("attach", "--duration", "50ms"),
    "attach, no events": Way("attach", "--duration", "50ms", is_filtered=True),
    "attach, ptrace": Way("attach", "--duration", "50ms", "--capture", "ptrace"),
}


class Unfit(Exception):
    pass


class Subject:
    """A program, and how it ended alone: each short run, and each long one as under `attach`."""

    def __init__(self, options, folder, words, factor):
        self.name, self.folder = re.sub(r" \{\d+\}", "", words), folder
        self.alone = {False: [], True: []}
        self.words = {False: command(options, folder, words, 1),
                      True: command(options, folder, words, factor)}

    def run_alone(self, state, is_long):
        try:
            found = as_a_shell_has_it(processes.run(self.words[is_long], LIMIT, cwd=self.folder))
        except Hung as hung:
            raise Unfit(f"alone: {hung}")
        if found.status == 125:
            raise Unfit(f"alone: {found.error.decode(errors='replace').strip()}")
        known = self.alone[is_long]
        count(state, self.name, "alone", known != [] and not is_among(found, known))
        known.append(found)


def command(options, folder, words, factor):
    name, *rest = re.sub(r"\{(\d+)\}", lambda number: str(int(number[1]) * factor), words).split()
    built = os.path.join(folder, name)
    return [built if os.path.exists(built) else os.path.join(options.fixtures, name), *rest]


def as_a_shell_has_it(found):
    """A program that signal N ended has the status 128 + N."""
    return Ended(found.status if found.status >= 0 else 128 - found.status, found.output, found.error)


def is_among(found, known):
    """The programs tell details on standard error, which differ from run to run."""
    return any((found.status, found.output) == (other.status, other.output) for other in known)


def cell(state, name, way):
    """Different runs, and all."""
    return state.part("harm").setdefault("cells", {}).setdefault(name, {}).setdefault(way, [0, 0])


def count(state, name, way, is_different):
    figures = cell(state, name, way)
    figures[0] += is_different
    figures[1] += 1


def record(recorder, words, folder):
    """How the program ended, and how many recordings were made."""
    found = processes.run([*recorder, "--", *words], LIMIT, cwd=folder)
    recording = recorder[-1]
    return found, int(os.path.exists(recording))


def attach(recorder, words, folder):
    program, end, recordings = processes.start(words, cwd=folder), time.monotonic() + LIMIT, 0
    try:
        while program.poll() is None and time.monotonic() < end:
            recordings += processes.run([*recorder, str(program.pid)], LIMIT).status == 0
        return as_a_shell_has_it(processes.finish(program, LIMIT)), recordings
    finally:
        processes.kill_group(program.pid)


def one(state, options, subject, name, turn):
    way = WAYS[name]
    known, words = subject.alone[way.is_attached], subject.words[way.is_attached]
    recorder = way.recorder(options, os.path.join(subject.folder, "recording"))
    found, recordings, why = None, 0, ""
    try:
        found, recordings = (attach if way.is_attached else record)(recorder, words, subject.folder)
    except Hung as hung:
        why = str(hung)
    for file in glob.glob(os.path.join(subject.folder, "recording*")):
        os.unlink(file)
    while found and not is_among(found, known) and len(known) < ENOUGH:
        subject.run_alone(state, way.is_attached)
    if found and not is_among(found, known):
        why = f"{found.short()}\ninstead of\n{known[0].short()}"
    count(state, subject.name, name, why != "")
    figures = {"recordings": recordings} if recordings else {"runs without a recording": 1}
    state.count("harm", name, 1 if why else 0, **figures)
    if why:
        texts = {"why": why, "program": " ".join(words), "alone.output": known[0].output}
        if found:
            texts |= {"recorded.output": found.output, "recorded.error": found.error}
        state.keep("harm", re.sub(r"\W+", "-", f"{subject.name} {name} {turn}"), recorder, texts)


def build(folder):
    """No test needs these programs, so it is not the fixtures' Makefile that builds them."""
    os.makedirs(folder, exist_ok=True)
    for source in glob.glob(f"{HERE}/harmed/*.c"):
        program = os.path.join(folder, os.path.basename(source)[:-len(".c")])
        subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-pthread",
                        "-o", program, source, "-lutil"], check=True)


def all_subjects(options, folder):
    calls = processes.run([os.path.join(folder, "calls")]).output.decode().split()
    for words, factor in PROGRAMS + [(f"calls {{1}} {name}", 4) for name in calls]:
        subject = Subject(options, folder, words, factor)
        first, *_, last = subject.name.split() * 2
        if not options.only or {subject.name, first, last} & set(options.only):
            yield subject


def campaign(state, options, wanted):
    folder = os.path.join(state.folder, "harmed")
    build(folder)
    subjects = list(all_subjects(options, folder))
    for turn in range(wanted):
        for subject in subjects:
            ways = [name for name in WAYS if cell(state, subject.name, name)[1] <= turn]
            try:
                for is_long in sorted({WAYS[name].is_attached for name in ways}):
                    subject.run_alone(state, is_long)
                for name in ways:
                    one(state, options, subject, name, turn)
            except Unfit as unfit:
                state.skip("harm", subject.name, str(unfit))
            state.save()


def table(state):
    """Programs and ways: different runs of all. Of the system calls, only those that differ have a row."""
    cells = state.parts.get("harm", {}).get("cells", {})
    columns = ["alone", *WAYS]
    calls = [name for name in cells if name.startswith("calls ")]
    rows = {name: [name] for name in cells if name not in calls}
    rows |= {f"{len(calls)} system calls": calls} if calls else {}
    rows |= {name: [name] for name in calls if any(cell(state, name, way)[0] for way in columns)}
    lines = ["| harm: different/runs | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row, names in rows.items():
        sums = [map(sum, zip(*(cell(state, name, way) for name in names))) for way in columns]
        lines.append(f"| {row} | " + " | ".join(f"{different}/{runs}" for different, runs in sums) + " |")
    return "\n".join(lines) if rows else ""
