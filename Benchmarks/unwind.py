"""Unwinding: our unwinder against perf's on the same samples: how fast, how completely, and whether
they say the same.

perf takes no figures of its own: what `perf script` costs without the call graphs (-G) is taken off
what it costs with them. Ours unwinds the same file's samples, all read before; docs/unwinding.md.
"""

import os
import shutil
import statistics
from collections import Counter
from dataclasses import dataclass

import debugger
from figures import Goal, Row, Section, alternated
from setting import cpu_seconds

ROUNDS = 5
SECONDS = 3.0
QUICK_SECONDS = 0.6
FREQUENCY = 9999
# Their stacks are larger.
ENGINE_FREQUENCY = 1999
FEW, MANY = 5_000, 20_000
TIMES_FASTER = 13
MEMORY_NS = 60
CACHED_NS = 30

PYTHON = """
import json, re, sys, time
class Node:
    def __init__(self, depth):
        self.children = [Node(depth - 1) for _ in range(2)] if depth else []
        self.name = "node%d" % depth
    def __lt__(self, other):
        return self.name < other.name
    def walk(self):
        return sorted(self.children) + [n for c in self.children for n in c.walk()]
def texts(count):
    data = {"k%d" % i: [i, str(i), {"v": i * 1.5}] for i in range(count)}
    text = json.dumps(data, indent=1)
    return len(re.sub(r"[0-9]+", lambda m: m.group()[::-1], text)) + len(json.loads(text))
def numbers(n):
    return sum(x * x % 7 for x in range(n))
total, root = 0, Node(6)
while time.process_time() < float(sys.argv[1]):
    total += len(root.walk()) + texts(60) + numbers(2000) + sum(map(numbers, [10, 20]))
print(total)
"""

GDB = """python
import time
until = time.process_time() + {seconds}
while time.process_time() < until:
    for kind in ("functions", "types", "variables"):
        gdb.execute("info %s nothing.*like.*this" % kind, to_string=True)
"""

NODE = """
const zlib = require("zlib");
const until = process.cpuUsage().user + Number(process.argv[1]) * 1e6;
let total = 0;
while (process.cpuUsage().user < until) {
    const data = Array.from({length: 300}, (_, i) => ({key: "k" + i, value: i * 1.5}));
    const text = JSON.stringify(data);
    total += JSON.parse(text).length + zlib.deflateSync(text).length;
    total += text.replace(/[0-9]+/g, m => m.length).split(",").sort().length;
}
console.log(total);
"""


@dataclass
class Program:
    """What is recorded, and how many bytes of each stack, so that nearly all stacks fit."""

    name: str
    command: list
    stack: int = 8192
    has_tables: bool = True


def programs(setting):
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    yield Program("python3", ["/usr/bin/python3", "-c", PYTHON, str(seconds)])
    yield Program("virtual calls", [setting.fixture("virtuals"), str(int(seconds * 1000))])
    yield Program(
        "gdb", ["gdb", "-nx", "-batch", "-ex", GDB.format(seconds=seconds), setting.firstlight],
        16384)


def programs_for_engines(setting):
    """On which only the two engines are compared: what they find hard."""
    milliseconds = str(int(1000 * (QUICK_SECONDS if setting.quick else SECONDS)))
    yield Program("exceptions", [setting.fixture("inflight"), milliseconds])
    # Two stacks, and all that both have.
    yield Program("signal handlers", [setting.fixture("handlers"), milliseconds], 65528)
    yield Program("node", ["node", "-e", NODE, str(int(milliseconds) / 1000)], 16384,
                  has_tables=False)


def unwinding(setting):
    section = Section(
        "Unwinding", "CPU time a frame on one core; ours against `perf script --no-inline -F ip` "
        "less the same with -G")
    ours = os.path.join(os.path.dirname(setting.firstlight), "UnwindBenchmark")
    jobs = [(measure, program) for program in programs(setting)]
    jobs += [(compare_engines, program) for program in programs_for_engines(setting)]
    for job, program in jobs:
        missing = [name for name in (ours, "perf", program.command[0]) if not shutil.which(name)]
        if missing:
            section.skipped.append((program.name, f"{missing[0]} is not there"))
            continue
        data = record(setting, program, FREQUENCY if job is measure else ENGINE_FREQUENCY)
        job(setting, section, ours, program, data)
        os.unlink(data)
    return section


def record(setting, program, frequency):
    data = setting.file("unwind.data")
    cpu_seconds(
        ["perf", "record", "-q", "-m", "2048", "-F", str(frequency), "-e", "cpu-clock:u",
         "--call-graph", f"dwarf,{program.stack}", "-o", data, "--"] + program.command,
        setting.errors, setting.file("output"))
    return data


def compare_engines(setting, section, ours, program, data):
    section.rows += engine_rows(program, *agreement(setting, ours, data))


def measure(setting, section, ours, program, data):
    jobs = {
        "perf": lambda: perf_ns(setting, data),
        "ours": lambda: figures(setting, [ours, data]),
        f"ours, {FEW:,}": lambda: figures(setting, [ours, data, str(FEW)]),
        f"ours, {MANY:,}": lambda: figures(setting, [ours, data, str(MANY)]),
    }
    rounds = alternated(jobs, setting.rounds(ROUNDS))
    section.raw.append({"program": program.name, "rounds": rounds})
    section.rows += speed_rows(program.name, rounds)
    section.rows += agreement_rows(program.name, *stacks(setting, ours, data))
    compare_engines(setting, section, ours, program, data)


def perf_ns(setting, data):
    """Nanoseconds a frame."""
    command = ["perf", "script", "-i", data, "--no-inline", "-F", "ip"]
    output = setting.file("output")
    plain = cpu_seconds(command + ["-G"], setting.errors, output)
    whole = cpu_seconds(command, setting.errors, output)
    with open(output) as file:
        frames = sum(1 for line in file if line.strip())
    return 1e9 * (whole - plain) / max(1, frames)


def figures(setting, command):
    """What UnwindBenchmark prints; the median where it has a figure of several passes."""
    output = setting.file("output")
    cpu_seconds(command, setting.errors, output)
    found = {}
    with open(output) as file:
        for line in file:
            name, _, value = line.partition(":")
            found.setdefault(name, []).append(float(value))
    return {name: statistics.median(values) for name, values in found.items()}


def speed_rows(name, rounds):
    def of(job, figure):
        return [taken[job][figure] for taken in rounds]

    seen = rounds[0]["ours"]
    hits, misses = seen["hits"], seen["misses"]
    perf = [taken["perf"] for taken in rounds]
    ratios = [taken["ours"]["cold"] / taken["perf"] for taken in rounds]
    yield Row(f"{name}: perf", perf, "{:.0f} ns",
              remark=f"{seen['samples']:,.0f} samples, {seen['frames']:,.0f} frames")
    yield Row(f"{name}: ours, opening files included", of("ours", "cold"), "{:.0f} ns",
              [Goal(f"{TIMES_FASTER}× faster", 1 / TIMES_FASTER, ratios)],
              f"{1 / statistics.median(ratios):.0f}× faster")
    for job in list(rounds[0])[1:]:
        yield Row(f"{name}: {job}, in memory", of(job, "memory"), "{:.1f} ns",
                  [Goal(f"≤ {MEMORY_NS} ns", MEMORY_NS, of(job, "memory"))],
                  f"{rounds[0][job]['samples']:,.0f} samples")
    yield Row(f"{name}: ours, into the table of stacks", of("ours", "interned"), "{:.1f} ns",
              [Goal(f"≤ {MEMORY_NS} ns", MEMORY_NS, of("ours", "interned"))],
              "as the recorder does it")
    yield Row(f"{name}: in the CPU's cache", of("ours", "cached"), "{:.1f} ns",
              [Goal(f"≤ {CACHED_NS} ns", CACHED_NS, of("ours", "cached"))])
    yield Row(f"{name}: rules found in the cache", [100 * hits / (hits + misses)], "{:.2f} %",
              remark=f"{misses:,.0f} misses")


def stacks(setting, ours, data):
    """Both programs' stacks by thread and time: perf's frames; our end and frames."""
    output = setting.file("output")
    cpu_seconds([ours, "--stacks", data], setting.errors, output)
    mine = {}
    for header, frames in blocks(output):
        tid, time, end = header.split(" ", 2)
        mine[(tid, int(time))] = (end, frames)
    cpu_seconds(
        ["perf", "script", "-i", data, "--no-inline", "--ns", "-F", "tid,time,ip,dso"],
        setting.errors, output)
    theirs = {}
    for header, frames in blocks(output):
        tid, time = header.replace(":", " ").split()
        theirs[(tid, int(time.replace(".", "")))] = frames
    return theirs, mine


def blocks(path):
    """Paragraphs: the first line, and the others."""
    with open(path, errors="replace") as file:
        for block in file.read().split("\n\n"):
            lines = [line.strip() for line in block.split("\n") if line.strip()]
            if lines:
                yield lines[0], lines[1:]


def agreement_rows(name, theirs, mine):
    """A stack of perf's is complete if it ends where complete ones of ours do: there the tables say
    that there is no caller."""
    common = [key for key in mine if key in theirs]
    complete = [key for key in common if mine[key][0] == "complete"]
    ends = {mine[key][1][-1] for key in complete}
    of_perf = [key for key in common if theirs[key] and theirs[key][-1] in ends]
    frames = same = 0
    for key in of_perf:
        perf, own = theirs[key][::-1], mine[key][1][::-1]
        frames += len(perf)
        same += next((index for index, pair in enumerate(zip(perf, own)) if pair[0] != pair[1]),
                     min(len(perf), len(own)))
    total = max(1, len(common))
    missing, of_perf_missing = (100 * (1 - len(found) / total) for found in (complete, of_perf))
    yield Row(f"{name}: stacks that do not reach the root", [missing], "{:.2f} %",
              [Goal("≤ 1 %", 1, [missing]),
               Goal("≤ perf's", 0, [missing - of_perf_missing])], f"perf {of_perf_missing:.2f} %")
    differing = 100 * (1 - same / max(1, frames))
    yield Row(f"{name}: frames that differ from perf's", [differing], "{:.3f} %",
              [Goal("≤ 0.5 %", 0.5, [differing])], f"where perf completes: {frames:,} frames")


def agreement(setting, ours, data):
    """What UnwindBenchmark --agreement prints, of the first MANY samples: its figures, and the snapshots
    on which the engines do not agree."""
    output = setting.file("output")
    cpu_seconds([ours, "--agreement", data, str(MANY)], setting.errors, output)
    found, examples = {}, []
    with open(output) as file:
        for line in file:
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "example":
                examples.append(debugger.Snapshot(value))
            elif examples:
                examples[-1].read(name, value)
            else:
                found[name] = float(value.split()[0])
    return found, examples, debugger.stacks(examples, setting.folder) if examples else []


def engine_rows(program, found, examples, stacks):
    """The same snapshots by libunwind, and with whom gdb agrees where they do not."""
    name = program.name
    classes = ["the same, complete", "the same, truncated", "libunwind ends earlier",
               "ours ends earlier", "complete, and different", "different before one is truncated"]
    total = max(1, sum(found[kind] for kind in classes))
    others = ", ".join(f"{kind}: {found[kind]:,.0f}" for kind in classes[2:])
    yield Row(f"{name}: libunwind", [found["libunwind, a frame"]], "{:.0f} ns",
              remark=f"the first {total:,.0f} samples")
    yield Row(f"{name}: stacks on which both engines agree",
              [100 * (found[classes[0]] + found[classes[1]]) / total], "{:.2f} %", remark=others)
    for kind in classes[2:]:
        verdicts = Counter(debugger.verdict(example, stack)
                           for example, stack in zip(examples, stacks) if example.kind == kind)
        if verdicts:
            yield Row(f"{name}: {kind}: gdb goes on as ours, of {sum(verdicts.values())}",
                      [verdicts["ours"]], "{:.0f}",
                      remark=", ".join(f"{who}: {count}" for who, count in verdicts.items()))
    complete = found["complete by ours"]
    saved = 100 * found["of those complete without our rules"] / max(1, complete)
    yield Row(f"{name}: complete without our rules, by the second opinion", [saved], "{:.2f} %",
              [Goal("≥ 99 %", 1, [100 - saved])] if program.has_tables else [])
