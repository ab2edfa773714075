"""What a signpost costs the program that says it, while nobody records and while somebody does.

The program times its own calls and empties its ring itself: neither a recorder's work nor the
machine's other business counts.
"""

import contenders
from figures import Goal, Row, Section

ROUNDS = 9
CALLS = 2_000_000
QUICK_CALLS = 200_000
MOST_UNRECORDED_NS = 5
MOST_RECORDED_NS = 200
PICOSECONDS = 1000

# The fixture's figures: name, what it is, and the goal.
LINES = [
    ("empty", "a function that does nothing", None),
    ("unrecorded", "event, not recorded", MOST_UNRECORDED_NS),
    ("usdt", "USDT probe (sys/sdt.h), not used", None),
    ("lttng", "LTTng-UST tracef, not recorded", None),
    ("event", "event, recorded", MOST_RECORDED_NS),
    ("interval", "begin and end, recorded", 2 * MOST_RECORDED_NS),
    ("two_threads", "event, recorded, two threads at once", MOST_RECORDED_NS),
    ("full", "event that finds no room", MOST_RECORDED_NS),
]


def signposts(setting):
    section = Section("Signposts", "CPU time of a call, taken by the program itself")
    calls = QUICK_CALLS if setting.quick else CALLS
    command = [setting.fixture("pricing"), str(calls)]
    plain = contenders.nothing()
    # Thrown away: it brings the program's file and the cores up to temperature.
    setting.truth(plain, command)
    for _ in range(setting.rounds(ROUNDS)):
        section.raw.append(setting.truth(plain, command))
    for name, label, most in LINES:
        values = [figures[name] / PICOSECONDS for figures in section.raw if name in figures]
        if not values:
            section.skipped.append((label, "its header was not there when the fixtures were built"))
            continue
        goals = [Goal(f"≤ {most} ns", most, values)] if most else []
        section.rows.append(Row(label, values, "{:.1f} ns", goals))
    return section
