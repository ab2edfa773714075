#!/usr/bin/env python3
"""Whether `--until frame` is right, and what the relay of a Wayland socket costs.

Round trips: a Wayland client asks weston (headless) 10,000 times and waits for each answer: alone,
recorded, and recorded with the relay in between.

First frames: GTK's and Qt's programs under weston, held against weston's own log of the protocol
(WAYLAND_DEBUG=server), and under Xvfb, held against another client that looks at the screen again
and again: the drawing lies between its last look that showed nothing and its first that showed
something. Programs that are not installed are left out.

    apt-get install weston xvfb mousepad featherpad qtwayland5 dbus-x11

usage: first_frame.py FIRSTLIGHT FIXTURES
"""

import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
TRIPS = 10_000
PROGRAMS = {"GTK": ["mousepad", "--disable-server"], "Qt": ["featherpad", "--standalone"]}


class Compositor:
    """weston without a screen, and what it logs of the protocol."""

    def __init__(self, folder, debug=None):
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder, WAYLAND_DISPLAY="bench",
                                GDK_BACKEND="wayland", QT_QPA_PLATFORM="wayland", HOME=folder)
        self.environment.pop("DISPLAY", None)
        self.log = open(os.path.join(folder, "protocol"), "w+")
        variables = dict(self.environment, **({"WAYLAND_DEBUG": debug} if debug else {}))
        variables.pop("WAYLAND_DISPLAY")
        self.process = subprocess.Popen(
            ["weston", "--backend=headless-backend.so", "--no-config", "--idle-time=0",
             "--socket=bench", "--log=" + os.path.join(folder, "log")],
            stdout=subprocess.DEVNULL, stderr=self.log, env=variables)
        while not os.path.exists(os.path.join(folder, "bench")):
            time.sleep(0.01)
        time.sleep(0.5)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def first_frame(self):
        """When weston read the first commit of a top-level surface with a buffer, in microseconds of
        CLOCK_REALTIME, as far as 32 bits hold them."""
        self.log.seek(0)
        roles, tops, buffers = {}, set(), set()
        for line in self.log:
            head = re.match(r"\[ *(\d+)\.(\d+)\] (?!.*-> )(\w+)@(\d+)\.(\w+)\((.*)\)", line)
            if not head:
                continue
            stamp = int(head[1]) * 1000 + int(head[2])
            interface, number, request, arguments = head[3], head[4], head[5], head[6]
            if request == "get_xdg_surface":
                roles[re.search(r"xdg_surface@(\d+)", arguments)[1]] = \
                    re.search(r"wl_surface@(\d+)", arguments)[1]
            elif request == "get_toplevel":
                tops.add(roles.get(number))
            elif interface == "wl_surface" and request == "attach":
                (buffers.discard if arguments.startswith("nil") else buffers.add)(number)
            elif interface == "wl_surface" and request == "commit" and number in tops & buffers:
                return stamp
        raise SystemExit("weston saw no frame")


def ready_time(path):
    with sqlite3.connect(path) as database:
        return database.execute("SELECT time_ns FROM ready").fetchone()[0]


def record(firstlight, command, path, conditions, environment):
    words = [word for condition in conditions for word in ("--until", condition)]
    done = subprocess.run(
        [firstlight, "record", "--quiet", "-o", path] + words + ["--"] + command,
        env=dict(environment, FIRSTLIGHT_CACHE=""), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}: {done.stderr}")
    return done.stdout


def spread(values, form="{:.2f}"):
    values = sorted(values)
    return (f"median {form.format(statistics.median(values))} ({form.format(values[0])} to "
            f"{form.format(values[-1])})")


def round_trips(firstlight, fixtures, folder):
    compositor = Compositor(folder)
    client = [os.path.join(fixtures, "surface"), "roundtrips", str(TRIPS)]
    path = os.path.join(folder, "trips.firstlight")
    environment = compositor.environment
    arms = {
        "alone": lambda: subprocess.run(client, env=environment, check=True, text=True,
                                        stdout=subprocess.PIPE).stdout,
        "recorded": lambda: record(firstlight, client, path, ["exit"], environment),
        "recorded, relayed": lambda: record(firstlight, client, path, ["frame", "exit"],
                                            environment),
    }
    figures = {name: [] for name in arms}
    for turn in range(ROUNDS + 1):
        order = list(arms.items())
        for name, run in order if turn % 2 else order[::-1]:
            taken = int(run()) / 1000
            if turn > 0:
                figures[name].append(taken)
    compositor.close()
    print(f"\n{TRIPS:,} round trips to weston, microseconds each, {ROUNDS} rounds")
    for name, values in figures.items():
        print(f"  {name}: {spread(values, '{:.1f}')}")
    added = [relayed - recorded for relayed, recorded
             in zip(figures["recorded, relayed"], figures["recorded"])]
    print(f"  the relay adds: {spread(added, '{:.1f}')}")


def wayland_frames(firstlight, name, command, folder):
    late = []
    for turn in range(ROUNDS):
        place = os.path.join(folder, f"{name}{turn}")
        os.mkdir(place, 0o700)
        compositor = Compositor(place, "server")
        path = os.path.join(place, "frame.firstlight")
        record(firstlight, command, path, ["frame"], compositor.environment)
        offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(
            time.CLOCK_MONOTONIC)
        ours = (ready_time(path) + offset) // 1000
        # Both within 32 bits.
        late.append(((ours - compositor.first_frame() + 2 ** 31) % 2 ** 32 - 2 ** 31) / 1000)
        compositor.close()
    print(f"  {name}, `{command[0]}`, Wayland, less weston's own log: {spread(late)} ms")


def x_frames(firstlight, fixtures, name, command, folder):
    late, widths = [], []
    for turn in range(ROUNDS):
        reader, writer = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-noreset", "-screen", "0", "640x480x24"],
            pass_fds=[writer], stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as number:
            display = ":" + number.readline().strip()
        environment = dict(os.environ, DISPLAY=display, HOME=folder, GDK_BACKEND="x11",
                           QT_QPA_PLATFORM="xcb")
        environment.pop("WAYLAND_DISPLAY", None)
        witness = subprocess.Popen([os.path.join(fixtures, "screenshot")], env=environment,
                                   stdout=subprocess.PIPE, text=True)
        witness.stdout.readline()
        path = os.path.join(folder, f"{name}{turn}.firstlight")
        record(firstlight, command, path, ["frame"], environment)
        seen = witness.stdout.readline().split()
        witness.wait()
        server.terminate()
        server.wait()
        if len(seen) != 3:
            raise SystemExit(f"{name}: nothing was seen on the screen")
        unseen, _, here = map(int, seen)
        ours = ready_time(path)
        # Within the two looks it is right.
        late.append((min(0, ours - unseen) + max(0, ours - here)) / 1e6)
        widths.append((here - unseen) / 1e6)
    print(f"  {name}, `{command[0]}`, X11, outside of the looks between which it must be: "
          f"{spread(late)} ms; those lie {spread(widths)} ms apart")


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    firstlight, fixtures = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        if shutil.which("weston"):
            round_trips(firstlight, fixtures, folder)
        print(f"\nFirst frames by Firstlight, {ROUNDS} launches each")
        for name, command in PROGRAMS.items():
            if not shutil.which(command[0]):
                print(f"  {name}: {command[0]} is not installed")
                continue
            if shutil.which("weston"):
                wayland_frames(firstlight, name, command, folder)
            if shutil.which("Xvfb"):
                x_frames(firstlight, fixtures, name, command, folder)


if __name__ == "__main__":
    main()
