"""What it costs a program that its initialisers are timed: a thousand of them that do next to
nothing, which the program times as a whole."""

import contenders
from figures import Goal, Row, Section

ROUNDS = 15
COUNT = 1000
MOST_NS = 2000


def initializers(setting):
    section = Section("Initialisers", "what each of a thousand that do next to nothing costs more "
                      "than alone, as the program itself times all of them")
    command = [setting.fixture("constructors")]
    plain, watched = contenders.nothing(), contenders.firstlight(
        setting.firstlight, setting.folder)
    setting.truth(plain, command)
    for _ in range(setting.rounds(ROUNDS)):
        section.raw.append(
            {"alone": setting.truth(plain, command), "recorded": setting.truth(watched, command)})
    # The wall time has the stops for samples in it, which every launch has before main.
    for label, name, most in [("CPU time", "between_cpu", MOST_NS), ("wall time", "between", None)]:
        added = [(figures["recorded"][name] - figures["alone"][name]) / COUNT
                 for figures in section.raw]
        goals = [Goal(f"≤ {most} ns", most, added)] if most else []
        section.rows.append(Row(label, added, "{:.0f} ns", goals))
    return section
