"""What the relay of a Wayland socket costs: a client asks weston (without a screen) 10,000 times and
waits for each answer, alone, recorded, and recorded with the relay in between.
"""

import os
import shutil
import statistics

from compositor import Compositor
from contenders import output_of
from disturbance import differences
from figures import Row, Section, alternated

ROUNDS = 7
TRIPS = 10_000
ALONE, AGAIN = "alone", "alone, again (the noise)"
RECORDED, RELAYED = "recorded", "recorded, relayed"


def relay(setting):
    section = Section("Relay", f"{TRIPS:,} round trips from a Wayland client to weston, time each")
    if not shutil.which("weston"):
        section.skipped.append(("all", "weston is not installed"))
        return section
    if not os.access(setting.fixture("surface"), os.X_OK):
        section.skipped.append(
            ("all", "the fixture surface is not built (libwayland-dev, wayland-protocols)"))
        return section
    with Compositor(setting.file("relay"), setting.fixtures) as weston:
        client = weston.client + [str(TRIPS)]

        def trips(*prefix):
            words = ["env", *(f"{name}={weston.environment[name]}" for name in
                              ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY")), *prefix, *client]
            return lambda: int(output_of(words)) / 1000

        record = [setting.firstlight, "record", "--quiet", "-o", setting.file("bench.firstlight")]
        jobs = {
            ALONE: trips(),
            RECORDED: trips(*record, "--until", "exit", "--"),
            AGAIN: trips(),
            RELAYED: trips(*record, "--until", "frame", "--until", "exit", "--"),
        }
        # Thrown away.
        jobs[ALONE]()
        section.raw = alternated(jobs, setting.rounds(ROUNDS))
    section.rows += rows(section.raw)
    return section


def rows(rounds):
    trips = {name: [figures[name] for figures in rounds] for name in rounds[0]}
    yield Row(ALONE, trips[ALONE], "{:.1f} µs")
    for name, less in ((AGAIN, ALONE), (RECORDED, ALONE), (RELAYED, RECORDED)):
        label = "the relay adds" if name == RELAYED else f"{name}, less {ALONE}"
        yield Row(label, differences(trips[name], trips[less]), "{:+.1f} µs",
                  remark=f"{statistics.median(trips[name]):.1f} µs {name}"
                  if name != AGAIN else "")
