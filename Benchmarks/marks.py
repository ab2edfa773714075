"""What a hit of a mark costs the program that comes by it.

The program takes its own CPU time; what its calls cost unmarked is taken off, round by round.
"""

import contenders
from figures import Goal, Row, Section

ROUNDS = 9
CALLS = 1_000_000
QUICK_CALLS = 100_000
MOST_NS = 5000
PICOSECONDS = 1000


def marked(setting, place):
    path = setting.file("marks.firstlight")
    return contenders.Contender(
        place,
        [setting.firstlight, "record", "--quiet", "-o", path, "--mark", place, "--"], output=path)


def marks(setting):
    section = Section("Marks", "CPU time of a function's call, taken by the program itself")
    calls = QUICK_CALLS if setting.quick else CALLS
    command = [setting.fixture("marked"), "price", str(calls)]
    plain = contenders.nothing()
    setting.truth(plain, command)
    for _ in range(setting.rounds(ROUNDS)):
        section.raw.append({
            "plain": setting.truth(plain, command)["call"],
            "entry": setting.truth(marked(setting, "hit=hit"), command)["call"],
            "span": setting.truth(marked(setting, "hit=hit.."), command)["call"],
        })
    lines = [("plain", "not marked", 0), ("entry", "its entry", 1), ("span", "both of its ends", 2)]
    for name, label, hits in lines:
        base = "plain" if hits else None
        values = [(figures[name] - figures.get(base, 0)) / PICOSECONDS for figures in section.raw]
        goals = [Goal(f"≤ {hits * MOST_NS} ns", hits * MOST_NS, values)] if hits else []
        section.rows.append(Row(label, values, "{:.0f} ns", goals))
    return section
