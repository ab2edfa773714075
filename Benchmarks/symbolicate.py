"""Symbolication of many addresses of one large program: llvm-symbolizer, addr2line, eu-addr2line and
ours, side by side.

Ours is timed as a program that reads the addresses and prints what they mean, as the others do
(Benchmarks/SymbolicateBenchmark). What it answers is compared with llvm-symbolizer's: every frame's
function, file and line.
"""

import bisect
import itertools
import os
import random
import re
import shutil
import subprocess
import time

import symbolicate_program
from figures import Goal, Row, Section, alternated

ROUNDS = 5
ADDRESSES = 10_000
QUICK_ADDRESSES = 1_000
# eu-addr2line takes minutes for all of them: twice this many and this many are timed, and what the
# second half took is what each further one would.
FEW = 100
OURS, WARM = "firstlight", "firstlight, from its cache"
LLVM, GNU, ELFUTILS = "llvm-symbolizer", "addr2line", "eu-addr2line"
GOALS = {LLVM: 3, GNU: 8, ELFUTILS: 100}
MIB = 1024 * 1024


def symbolicate(setting):
    section = Section("Symbolication", "time for all addresses of a program, with inlined frames and "
                      "lines; others as multiples of ours, which begins without a cache")
    ours = os.path.join(os.path.dirname(setting.firstlight), "SymbolicateBenchmark")
    tools = {LLVM, GNU, ELFUTILS, "g++"}
    section.skipped = [(name, "not installed") for name in sorted(tools) if not shutil.which(name)]
    if not os.access(ours, os.X_OK):
        section.skipped.append((OURS, f"{ours} is not there"))
    if not shutil.which("g++") or not os.access(ours, os.X_OK):
        return section
    program = symbolicate_program.make(setting.folder, setting.quick)
    addresses = choose(program, QUICK_ADDRESSES if setting.quick else ADDRESSES)
    runs = {name: run for name, run in commands(setting, ours, program, addresses).items()
            if name in (OURS, WARM) or shutil.which(name)}
    # The files come up to temperature, and the cache is filled.
    answers = {name: runs[name].run() for name in (OURS, WARM)}
    section.raw = alternated({name: run.timed for name, run in runs.items()},
                             setting.rounds(ROUNDS))
    sections = symbolicate_program.debug_sections(program)
    fill(section, runs, sections, len(addresses))
    if LLVM in runs and shutil.which("c++filt"):
        section.rows.append(agreement(answers[OURS], plain(setting, program, addresses).run()))
    assert answers[OURS] == answers[WARM], "the cache answers something else"
    return section


def split(setting):
    """The same of programs whose debug information is in a package (.dwp)."""
    section = Section("Symbolication, split", "addresses of programs with a package beside them "
                      "(.dwp); llvm-symbolizer's time as a multiple of ours")
    ours = os.path.join(os.path.dirname(setting.firstlight), "SymbolicateBenchmark")
    for kind in symbolicate_program.SPLITS:
        missing = [tool for tool in kind.tools + ["c++filt", LLVM, ours] if not shutil.which(tool)]
        if missing:
            section.skipped.append((kind.name, f"{missing[0]} is not there"))
            continue
        program = kind.make(setting.folder, setting.quick)
        addresses = choose(program, QUICK_ADDRESSES if setting.quick else ADDRESSES)
        runs = commands(setting, ours, program, addresses)
        row = agreement(runs[OURS].run(), plain(setting, program, addresses).run())
        row.label = f"{kind.name}: {row.label}"
        section.rows.append(row)
        times = alternated({name: runs[name].timed for name in (OURS, LLVM)},
                           setting.rounds(ROUNDS))
        section.raw += times
        section.rows.append(Row(f"{kind.name}: {OURS}, no cache", [round_[OURS] for round_ in times],
                                "{:.3f} s", [], f"{os.path.getsize(program + '.dwp') / MIB:.0f} MiB"))
        section.rows.append(Row(f"{kind.name}: {LLVM}", [round_[LLVM] / round_[OURS] for round_ in times],
                                "× {:.1f}", []))
        symbolicate_program.remove([program, program + ".dwp"])
    return section


def fill(section, runs, sections, count):
    def times(name):
        return [round_[name] for round_ in section.raw]

    size = sum(sections.values()) / MIB
    section.rows.append(Row(f"{OURS}, no cache", times(OURS), "{:.3f} s", [],
                            f"{count} addresses, {size:.0f} MiB of DWARF"))
    warm = times(WARM)
    section.rows.append(Row(WARM, warm, "{:.3f} s", [Goal("≤ 0.1 s", 0.1, warm)]))
    for name, limit in GOALS.items():
        if name not in runs:
            continue
        ratios = [round_[name] / round_[OURS] for round_ in section.raw]
        remark = f"timed with {2 * FEW} addresses" if name == ELFUTILS else ""
        section.rows.append(Row(name, ratios, "× {:.1f}",
                                [Goal(f"≥ × {limit}", -limit, [-ratio for ratio in ratios])],
                                remark))
    if runs[OURS].peak is None:
        section.skipped.append((f"{OURS}: peak memory", "it did not tell"))
        return
    peak = [runs[OURS].peak / sum(sections.values())]
    section.rows.append(Row(f"{OURS}: peak memory, of the DWARF", peak, "× {:.2f}",
                            [Goal("≤ × 2", 2, peak)], f"{runs[OURS].peak / MIB:.0f} MiB"))


class Run:
    """A command that reads addresses and prints what they mean."""

    def __init__(self, setting, command, addresses, parse=None):
        self.command = command
        self.input = setting.file("addresses")
        self.output = setting.file("meanings")
        self.text = "".join(f"0x{address:x}\n" for address in addresses)
        self.parse = parse
        self.peak = None

    def timed(self):
        """Seconds, for all addresses."""
        return self.call()

    def run(self):
        self.call()
        with open(self.output, errors="replace") as file:
            return self.parse(file.read())

    def call(self):
        with open(self.input, "w") as file:
            file.write(self.text)
        with open(self.input) as source, open(self.output, "w") as target:
            began = time.monotonic()
            process = subprocess.run(self.command, stdin=source, stdout=target,
                                     stderr=subprocess.PIPE, text=True, errors="replace")
            took = time.monotonic() - began
        if process.returncode:
            raise SystemExit(f"bench: {self.command[0]} failed")
        # Ours tells; what wait4 says counts the benchmark itself, of which it was a copy.
        peak = re.search(r"VmHWM:\s+(\d+) kB", process.stderr)
        self.peak = int(peak[1]) * 1024 if peak else None
        return took


class Extrapolated:
    """What a command would take for all addresses, by what it takes for few of them."""

    def __init__(self, setting, command, addresses):
        self.few = Run(setting, command, addresses[:FEW])
        self.more = Run(setting, command, addresses[:2 * FEW])
        self.count = len(addresses)

    def timed(self):
        few, more = self.few.call(), self.more.call()
        return more + max(0, more - few) / FEW * (self.count - 2 * FEW)


def commands(setting, ours, program, addresses):
    return {
        OURS: Run(setting, [ours, program], addresses, lambda text: parse(text, 0)),
        WARM: Run(setting, [ours, program, setting.file("symbols")], addresses, lambda text: parse(text, 0)),
        LLVM: Run(setting, [LLVM, f"--obj={program}", "--inlines"], addresses, lambda text: parse(text, 1)),
        GNU: Run(setting, [GNU, "-e", program, "-i", "-f", "-C"], addresses),
        ELFUTILS: Extrapolated(setting, [ELFUTILS, "-e", program, "-i", "-f", "-C"], addresses),
    }


def plain(setting, program, addresses):
    """llvm-symbolizer's answers with mangled names."""
    command = [LLVM, f"--obj={program}", "--inlines", "--no-demangle"]
    return Run(setting, command, addresses, lambda text: parse(text, 1))


def choose(program, count):
    """Distinct addresses anywhere in functions, the same ones each time."""
    found = symbolicate_program.functions(program)
    ends = list(itertools.accumulate(size for _, size in found))
    numbers = random.Random(1)
    chosen = set()
    while len(chosen) < count:
        place = numbers.randrange(ends[-1])
        start, size = found[bisect.bisect_right(ends, place)]
        chosen.add(start + place - (ends[bisect.bisect_right(ends, place)] - size))
    return numbers.sample(sorted(chosen), count)


def parse(text, columns):
    """For each address its frames, innermost first: function, file and line."""
    answers = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        places = [place.rsplit(":", 1)[0] if columns else place for place in lines[1::2]]
        answers.append(list(zip(lines[::2], places)))
    return answers


def agreement(ours, theirs):
    """Of llvm-symbolizer's names, mangled ones are written by c++filt: its own demangler writes the
    same name in another way."""
    names = sorted({name for frames in theirs for name, _ in frames})
    written = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True,
                             text=True).stdout.split("\n")
    readable = dict(zip(names, written))
    same = sum(agrees(own, [(readable[name], place) for name, place in other])
               for own, other in zip(ours, theirs))
    share = 100 * same / max(1, len(ours), len(theirs))
    depth = sum(map(len, ours)) / len(ours)
    return Row("addresses that llvm-symbolizer answers alike", [share], "{:.2f} %",
               [Goal("≥ 99.9 %", -99.9, [-share])], f"{depth:.1f} frames each")


def agrees(own, other):
    """Where there is no mangled name, ours has the namespaces and classes around it, too."""
    return len(own) == len(other) and all(
        place == other_place and (name == other_name or name.endswith("::" + other_name))
        for (name, place), (other_name, other_place) in zip(own, other))
