#!/usr/bin/env python3
"""Whether programs behave as without us, many thousand times: docs/campaign.md."""

import argparse
import os
import signal
import sys

sys.dont_write_bytecode = True

import cycles
import harm
import kills
import limits
import runs
from state import State

PARTS = {"runs": (runs, 10_000), "cycles": (cycles, 1_000), "kills": (kills, 500),
         "limits": (limits, 200), "harm": (harm, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, (_, count) in PARTS.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"default: {count:,}")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one (repeatable)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help=f"of the cycles only this server ({', '.join(cycles.SERVERS)}), "
                        "of harm only this program or system call (repeatable)")
    parser.add_argument("--state", default=".build/campaign", metavar="FOLDER",
                        help="where it goes on, and where differences are kept (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="print what is known, and run nothing")
    parser.add_argument("firstlight")
    parser.add_argument("fixtures")
    options = parser.parse_args()
    options.firstlight = os.path.abspath(options.firstlight)
    options.fixtures = os.path.abspath(options.fixtures)
    # A shell's job in the background ignores Ctrl-C, and so would recorders that are to end by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Nothing of it is left in the user's cache.
    os.environ["FIRSTLIGHT_CACHE"] = ""
    state = State(os.path.abspath(options.state))
    try:
        for name, (part, count) in PARTS.items():
            if not options.table and (not options.part or name in options.part):
                wanted = getattr(options, name)
                part.campaign(state, options, count if wanted is None else wanted)
    finally:
        state.save()
        print("\n\n".join(filter(None, [state.table(), harm.table(state)])), flush=True)
    return 1 if state.differences else 0


if __name__ == "__main__":
    sys.exit(main())
