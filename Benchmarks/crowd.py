"""Watches a recorder at its work: a crowd of threads is recorded for a known time, and the
recorder's own CPU time and memory are read while that goes on."""

import ctypes
import os
import select
import subprocess
import time
from dataclasses import dataclass

from contenders import LIMIT_SECONDS, finish

# From all threads being up to the first look: the recorder has met them all by then.
SETTLE_SECONDS = 0.3
# How often memory is read while the recorder finishes its work.
PEAK_INTERVAL_SECONDS = 0.01

libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Watch:
    """What was seen. Until the program was told to end: `cpu`, the share of a core that the
    recorder used, and `peak`, bytes of its memory at most. From then to the recorder's end:
    `after`, seconds of its CPU time. Of all its life: `peak_ever`."""

    cpu: float
    after: float
    peak: int
    peak_ever: int


def watch(setting, contender, workers, sleepers, seconds):
    """Records a crowd for `seconds` and a little longer."""
    command = [setting.fixture("crowd"), str(workers), str(sleepers)]
    title = f"{contender.name}: {' '.join(command)}"
    process = contender.start(
        command, setting.errors, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # The crowd ends when its input does: also if we leave by an exception.
    with process.stdin, process.stdout:
        if not is_ready(process):
            process.stdin.close()
            finish(process, title, setting.errors)
            raise SystemExit(f"bench: {title}: did not get ready")
        clock = cpu_clock(process.pid)
        time.sleep(SETTLE_SECONDS)
        start, spent = time.monotonic(), time.clock_gettime(clock)
        time.sleep(seconds)
        elapsed, captured = time.monotonic() - start, time.clock_gettime(clock)
        peak = peak_memory(process.pid)
        process.stdin.close()
        peak_ever = await_end(process.pid) or peak
        # It has ended but was not reaped: its clock still answers.
        after = time.clock_gettime(clock) - captured
        finish(process, title, setting.errors)
    return Watch((captured - spent) / elapsed, after, peak, peak_ever)


def is_ready(process):
    """Whether the crowd said so, within the limit."""
    readable, _, _ = select.select([process.stdout], [], [], LIMIT_SECONDS)
    return bool(readable) and process.stdout.readline() == b"ready\n"


def cpu_clock(pid):
    """The clock of all CPU time of a process, threads that have ended included; not of the
    processes that it started. In nanoseconds, where `/proc/PID/stat` counts in hundredths."""
    clock = ctypes.c_int()
    error = libc.clock_getcpuclockid(pid, ctypes.byref(clock))
    if error != 0:
        raise SystemExit(f"bench: CPU clock of process {pid}: {os.strerror(error)}")
    return clock.value


def peak_memory(pid):
    """Bytes resident at most so far; None once the process has given its memory back.

    Not what `wait4` tells: that knows the peaks of the program and of ourselves, too."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def await_end(pid):
    """Waits for the end, without reaping: the peak memory as last seen before it."""
    peak = None
    limit = time.monotonic() + LIMIT_SECONDS
    watcher = os.pidfd_open(pid)
    try:
        while time.monotonic() < limit:
            peak = peak_memory(pid) or peak
            if select.select([watcher], [], [], PEAK_INTERVAL_SECONDS)[0]:
                break
    finally:
        os.close(watcher)
    return peak
