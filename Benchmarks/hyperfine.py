"""The median of 20 launches by `measure` beside hyperfine's (`-N`: without a shell), of the same
programs in the same rounds.

Their clocks do not cover the same. hyperfine's runs from before the fork until it has waited for the
program. That of `measure` begins when the child, which is there already, is told to execute the
program, and ends when it has seen the child's end; what measuring took meanwhile is left out. So
the two are compared as they are, and once more from the exec on: hyperfine's figure less the time
from fork to exec, as the kernel's tracepoints tell of the same launches, and ours less the phase
*Process creation*.
"""

import json
import shlex
import shutil
import statistics

from contenders import Contender
from disturbance import differences, percentages, towards_more
from figures import Goal, Row, Section, alternated
from lifetimes import SPAWN, Lifetimes, trouble
from measure import counted, from_exec, measurement, measuring, programs

ROUNDS = 9
LAUNCHES = 20
THEIRS, AGAIN, OURS = "hyperfine", "hyperfine, again (the noise)", "measure"
# They may differ by so much, whichever is more.
MOST_MS, MOST_PERCENT = 0.2, 2


def hyperfine(setting):
    section = Section(
        "Beside hyperfine -N", f"medians of {setting.launches(LAUNCHES)} launches in the same "
        "rounds; hyperfine's clock covers fork, exec and wait, ours exec and wait")
    if not shutil.which("hyperfine"):
        section.skipped.append(("all", "hyperfine is not installed (package hyperfine)"))
        return section
    reason = trouble()
    if reason:
        section.skipped.append(("from exec", reason))
    for program in programs(setting.folder):
        if program.missing:
            section.skipped.append((program.name, program.missing))
            continue
        rounds = runs(setting, program, forks_told=reason is None)
        section.raw.append({"program": program.name, "rounds": rounds})
        section.rows += rows(program, rounds)
    return section


def runs(setting, program, forks_told):
    """For each round and way the median `whole` launch, ms; where forks are told, also `from exec`
    and what came before that, `creation`."""
    count = setting.launches(LAUNCHES)

    def theirs():
        path = setting.file("hyperfine.json")
        way = Contender(THEIRS, [
            "hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", str(count),
            "--export-json", path])
        if not forks_told:
            way.run([words(program)], setting.errors)
            return medians(times(path), None)
        # Only here: all forks of the machine are told meanwhile.
        with Lifetimes(SPAWN) as lifetimes:
            way.run([words(program)], setting.errors)
            lives = lifetimes.lives(program.words[0])[-count:]
        if len(lives) != count or any(life is None or life.spawning is None for life in lives):
            raise SystemExit(f"bench: hyperfine: {program.name}: not seen by the kernel")
        return medians(times(path), [life.spawning / 1e6 for life in lives])

    def ours():
        way = measuring(setting, count)
        way.run(program.words, setting.errors)
        launches = counted(measurement(setting, way.output))
        whole = [launch["wallNs"] / 1e6 for launch in launches]
        return medians(whole, differences(whole, map(from_exec, launches)))

    return alternated({THEIRS: theirs, OURS: ours, AGAIN: theirs}, setting.rounds(ROUNDS))


def words(program):
    """As one word, which hyperfine splits as a shell would."""
    return shlex.join(program.words)


def times(path):
    """Of each launch, in ms, in their order."""
    with open(path) as file:
        return [seconds * 1000 for seconds in json.load(file)["results"][0]["times"]]


def medians(whole, creation):
    figures = {"whole": statistics.median(whole)}
    if creation is not None:
        figures["creation"] = statistics.median(creation)
        figures["from exec"] = statistics.median(differences(whole, creation))
    return figures


def rows(program, rounds):
    def values(way, key="whole"):
        return [figures[way][key] for figures in rounds]

    yield Row(f"{program.name}: {THEIRS}", values(THEIRS), "{:.2f} ms",
              remark="fork to wait")
    noise = differences(values(AGAIN), values(THEIRS))
    share = statistics.median(percentages(values(AGAIN), values(THEIRS)))
    yield Row(f"{program.name}: {AGAIN}", noise, "{:+.2f} ms", remark=f"{share:+.1f} %")
    yield difference(f"{program.name}: measure, less hyperfine", values(OURS), values(THEIRS))
    if "from exec" in rounds[0][THEIRS]:
        before = [statistics.median(values(way, "creation")) for way in (THEIRS, OURS)]
        yield difference(
            f"{program.name}: the same, from exec", values(OURS, "from exec"),
            values(THEIRS, "from exec"),
            "; before it {:.2f} ms of hyperfine's, {:.2f} ms of ours".format(*before))


def difference(label, ours, theirs, remark=""):
    off = differences(ours, theirs)
    limit = max(MOST_MS, MOST_PERCENT / 100 * statistics.median(theirs))
    share = statistics.median(percentages(ours, theirs))
    return Row(label, off, "{:+.2f} ms", [Goal(f"± {limit:.2f} ms", limit, towards_more(off))],
               f"{share:+.1f} %{remark}")
