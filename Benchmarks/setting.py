"""What every part of the benchmark is given: the programs, a folder to write to, how thorough to
be."""

import os
import resource
import subprocess
from dataclasses import dataclass
from functools import cached_property

import contenders

# Enough that a run's own noise stays below a part in a thousand of it.
WORK_SECONDS = 1.2
QUICK_WORK_SECONDS = 0.3
QUICK_ROUNDS = 2
QUICK_LAUNCHES = 3
# Work that finds out the machine's speed: under a second on any that is built today.
CALIBRATION_ROUNDS = 100_000_000

# What is run of Tests/Fixtures.
FIXTURES = ["spin", "threads", "stamp", "crowd", "pricing", "constructors", "virtuals",
            "inflight", "handlers"]


@dataclass
class Setting:
    firstlight: str
    fixtures: str
    folder: str
    quick: bool

    def fixture(self, name):
        return os.path.join(self.fixtures, name)

    def check(self):
        """Ends the benchmark if one of the programs is not there."""
        for program in [self.firstlight] + [self.fixture(name) for name in FIXTURES]:
            if not os.access(program, os.X_OK):
                raise SystemExit(f"bench: {program}: no such program; `make bench` builds it")

    def file(self, name):
        return os.path.join(self.folder, name)

    @property
    def errors(self):
        """Where programs write what they have to complain of."""
        return self.file("stderr")

    def rounds(self, full):
        return QUICK_ROUNDS if self.quick else full

    def launches(self, full):
        """How many a median is of."""
        return min(full, QUICK_LAUNCHES) if self.quick else full

    @property
    def work_seconds(self):
        return QUICK_WORK_SECONDS if self.quick else WORK_SECONDS

    def truth(self, contender, command):
        """Runs a fixture to its end: its own measures, nanoseconds by name."""
        path = self.file("truth")
        if os.path.exists(path):
            os.unlink(path)
        contender.run(command, self.errors, {"FIRSTLIGHT_TRUTH": path})
        with open(path) as file:
            return {name: int(value) for name, value in map(str.split, file)}

    @cached_property
    def rounds_per_second(self):
        """How many rounds of the fixtures' work one core does in a second."""
        command = [self.fixture("spin"), str(CALIBRATION_ROUNDS), str(CALIBRATION_ROUNDS // 10)]
        return CALIBRATION_ROUNDS * 1e9 / self.truth(contenders.nothing(), command)["spin_wall"]

    def usable(self, candidates):
        """Those that work here, and (name, reason) of the others."""
        found, skipped = [], []
        for candidate in candidates:
            trouble = candidate.trouble(self.errors)
            if trouble is None:
                found.append(candidate)
            else:
                skipped.append((candidate.name, trouble))
        return found, skipped


def cpu_seconds(command, errors, output):
    """Runs a program to its end: the CPU time that it took, its children's included. What it says
    goes to the files `errors` and `output`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(errors, "w") as complaints, open(output, "w") as printed:
        status = subprocess.call(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=complaints)
    if status != 0:
        with open(errors, errors="replace") as complaints:
            raise SystemExit(f"bench: {command}: status {status}: {complaints.read()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
