"""What the recorder itself needs while a program runs, and how that grows with the work.

Only the time during which the program works counts; what comes after its end is told in memory.py.
"""

import contenders
from crowd import watch
from figures import Goal, Row, Section, alternated

ROUNDS = 5
SECONDS = 1.2
QUICK_SECONDS = 0.5

# name: threads at work, threads asleep, ticks a second. The program's main thread, which waits, is
# one of those asleep where there are any, and one more where there are none.
FOUR, EIGHT, FASTER = "4 at work, 1 kHz", "8 at work, 1 kHz", "4 at work, 2 kHz"
CROWD, TWICE = "200, 190 asleep, 1 kHz", "400, 380 asleep, 1 kHz"
CASES = {
    FOUR: (4, 0, 1000),
    EIGHT: (8, 0, 1000),
    FASTER: (4, 0, 2000),
    CROWD: (10, 189, 1000),
    TWICE: (20, 379, 1000),
}
# The most that may be used, % of a core.
MOST = {FOUR: 4, CROWD: 15}
# Cases with twice the work of others.
GROWTH = {
    "growth, 8 for 4": (EIGHT, FOUR),
    "growth, 2 kHz for 1": (FASTER, FOUR),
    "growth, 400 for 200": (TWICE, CROWD),
}


def recorder(setting):
    section = Section(
        "Recorder's own CPU time", "% of a core while the program's threads work or sleep")
    makers = [
        lambda hertz: contenders.firstlight(setting.firstlight, setting.folder, hertz),
        lambda hertz: contenders.perf(setting.folder, contenders.DWARF, hertz),
    ]
    jobs, remarks, names = {}, {}, []
    for make in makers:
        found, skipped = setting.usable([make(1000)])
        section.skipped += skipped
        for contender in found:
            names.append(contender.name)
            jobs.update(case_jobs(setting, make, remarks))
    section.raw = alternated(jobs, setting.rounds(ROUNDS)) if jobs else []
    for name in names:
        section.rows += rows(name, section.raw, remarks)
    return section


def case_jobs(setting, make, remarks):
    seconds = QUICK_SECONDS if setting.quick else SECONDS

    def job(contender, case, workers, sleepers):
        def run():
            seen = watch(setting, contender, workers, sleepers, seconds)
            taken = contender.taken()
            remarks[title(contender.name, case)] = str(taken)
            return {**vars(seen), "samples": taken.samples, "served": taken.served}
        return run

    return {
        title(make(hertz).name, case): job(make(hertz), case, workers, sleepers)
        for case, (workers, sleepers, hertz) in CASES.items()
    }


def title(name, case):
    return f"{name}: {case}"


def rows(name, rounds, remarks):
    """A recorder's figures; the goals are firstlight's."""
    ours = name == "firstlight"

    def shares(case, figure):
        return [100 * figure(figures[title(name, case)]) for figures in rounds]

    for case in CASES:
        values = shares(case, measured)
        row = Row(title(name, case), values, "{:.1f} %", remark=remarks[title(name, case)])
        if ours and case in MOST:
            most = MOST[case]
            row.goals = [
                Goal(f"≤ {most} %", most, values),
                Goal(f"≤ {most} % for all ticks", most, shares(case, for_all_ticks)),
            ]
        yield row
    for growth, (twice, once) in GROWTH.items():
        values = [more / less for more, less in
                  zip(shares(twice, for_all_ticks), shares(once, for_all_ticks))]
        goals = [Goal("≤ × 2", 2, values)] if ours else []
        yield Row(title(name, growth), values, "× {:.2f}", goals)


def measured(seen):
    return seen["cpu"]


def for_all_ticks(seen):
    """What the recorder would have needed had it got a core for every tick: one that is starved
    by the program is cheap for the wrong reason. perf's ticks are the kernel's, none is missed."""
    return seen["cpu"] / (seen["served"] or 1)
