"""The profilers that are compared: how each is started, and what it took."""

import ctypes.util
import json
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from typing import Callable, Optional

# What makes `record` use the capture that has to meet the goals. Empty as soon as that is what it
# does by itself.
DEFAULT_CAPTURE = []

# No single run takes nearly so long: a program that hangs is an error, not a figure.
LIMIT_SECONDS = 120


@dataclass(frozen=True)
class Taken:
    """What a profiler brought home: a profiler that sees nothing costs nothing. `served` is the
    share of the ticks that it was asked for, where it tells."""

    samples: int
    served: Optional[float] = None
    remark: str = ""

    def __str__(self):
        served = "" if self.served is None else f"{100 * self.served:.0f} % of ticks"
        parts = [f"{self.samples:,} samples", served, self.remark]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Contender:
    """A way to run a program: the words before its command and what is added to its environment.

    `inspect` makes a Taken of the file `output`. `missing` says what is not installed, if so.
    """

    name: str
    prefix: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    output: str = ""
    inspect: Optional[Callable] = None
    missing: str = ""

    def start(self, command, errors, environment=None, **streams):
        """The started process; what it says goes to the file `errors`."""
        if self.output and os.path.exists(self.output):
            os.unlink(self.output)
        everything = dict(os.environ, **self.environment, **(environment or {}))
        with open(errors, "w") as file:
            try:
                return subprocess.Popen(
                    self.prefix + command, env=everything, stderr=file, **streams)
            except OSError as error:
                raise SystemExit(f"bench: {self.prefix + command}: {error.strerror}")

    def run(self, command, errors, environment=None):
        """Runs a program to its end."""
        process = self.start(
            command, errors, environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        finish(process, f"{self.name}: {' '.join(command)}", errors)

    def taken(self):
        """What the last run brought; None for no profiler."""
        return self.inspect(self.output) if self.inspect else None

    def trouble(self, errors):
        """Why it cannot be used here; None if it can."""
        if self.missing:
            return self.missing
        try:
            self.run(["true"], errors)
            self.taken()
        except (SystemExit, OSError, ValueError) as error:
            return str(error).removeprefix("bench: ")
        return None


def finish(process, title, errors):
    """Waits for the end of a run; one that fails ends the benchmark with what it said last."""
    try:
        status = process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        # Profilers pass this on; a program whose profiler is killed may live on.
        process.terminate()
        raise SystemExit(f"bench: {title}: no end after {LIMIT_SECONDS} s")
    if status != 0:
        with open(errors, errors="replace") as file:
            said = file.read().strip().splitlines() or ["said nothing"]
        raise SystemExit(f"bench: {title}: status {status}: {said[-1]}")


def nothing(name="no profiler"):
    return Contender(name)


def firstlight(binary, folder, hertz=1000, capture=None):
    """With the capture named, or the one that has to meet the goals."""
    path = os.path.join(folder, "bench.firstlight")
    options = DEFAULT_CAPTURE if capture is None else ["--capture", capture]
    return Contender(
        "firstlight" if capture is None else f"firstlight, {capture}",
        [binary, "record", "--quiet", "-F", str(hertz), *options, "-o", path, "--"],
        output=path, inspect=lambda path: firstlight_took(binary, path))


def firstlight_took(binary, path):
    report = output_of([binary, "report", "--format", "json", path])
    launch = json.loads(report)["launch"]
    wanted = launch["wallNs"] / 1e9 * launch["frequencyHz"]
    lost = f", {launch['lostSamples']} lost" if launch["lostSamples"] else ""
    return Taken(
        launch["slices"], min(1, launch["ticks"] / wanted), f"{launch['capture']} capture{lost}")


FRAME_POINTERS = "fp"
# With so many bytes of each stack.
DWARF = "dwarf,8192"
# None: what the kernel's timer takes by itself, below which nothing goes that uses it.
NO_STACKS = "none"
PERF_NAMES = {
    FRAME_POINTERS: "perf, frame pointers", DWARF: "perf, dwarf", NO_STACKS: "perf, no stacks"}
PERF_DWARF = PERF_NAMES[DWARF]


def perf(folder, graph, hertz=1000):
    """`graph` is how perf takes stacks: FRAME_POINTERS, DWARF or NO_STACKS."""
    path = os.path.join(folder, "perf.data")
    stacks = [] if graph == NO_STACKS else ["--call-graph", graph]
    # Virtual machines have no hardware counters: the kernel's timer is what perf has there.
    # --no-bpf-event: perf would else wait, at its end, for a second for a thread that idles here.
    return Contender(
        PERF_NAMES[graph],
        ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", str(hertz)]
        + stacks + ["-o", path, "--"],
        output=path, inspect=perf_took,
        missing="" if shutil.which("perf") else "perf is not installed (package linux-perf)")


def perf_took(path):
    statistics = output_of(["perf", "report", "--stats", "-i", path])
    # The totals come first, then the same for each event.
    samples = re.search(r"\bSAMPLE events:\s+(\d+)", statistics)
    lost = re.search(r"\bLOST(_SAMPLES)? events:", statistics)
    return Taken(int(samples.group(1)) if samples else 0, remark="some lost" if lost else "")


def gperftools(folder, hertz=1000):
    """Its CPU profiler, started by the library itself. One timer of real time for the process."""
    path = os.path.join(folder, "gperftools.prof")
    library = ctypes.util.find_library("profiler")
    if library is None:
        return Contender(
            "gperftools", missing="libprofiler is not installed (package google-perftools)")
    environment = {
        "LD_PRELOAD": library, "CPUPROFILE": path, "CPUPROFILE_FREQUENCY": str(hertz),
        "CPUPROFILE_REALTIME": "1",
    }
    return Contender(
        "gperftools", environment=environment, output=path, inspect=gperftools_took)


def gperftools_took(path):
    """Its file is words: a header that says how long it is, then for each stack its count, its
    depth and its addresses, until a count of 0."""
    with open(path, "rb") as file:
        content = file.read()
    words = struct.unpack(f"={len(content) // 8}Q", content[:len(content) // 8 * 8])
    if len(words) < 2:
        raise ValueError(f"{path}: not a profile of gperftools")
    samples, index = 0, 2 + words[1]
    while index + 1 < len(words) and words[index] > 0:
        samples += words[index]
        index += 2 + words[index + 1]
    return Taken(samples)


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["said nothing"]
        raise SystemExit(f"bench: {command}: status {done.returncode}: {said[-1]}")
    return done.stdout
