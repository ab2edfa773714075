"""What a profiler costs a whole run: from the program's exec until it and its children are gone.

What a profiler does before and after that does not count: the fixture `stamp` becomes the program
and tells when, through a FIFO that the program holds open until its end. The program needs no
change, and nothing is asked of the profilers, so the figure means the same for all of them.
"""

import os
import select
import shutil
import struct
import subprocess
import sys
import time

from comparison import compare
from contenders import DWARF, LIMIT_SECONDS, finish, firstlight, perf
from figures import Section

IMPORTS = "import asyncio, json, sqlite3"
PYTHON_ROUNDS = 15
THREADS_ROUNDS = 5
THREADS = 4


def python(setting):
    """The interpreter itself: `python3` on the path may be a script that looks for it."""
    title = f'Whole run of python3 -c "{IMPORTS}"'
    return whole_run(setting, title, [sys.executable, "-c", IMPORTS], PYTHON_ROUNDS)


def python_shim(setting):
    """A script of that name on the path, as version managers put there. It need not be the first:
    when it started us, it may have put the interpreter before itself."""
    title = "Whole run of the same by the script python3"
    scripts = [path for path in on_path("python3") if is_script(path)]
    if not scripts:
        reason = "python3 on the path is the interpreter itself"
        return Section(title, "as above", skipped=[("all", reason)])
    return whole_run(setting, title, [scripts[0], "-c", IMPORTS], PYTHON_ROUNDS)


def on_path(name):
    found = (shutil.which(name, path=folder) for folder in os.get_exec_path())
    return [path for path in found if path is not None]


def is_script(path):
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def threads(setting):
    cores = min(THREADS, len(os.sched_getaffinity(0)))
    each = int(setting.rounds_per_second * setting.work_seconds * cores / THREADS)
    title = f"Whole run of {THREADS} CPU-bound threads on {cores} cores"
    return whole_run(
        setting, title, [setting.fixture("threads"), str(THREADS), str(each)], THREADS_ROUNDS)


def whole_run(setting, title, command, rounds):
    candidates = [
        firstlight(setting.firstlight, setting.folder),
        firstlight(setting.firstlight, setting.folder, capture="ptrace"),
        perf(setting.folder, DWARF),
    ]
    section = Section(
        f"{title}, 1 kHz", "wall time from exec to the end, against no profiler")

    return compare(
        setting, section, candidates, lambda contender: nanoseconds(setting, contender, command),
        rounds)


def nanoseconds(setting, contender, command):
    """Runs a program to its end: how long it took from its exec."""
    fifo = setting.file("stamp")
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    title = f"{contender.name}: {' '.join(command)}"
    # Opened without waiting for a writer; the end of the file comes only after one was there.
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        process = contender.start(
            [setting.fixture("stamp"), fifo] + command, setting.errors,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        began = await_stamp(reader, process)
        ended = await_end(reader) if began is not None else None
        finish(process, title, setting.errors)
    finally:
        os.close(reader)
    if began is None or ended is None:
        raise SystemExit(f"bench: {title}: the program gave no sign of its start and end")
    return ended - began


def await_stamp(reader, process):
    """When the program began; None if what should start it ended, or hangs, without a word."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    watcher = os.pidfd_open(process.pid)
    try:
        poll.register(watcher, select.POLLIN)
        poll.poll(LIMIT_SECONDS * 1000)
        stamp = os.read(reader, 8)
    except BlockingIOError:
        return None
    finally:
        os.close(watcher)
    return struct.unpack("=q", stamp)[0] if len(stamp) == 8 else None


def await_end(reader):
    """When nobody held the FIFO open any more; None if it is held for ever."""
    poll = select.poll()
    # The hang-up is reported unasked.
    poll.register(reader, 0)
    if not poll.poll(LIMIT_SECONDS * 1000):
        return None
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
