"""Gates of a program against itself, and against one that is a tenth slower in one phase.

A gate that tells a regression of the same program cries wolf. In a sixth of these a load comes and
goes: another program computes for some tenths of a second, again and again. What is planted is
computing by the clock, in one phase at a time.
"""

import json
import os
import random
import subprocess
import threading

from figures import Goal, Row, Section
from summary import python

SAME, PLANTED, QUICK_SAME, QUICK_PLANTED = 300, 40, 6, 3
LOADED = 6
# Microseconds in the phases of `phased`, and what a tenth of the launch is on top of one of them.
PHASES = ["Dynamic linking", "Static initialisers", "Main"]
USUAL = [20_000, 20_000, 20_000]
PLANT = 6_300


def gates(setting):
    same = QUICK_SAME if setting.quick else SAME
    planted = QUICK_PLANTED if setting.quick else PLANTED
    section = Section("Gates", f"{same} of a program against itself, {planted} of one that is slower")
    chance = random.Random(1)
    answers = []
    for number in range(same):
        program = programs(setting)[number % 2]
        answers.append(asked(setting, program, program, number % LOADED == 0, chance))
    told = [100.0 * (answer["status"] == 1) for answer in answers]
    open_ = [100.0 * (answer["status"] == 3) for answer in answers]
    found = [planted_gate(setting, number % len(PHASES)) for number in range(planted)]
    seen = [100.0 * (answer["status"] == 1) for answer in found]
    right = [100.0 * answer["right"] for answer in found if answer["status"] == 1]
    section.raw += [{"same": answers}, {"planted": found}]
    section.rows += [
        share("the same program: a regression is told", told, at_most=1),
        share("the same program: inconclusive", open_),
        share("a tenth slower in one phase: found", seen, at_least=95),
        share("of these, the phase is named right", right, at_least=100)]
    return section


def programs(setting):
    stars = os.path.join(os.path.dirname(setting.fixtures), "..", "Examples", "StarSearcher",
                         "build", "starsearcher-mended")
    return [[python(), "-I", "-c", "pass"], [os.path.realpath(stars)]]


def asked(setting, baseline, program, is_loaded, chance=None):
    """The gate's answer, as JSON has it."""
    words = " ".join(f"'{word}'" for word in baseline)
    with Load(chance) if is_loaded else Nothing():
        done = subprocess.run(
            [setting.firstlight, "gate", "--format", "json", "--baseline", words, "--"] + program,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"bench: gate ended with {done.returncode}: {done.stderr[:300]}")
    report = json.loads(done.stdout)
    return {"status": done.returncode, "loaded": is_loaded, "text": report["text"],
            "pairs": (report.get("comparison") or {}).get("pairs"), "phase": report.get("phase")}


def planted_gate(setting, place):
    fixture = os.path.join(setting.fixtures, "phased")
    slower = list(USUAL)
    slower[place] += PLANT
    answer = asked(setting, [fixture] + [str(time) for time in USUAL],
                   [fixture] + [str(time) for time in slower], False)
    return answer | {"right": answer["phase"] == PHASES[place]}


def share(name, values, at_most=None, at_least=None):
    """In per cent of all; `values` are 0 or 100."""
    if not values:
        return Row(name, [0.0], "{:.1f} %", [], "of none")
    part = sum(values) / len(values)
    goals = []
    if at_most is not None:
        goals = [Goal(f"≤ {at_most} %", at_most, [part])]
    if at_least is not None:
        goals = [Goal(f"≥ {at_least} %", -at_least, [-part])]
    return Row(name, [part], "{:.1f} %", goals,
               f"{sum(value > 0 for value in values)} of {len(values)}")


class Load:
    """Another program that computes now and then, until it is left."""

    COMPUTE = "import time; end = time.monotonic() + {:.2f}\nwhile time.monotonic() < end: pass"

    def __init__(self, chance):
        self.chance = chance
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def run(self):
        while not self.over.wait(self.chance.uniform(0.05, 0.5)):
            text = self.COMPUTE.format(self.chance.uniform(0.1, 0.6))
            subprocess.run([python(), "-I", "-c", text], check=False)


class Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None
