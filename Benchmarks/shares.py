"""Whether functions of programs whose threads work in short bursts get the shares of CPU time that
perf gives them: both attach to the same running program in turn.

What the kernel did counts, in the stacks of both, for the program's function that called it. A
function that Python runs stands, in our stacks, where perf has the interpreter's loop: it counts for
that.
"""

import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import servers
from contenders import DWARF, LIMIT_SECONDS, finish, output_of, perf
from figures import Goal, Row, Section, alternated

ROUNDS = 5
SECONDS = 2
QUICK_SECONDS = 1
# Before a recording begins: the load has its full strength by then.
SETTLE_SECONDS = 0.5
# Of each, at most: a load that was left alone ends by itself.
LOAD_SECONDS, REQUESTS = 30, 20_000_000
CLIENTS = 16

OURS, THEIRS, CONTROL = "firstlight", "perf, dwarf", "perf, dwarf, again"
MOST_POINTS = 3
MOST_HELD_PERCENT = 1
# The functions that are shown: with so much of the CPU time, and so many.
LEAST_PERCENT, MOST_FUNCTIONS = 3, 8

# Of perf's frames the kernel's are known by their addresses; ours have none, but a module.
KERNEL, KERNEL_MODULE = 1 << 63, "[kernel]"
FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)$")
# A line of readelf: number, address, size, kind …, name, for some with a version.
SYMBOL = re.compile(
    r"\s*\d+: ([0-9a-f]+)\s+\S+ +I?FUNC .* ([^\s@]+)(?:@\S+)?(?: \(\d+\))?$")
INLINED = " (inlined)"
LOOP = "_PyEval_EvalFrameDefault"
UNNAMED = "without a name"
NO_STACK = ("", "no stack")
NOT_SEEN = ("[no stack", "[not sampled")


def shares(setting):
    section = Section(
        "Shares", "own CPU time of functions, of the program's CPU time, ours less perf's; in "
        "percentage points")
    theirs = perf(setting.folder, DWARF, 999)
    reason = theirs.trouble(setting.errors)
    if reason:
        section.skipped.append((theirs.name, reason))
        return section
    for name, needed, busy in [
        ("redis-server", ["redis-server", "redis-benchmark"], busy_redis),
        ("24 threads of Python", [], busy_python),
        ("nginx", ["nginx", "ab"], busy_nginx),
    ]:
        missing = [program for program in needed if not shutil.which(program)]
        if missing:
            section.skipped.append((name, f"{' and '.join(missing)}: not installed"))
            continue
        rounds = runs(setting, theirs, busy)
        section.raw.append({"program": name, "rounds": [as_json(each) for each in rounds]})
        section.rows += rows(name, rounds)
    return section


def as_json(figures):
    """With names that JSON can have."""
    return {way: {**seen, "functions": {title(key): share for key, share in
                                        seen["functions"].items()}}
            for way, seen in figures.items()}


def runs(setting, theirs, busy):
    with busy(setting) as (pid, load):
        jobs = {
            OURS: lambda: under(load, lambda: ours(setting, pid)),
            THEIRS: lambda: under(load, lambda: perfs(setting, theirs, pid)),
            CONTROL: lambda: under(load, lambda: perfs(setting, theirs, pid)),
        }
        files = alternated(jobs, setting.rounds(ROUNDS))
    # Only now: nothing else shall run beside the programs.
    names = Names(report(setting, files[0][OURS])["modules"])
    return [{way: evaluated(setting, names, way, path) for way, path in figures.items()}
            for figures in files]


# What keeps a program busy.

@contextmanager
def running(setting, command, **streams):
    """A process that is ended with us."""
    with open(setting.errors, "w") as errors:
        process = subprocess.Popen(
            command, stderr=errors, **{"stdout": subprocess.DEVNULL, **streams})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(LIMIT_SECONDS)
        finally:
            process.kill()


def under(load, measure):
    """While the load lasts, which is begun for it."""
    if load is None:
        return measure()
    with load() as process:
        time.sleep(SETTLE_SECONDS)
        found = measure()
        if process.poll() is not None:
            raise SystemExit(f"bench: {process.args[0]}: ended before the recording")
        return found


@contextmanager
def busy_redis(setting):
    socket = servers.redis_socket(setting.folder)
    command = ["redis-benchmark", "-s", socket, "-t", "get", "-c", str(CLIENTS), "-q",
               "-n", str(REQUESTS)]
    with running(setting, servers.redis(setting.folder)) as server:
        await_true(lambda: os.path.exists(socket), server)
        yield server.pid, lambda: running(setting, command)


@contextmanager
def busy_nginx(setting):
    """One process, which answers itself; what it hands out is a small file."""
    with open(setting.file("page"), "w") as file:
        file.write("x" * 4096)
    more = "master_process off;"
    address = f"http://127.0.0.1:{servers.PORT}/page"
    command = ["ab", "-q", "-k", "-c", str(CLIENTS), "-t", str(LOAD_SECONDS), "-n",
               str(REQUESTS), address]
    with running(setting, servers.nginx(setting.folder, more)) as server:
        await_true(lambda: os.path.exists(setting.file("nginx.pid")), server)
        yield server.pid, lambda: running(setting, command)


@contextmanager
def busy_python(setting):
    """It is its own load."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bursts.py")
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running(setting, [sys.executable, script], **streams) as process:
        with process.stdin, process.stdout:
            if process.stdout.readline() != b"ready\n":
                raise SystemExit(f"bench: {script}: did not get ready")
            time.sleep(SETTLE_SECONDS)
            yield process.pid, None


def await_true(is_ready, process):
    limit = time.monotonic() + LIMIT_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > limit:
            raise SystemExit(f"bench: {process.args[0]}: did not get ready")
        time.sleep(0.01)


# What the profilers say of it.

def seconds(setting):
    return QUICK_SECONDS if setting.quick else SECONDS


def ours(setting, pid):
    path = fresh(setting, "firstlight")
    recorded(setting, [setting.firstlight, "attach", "--quiet", "--duration",
                       f"{seconds(setting)}s", "-o", path, str(pid)])
    return path


def perfs(setting, theirs, pid):
    path = fresh(setting, "perf.data")
    words = theirs.prefix[:theirs.prefix.index("-o")]
    recorded(setting, words + ["-o", path, "-p", str(pid), "--", "sleep", str(seconds(setting))])
    return path


def fresh(setting, name):
    """A file of its own for each recording, as they are read when all are made."""
    count = len(os.listdir(setting.folder))
    return setting.file(f"shares-{count}.{name}")


def recorded(setting, command):
    errors = setting.file("recorder-stderr")
    with open(errors, "w") as complaints:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=complaints)
    finish(process, " ".join(command[:2]), errors)


def evaluated(setting, names, way, path):
    """The functions' shares in percent, and how much there was; of ours, how long threads were
    held."""
    if way == OURS:
        text = output_of([setting.firstlight, "export", "--format", "perf-script", "--weight",
                          "cpu", "--demangle", "none", path])
    else:
        text = output_of(["perf", "script", "-i", path, "--no-inline", "--no-demangle", "-F",
                          "comm,tid,time,period,event,ip,sym,dso"])
    own = Counter()
    for period, key in innermost(text, names.ours if way == OURS else names.known):
        own[key] += period
    total = sum(own.values())
    if not total:
        raise SystemExit(f"bench: {way}: saw nothing of a busy program")
    seen = {"cpuMs": total / 1e6,
            "functions": {key: 100 * period / total for key, period in own.items()}}
    if way == OURS:
        seen.update(held(setting, path))
    os.unlink(path)
    return seen


def innermost(text, known):
    """For each stack its weight in nanoseconds and the innermost function of the program's own
    that was not inlined, as the module's name and its own. Lines of a stack are indented."""
    for block in text.split("\n\n"):
        head, *frames = block.strip("\n").split("\n")
        found = re.search(r"(\d+) cpu-clock", head)
        if found:
            yield int(found[1]), function(frames, known)


def function(frames, known):
    for line in frames:
        frame = FRAME.match(line)
        # Inlined copies belong to the function behind them.
        if not frame or line.endswith(INLINED):
            continue
        if int(frame[1], 16) >= KERNEL or frame[3] == KERNEL_MODULE:
            continue
        if not frame[2].startswith(NOT_SEEN):
            return known(frame[2], frame[3])
    return NO_STACK


class Names:
    """One name for each function: where symbol tables have several for an address, profilers
    differ in which they take. `modules` are those of our report."""

    def __init__(self, modules):
        self.usual = {}
        self.modules = set()
        # What runs the functions that lie in no module.
        self.loop = None
        for module in modules:
            base = os.path.basename(module["path"])
            self.modules.add(base)
            for path in {module["path"], module["debugInfoFile"]}:
                if path and os.path.exists(path):
                    self.learn(base, path)

    def learn(self, base, path):
        done = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                              errors="replace")
        aliases = {}
        for line in done.stdout.splitlines():
            found = SYMBOL.match(line)
            if found:
                aliases.setdefault(found[1], set()).add(found[2])
        for names in aliases.values():
            # `read` rather than `__GI___libc_read`.
            usual = min(names, key=lambda name: (len(name), name))
            for name in names:
                self.usual.setdefault((base, name), usual)
            if LOOP in names:
                self.loop = base, usual

    def known(self, name, module):
        base = os.path.basename(module)
        if name == "[unknown]" or name.startswith(base + "+0x"):
            return base, UNNAMED
        name = name.split("@")[0]
        return base, self.usual.get((base, name), name)

    def ours(self, name, module):
        """The same in our stacks, where functions that Python runs stand for what runs them."""
        base = os.path.basename(module)
        if self.loop and base not in self.modules and not base.startswith("["):
            return self.loop
        return self.known(name, module)


def held(setting, path):
    """How long threads were held, and how long they had something to do, in ms."""
    with sqlite3.connect(path) as database:
        times, = database.execute("SELECT held_ns FROM header").fetchone()
    busy = sum(thread[f"{state}Ns"] for thread in report(setting, path)["threads"]
               for state in ("running", "runnable", "preempted"))
    return {"heldMs": times / 1e6, "busyMs": busy / 1e6}


def report(setting, path):
    return json.loads(output_of([setting.firstlight, "report", "--format", "json", path]))


# The table.

def rows(name, rounds):
    for key in top(rounds):
        mine, theirs, control = (
            [figures[way]["functions"].get(key, 0) for figures in rounds]
            for way in (OURS, THEIRS, CONTROL))
        off = [one - other for one, other in zip(mine, theirs)]
        noise = max(abs(one - other) for one, other in zip(theirs, control))
        worst = max(map(abs, off))
        yield Row(f"{name}: {title(key)}", off, "{:+.1f}",
                  [Goal(f"≤ {MOST_POINTS} in each pair", MOST_POINTS, [worst])],
                  f"{statistics.median(mine):.1f} %, perf {statistics.median(theirs):.1f} %; at "
                  f"most {worst:.1f}, perf from itself {noise:.1f}")
    yield held_row(name, rounds)


def title(key):
    module, function = key
    return f"{function} ({module})" if module else function


def top(rounds):
    """Those with most of the CPU time, by whichever of the profilers gives them more."""
    most = Counter()
    for way in (OURS, THEIRS):
        sums = Counter()
        for figures in rounds:
            sums.update(figures[way]["functions"])
        for key, share in sums.items():
            most[key] = max(most[key], share / len(rounds))
    return [key for key, share in most.most_common(MOST_FUNCTIONS) if share >= LEAST_PERCENT]


def held_row(name, rounds):
    mine = [figures[OURS] for figures in rounds]
    values = [100 * seen["heldMs"] / seen["busyMs"] for seen in mine]

    def median(key, way=OURS):
        return statistics.median(figures[way][key] for figures in rounds)

    return Row(f"{name}: threads held, of the time they had something to do", values, "{:.2f} %",
               [Goal(f"≤ {MOST_HELD_PERCENT} %", MOST_HELD_PERCENT, values)],
               f"{median('heldMs'):.1f} of {median('busyMs'):.0f} ms; CPU {median('cpuMs'):.0f} "
               f"ms, perf's {median('cpuMs', THEIRS):.0f}")
