#!/usr/bin/env python3
"""What recording costs, side by side with other profilers: docs/benchmarks.md explains each line.

Goals are shown, met or missed; the exit status says only whether everything could be measured.
"""

import argparse
import json
import os
import sys
import tempfile
import time

import account
import cold
import conditions
import disturbance
import exports
import first_frame
import gates
import history
import hyperfine
import initializers
import long
import machine
import marks
import measure
import memory
import page
import planted
import recorded
import recorder
import relay
import shares
import signposts
import slowdown
import summary
import symbolicate
import top
import unwind
import whole_run
from setting import Setting

SECTIONS = {
    "slowdown": slowdown.at_1_khz,
    "slowdown-10k": slowdown.at_10_khz,
    "python": whole_run.python,
    "shim": whole_run.python_shim,
    "threads": whole_run.threads,
    "disturbance": disturbance.disturbance,
    "shares": shares.shares,
    "recorder": recorder.recorder,
    "account": account.account,
    "memory": memory.memory,
    "signposts": signposts.signposts,
    "initializers": initializers.initializers,
    "marks": marks.marks,
    "unwinding": unwind.unwinding,
    "symbolicate": symbolicate.symbolicate,
    "symbolicate-split": symbolicate.split,
    "summary": summary.summary,
    "exports": exports.exports,
    "page": page.page,
    "long": long.long,
    "top": top.top,
    "measure": measure.measure,
    "hyperfine": hyperfine.hyperfine,
    "cold": cold.cold,
    "conditions": conditions.conditions,
    "frames": first_frame.frames,
    "relay": relay.relay,
    "history": history.history,
    "gates": gates.gates,
    "recorded": recorded.recorded,
    "planted": planted.planted,
}


def chosen_sections(text):
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(
                f"there is no part '{name}': {', '.join(SECTIONS)}")
    return names


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("firstlight", help="the release binary")
    parser.add_argument("fixtures", help="the folder of Tests/Fixtures' programs")
    parser.add_argument("--quick", action="store_true",
                        help="two short rounds: to try the benchmark, not for its figures")
    parser.add_argument("--only", action="extend", type=chosen_sections, metavar="NAME[,NAME...]",
                        help="these parts only: " + ", ".join(SECTIONS))
    parser.add_argument("--json", metavar="FILE", help="write the raw figures there")
    return parser.parse_args()


def main():
    chosen = options()
    # Checked before minutes are spent.
    results = open(chosen.json, "w") if chosen.json else None
    sys.stdout.reconfigure(errors="replace", line_buffering=True)
    described = machine.description()
    print(described)
    if chosen.quick:
        print("QUICK: two short rounds; the figures mean little")
    print("what is compared is of the same round; "
          "? behind a goal: it lies between the quartiles\n")
    began = time.monotonic()
    stolen, total = machine.stolen_and_total()
    sections = {}
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        setting = Setting(
            os.path.abspath(chosen.firstlight), os.path.abspath(chosen.fixtures), folder,
            chosen.quick)
        setting.check()
        for name in chosen.only or SECTIONS:
            sections[name] = SECTIONS[name](setting)
            print("\n".join(sections[name].lines()))
    stolen_after, total_after = machine.stolen_and_total()
    share = (stolen_after - stolen) / max(1, total_after - total)
    print(f"took {time.monotonic() - began:.0f} s; meanwhile the hypervisor gave "
          f"{100 * share:.1f} % of the cores' time to others")
    if results:
        with results:
            json.dump(
                {"machine": described, "quick": chosen.quick, "stolenShare": share,
                 "sections": {name: section.to_json() for name, section in sections.items()}},
                results, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"bench: {error.filename or 'system'}: {error.strerror}")
