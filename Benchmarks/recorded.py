"""How often a gate would cry wolf on launches that were really made, and how often pyperf does on the
same ones.

Each program is launched many times by `measure`; once more while a load comes and goes. Pieces of
these series are taken for launches of two programs: there is no difference, whatever is told. The
gate (Benchmarks/GateBenchmark) decides on pieces whose launches took turns, as it launches; and on
others where one program was launched after the other. `pyperf compare_to` has the latter, too: this
is how its users launch, and it knows no other way.
"""

import json
import os
import random
import statistics
import subprocess
import sys

from figures import Goal, Row, Section
from gates import Load, Nothing, programs

ROUNDS, QUICK_ROUNDS = 100_000, 200
THEIR_ROUNDS, QUICK_THEIR_ROUNDS = 200, 5
# Of each program: as many as some minutes allow.
SECONDS, QUICK_SECONDS = 120, 2
# What the gate needs is 160: two programs, a last look of 40 pairs, and as many to confirm it.
FEWEST, MOST = 240, 4_000
# Of each program, for pyperf: what `pyperf command` takes by default is 20 processes of 3 values;
# a launch is one value, so they are given as many as the gate's last look.
THEIR_LAUNCHES = 40
PYPERF = "pyperf==2.10.0"


def recorded(setting):
    section = Section(
        "Gates on recorded launches", "told of one program against itself, of all pieces of its "
        "launches: in turns, one after the other, and by pyperf compare_to")
    series = {}
    for command in programs(setting):
        for is_loaded in (False, True):
            name = os.path.basename(command[0]) + (", loaded" if is_loaded else "")
            series[name] = launches(setting, command, is_loaded)
    told = {name: asked(setting, walls) for name, walls in series.items()}
    section.raw += [{"walls": series}, {"told": told}]
    rounds = sum(answer["rounds"] for answer in told.values())
    wrong = sum(answer["turns"]["regression"] for answer in told.values())
    section.rows.append(Row(
        "all: in turns: a regression is told", [100 * wrong / rounds], "{:.3f} %",
        [Goal("≤ 0.1 %", 0.1, [100 * wrong / rounds])], f"{wrong:,} of {rounds:,}"))
    for name, walls in series.items():
        section.rows += rows(name, walls, told[name])
    theirs(setting, section, series)
    return section


def launches(setting, command, is_loaded):
    """The wall times of a program's launches in their order, in nanoseconds."""
    [first] = measured(setting, command, 1)[:1]
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    count = max(FEWEST, min(MOST, round(seconds * 1e9 / first)))
    with Load(random.Random(1)) if is_loaded else Nothing():
        return measured(setting, command, count)


def measured(setting, command, count):
    output = subprocess.run(
        [setting.firstlight, "measure", "-n", str(count), "--format", "json", "--"] + command,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        check=True).stdout
    return [launch["wallNs"] for launch in json.loads(output)["launches"]
            if launch["discarded"] is None]


def asked(setting, walls):
    tool = os.path.join(os.path.dirname(setting.firstlight), "GateBenchmark")
    output = subprocess.run(
        [tool, str(QUICK_ROUNDS if setting.quick else ROUNDS)],
        input="\n".join(map(str, walls)), text=True, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(output)


def rows(name, walls, answer):
    spread = statistics.stdev(walls) / statistics.mean(walls)
    remark = f"{len(walls):,} launches, {statistics.median(walls) / 1e6:.1f} ms, CV {spread:.0%}"
    for way, text in (("turns", "in turns"), ("blocks", "one after the other")):
        for outcome in ("regression", "inconclusive"):
            yield Row(f"{name}: {text}: {outcome}",
                      [100 * answer[way][outcome] / answer["rounds"]], "{:.3f} %", [], remark)


def theirs(setting, section, series):
    folder = os.environ.get("PYPERF_VENV") or setting.file("pyperf-venv")
    python = os.path.join(folder, "bin", "python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "-q", PYPERF], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        section.skipped.append(("pyperf", str(error)))
        return
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded_pyperf.py")
    for name, walls in series.items():
        output = subprocess.run(
            [python, script, str(THEIR_LAUNCHES),
             str(QUICK_THEIR_ROUNDS if setting.quick else THEIR_ROUNDS)],
            input=json.dumps(walls), text=True, stdout=subprocess.PIPE, check=True).stdout
        found = json.loads(output)
        section.raw.append({"pyperf": name, "found": found})
        for word in ("slower", "faster"):
            section.rows.append(Row(
                f"{name}: pyperf compare_to: {word}",
                [100 * found[word] / found["rounds"]], "{:.1f} %", [],
                f"{found[word]} of {found['rounds']}"))
