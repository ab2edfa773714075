"""How much longer something takes under each profiler than under none."""

from contenders import PERF_DWARF, nothing
from figures import Goal, Row, alternated, ratios

PLAIN = "no profiler"
# The same thing measured twice: what it differs by is the least that this machine can tell.
CONTROL = "no profiler, again (the noise)"


def compare(setting, section, candidates, measure, rounds, goals=lambda name, slowdown: []):
    """Fills a section. `measure` gives the time under a contender, `goals` what its slowdown has
    to meet."""
    found, section.skipped = setting.usable(candidates)
    remarks = {PLAIN: "", CONTROL: ""}

    def job(contender):
        def run():
            elapsed = measure(contender)
            if contender.name not in remarks:
                remarks[contender.name] = str(contender.taken())
            return elapsed
        return run

    # Thrown away: it brings the program's files and the cores up to temperature.
    measure(nothing(PLAIN))
    control = nothing(CONTROL)
    # As far from its like as the others are, lest it see less of the machine's drift than they do.
    half = len(found) // 2
    order = [nothing(PLAIN)] + found[:half] + [control] + found[half:]
    section.raw = alternated({each.name: job(each) for each in order}, setting.rounds(rounds))
    dwarf_ran = any(each.name == PERF_DWARF for each in found)
    for contender in [control] + found:
        name = contender.name
        slowdown = percent_more(section.raw, name, PLAIN)
        own = goals(name, slowdown)
        if name == "firstlight":
            more = percent_more(section.raw, name, PERF_DWARF) if dwarf_ran else []
            own.append(Goal("≤ perf dwarf", 0, more))
        section.rows.append(Row(name, slowdown, "{:+.2f} %", own, remarks[name]))
    return section


def percent_more(rounds, name, to):
    return [100 * (ratio - 1) for ratio in ratios(rounds, name, to)]
