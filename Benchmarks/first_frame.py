"""Whether `--until frame` is right: first frames of GTK's and Qt's programs under weston, held
against weston's own log of the protocol (WAYLAND_DEBUG=server), and under Xvfb, held against another
client that looks at the screen again and again: the drawing lies between its last look that showed
nothing and its first that showed something.
"""

import os
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

import recording
from compositor import Compositor
from contenders import LIMIT_SECONDS
from figures import Goal, Row, Section

ROUNDS = 7
PROGRAMS = {"GTK": ["mousepad", "--disable-server"], "Qt": ["featherpad", "--standalone"]}
MOST_MS = 2
# So small that a look takes a tenth of a millisecond.
SCREEN = "160x120x24"


def frames(setting):
    section = Section(
        "First frames", "the moment that --until frame says, against what another saw")
    for name, command in PROGRAMS.items():
        for way, tools, look in (("Wayland", ("weston", "surface"), on_wayland),
                                 ("X11", ("Xvfb", "screenshot"), on_x11)):
            label = f"{name}, {command[0]}, {way}"
            missing = [tool for tool in (command[0], tools[0]) if not shutil.which(tool)]
            if not os.access(setting.fixture(tools[1]), os.X_OK):
                missing.append(f"the fixture {tools[1]}")
            if missing:
                section.skipped.append((label, f"{' and '.join(missing)}: not installed"))
                continue
            section.rows += look(setting, section, label, command)
    return section


def record(setting, command, environment):
    """When the first frame was there, by us: nanoseconds of CLOCK_MONOTONIC."""
    path = setting.file("frame.firstlight")
    # Few samples: the cores are for the program and for who looks at it.
    words = [setting.firstlight, "record", "--quiet", "-F", "10", "-o", path, "--until", "frame",
             "--", *command]
    done = subprocess.run(
        words, env=dict(environment, FIRSTLIGHT_CACHE=""), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"bench: {command}: status {done.returncode}: {done.stderr}")
    return recording.rows(path, "ready")[0]["time_ns"]


def on_wayland(setting, section, label, command):
    late = []
    for turn in range(setting.rounds(ROUNDS)):
        folder = setting.file(f"{command[0]} {turn}")
        with Compositor(folder, setting.fixtures, "server") as weston:
            ours = record(setting, command, weston.environment)
            offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(
                time.CLOCK_MONOTONIC)
            # Both within 32 bits.
            past = (ours + offset) // 1000 - weston.first_frame()
            late.append(((past + 2 ** 31) % 2 ** 32 - 2 ** 31) / 1000)
    section.raw.append({"label": label, "lateMs": late})
    yield Row(f"{label}: less weston's log", late, "{:+.2f} ms",
              [Goal(f"± {MOST_MS} ms in each", MOST_MS, [max(map(abs, late))])])


@dataclass
class Seen:
    """When we say that the first frame came, and the looks between which it did: when the last that
    showed nothing was asked for, and when the first that showed something was here. Nanoseconds of
    CLOCK_MONOTONIC."""

    ours: int
    unseen: int
    here: int

    @property
    def least(self):
        """By so much we are wrong at least, ms; early ones are negative."""
        return (min(0, self.ours - self.unseen) + max(0, self.ours - self.here)) / 1e6

    @property
    def most(self):
        """By so much at most, wherever between the looks it was, ms."""
        return max(self.ours - self.unseen, self.here - self.ours) / 1e6


def on_x11(setting, section, label, command):
    seen = [looked_at(setting, label, command) for _ in range(setting.rounds(ROUNDS))]
    section.raw.append({"label": label, "looks": [vars(each) for each in seen]})
    apart = statistics.median((each.here - each.unseen) / 1e6 for each in seen)
    most = [each.most for each in seen]
    yield Row(f"{label}: off by at most", most, "{:.2f} ms",
              [Goal(f"≤ {MOST_MS} ms", MOST_MS, most)], f"looks {apart:.2f} ms apart")
    least = [each.least for each in seen]
    yield Row(f"{label}: off by at least", least, "{:+.2f} ms",
              [Goal(f"± {MOST_MS} ms in each", MOST_MS, [max(map(abs, least))])])


def looked_at(setting, label, command):
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-noreset", "-screen", "0", SCREEN],
        pass_fds=[writer], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    witness = None
    try:
        with os.fdopen(reader) as number:
            display = ":" + number.readline().strip()
        environment = dict(os.environ, DISPLAY=display, HOME=setting.folder, GDK_BACKEND="x11",
                           QT_QPA_PLATFORM="xcb")
        environment.pop("WAYLAND_DISPLAY", None)
        witness = subprocess.Popen([setting.fixture("screenshot")], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        witness.stdout.readline()
        ours = record(setting, command, environment)
    finally:
        # By which the witness ends, too.
        server.terminate()
        server.wait()
        if witness:
            words = witness.communicate()[0].split()
    if len(words) != 3:
        raise SystemExit(f"bench: {label}: nothing was seen on the screen")
    unseen, _, here = map(int, words)
    return Seen(ours, unseen, here)
