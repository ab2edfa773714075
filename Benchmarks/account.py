"""What the scheduler's own account costs the recorder: its CPU time and its file, with and without
(`--switches off`)."""

import os

import contenders
from crowd import watch
from figures import Goal, Row, Section, alternated

ROUNDS = 5
SECONDS = 1.2
QUICK_SECONDS = 0.5
MOST = 1.2

# Threads at work and asleep.
CASES = {"4 at work": (4, 0), "10 at work, 189 asleep": (10, 189)}


def account(setting):
    section = Section("Scheduler's account", "with it, as multiples of the same without: the "
                      "recorder's CPU time for each tick that it served, and its file")
    seconds = QUICK_SECONDS if setting.quick else SECONDS

    def job(switches, workers, sleepers):
        def run():
            contender = contenders.firstlight(setting.firstlight, setting.folder)
            contender.prefix[-1:-1] = ["--switches", switches]
            seen = watch(setting, contender, workers, sleepers, seconds)
            served = contender.taken().served or 1
            return {"cpu": seen.cpu / served, "size": os.path.getsize(contender.output)}
        return run

    section.raw = alternated(
        {f"{case}, {switches}": job(switches, *threads)
         for case, threads in CASES.items() for switches in ("on", "off")},
        setting.rounds(ROUNDS))
    for case in CASES:
        for label, figure in [("CPU", "cpu"), ("file", "size")]:
            values = [round_[f"{case}, on"][figure] / round_[f"{case}, off"][figure]
                      for round_ in section.raw]
            section.rows.append(Row(f"{case}: {label}", values, "× {:.2f}",
                                    [Goal(f"≤ × {MOST}", MOST, values)]))
    return section
