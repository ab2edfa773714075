"""What a profiler costs one thread that only computes.

The program itself measures its work, after warming up: neither its start nor anything that a
profiler does before or after counts.
"""

from comparison import compare
from contenders import DWARF, FRAME_POINTERS, NO_STACKS, firstlight, gperftools, perf
from figures import Goal, Section

ROUNDS = 9
ROUNDS_AT_10_KHZ = 5
# Before the work that counts: caches, branch predictors and clock speed settle in a few ms.
WARM_UP_SHARE = 0.1


def at_1_khz(setting):
    candidates = [
        firstlight(setting.firstlight, setting.folder),
        firstlight(setting.firstlight, setting.folder, capture="ptrace"),
        perf(setting.folder, FRAME_POINTERS),
        perf(setting.folder, DWARF),
        perf(setting.folder, NO_STACKS),
        gperftools(setting.folder),
    ]
    return slowdown(setting, "1 kHz", candidates, ROUNDS, most=1.0)


def at_10_khz(setting):
    candidates = [
        firstlight(setting.firstlight, setting.folder, 10_000),
        perf(setting.folder, FRAME_POINTERS, 10_000),
        perf(setting.folder, DWARF, 10_000),
        perf(setting.folder, NO_STACKS, 10_000),
    ]
    return slowdown(setting, "10 kHz", candidates, ROUNDS_AT_10_KHZ, most=8)


def slowdown(setting, rate, candidates, rounds, most):
    work = int(setting.rounds_per_second * setting.work_seconds)
    command = [setting.fixture("spin"), str(work), str(int(work * WARM_UP_SHARE))]
    section = Section(
        f"Slowdown of one CPU-bound thread, {rate}",
        "wall time of its work, against no profiler")

    def measure(contender):
        return setting.truth(contender, command)["spin_wall"]

    def goals(name, values):
        return [Goal(f"≤ {most} %", most, values)] if name == "firstlight" else []

    return compare(setting, section, candidates, measure, rounds, goals)
