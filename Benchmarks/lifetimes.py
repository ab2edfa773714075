"""When programs began and ended, as the kernel itself tells: its tracepoints sched_process_exec and
sched_process_exit, of all processes; and signal_generate, of those SIGCHLDs that tell a parent that
its child is gone. Where asked for, task_newtask, too: when they were forked.

Neither the program nor its profiler is asked, so the times mean the same for all of them. The
kernel writes a few bytes at each of them to memory that is read after the run: nobody wakes up, and
no other event is asked for.
"""

import ctypes
import mmap
import os
import struct
import subprocess
import time
from dataclasses import dataclass
from typing import Optional

TRACING = "/sys/kernel/tracing"
EXEC, EXIT, GONE = (
    "sched/sched_process_exec", "sched/sched_process_exit", "signal/signal_generate")
SPAWN = "task/task_newtask"
# SIGCHLD, because the child ended by itself or by a signal: not because it stopped.
FILTERS = {GONE: b"sig==17 && code>=1 && code<=3"}

# perf_event_open(2); the call has no function in the C library.
CALLS = {"x86_64": 298, "aarch64": 241}
TRACEPOINT = 2
SAMPLE_TID, SAMPLE_TIME, SAMPLE_RAW = 1 << 1, 1 << 2, 1 << 10
USE_CLOCKID = 1 << 25
CLOSE_ON_EXEC = 1 << 3
SET_OUTPUT, SET_FILTER = 0x2405, 0x40082406
RECORD_LOST, RECORD_SAMPLE = 2, 9
ATTRIBUTES_BYTES = 112
# Where the pages begin with which kernel and reader agree how far they are.
HEAD, TAIL = 1024, 1032
DATA_PAGES = 64

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Event:
    """What happened (EXEC, EXIT, GONE, SPAWN), and to which process; the file's name of an exec."""

    kind: str
    time: int
    pid: int
    filename: str = ""


@dataclass(frozen=True)
class Life:
    """Nanoseconds from a program's exec: until its last thread was done (kernels since 6.16 tell so
    before its memory is given back, older ones afterwards), and until its parent was told.
    `spawning`: from the fork to the exec, where forks are noted."""

    lasted: int
    gone: int
    spawning: Optional[int] = None


class Lifetimes:
    """A context: within it, execs and ends of all processes are noted, and what `also` names."""

    def __init__(self, *also):
        self.names = (EXEC, EXIT, GONE, *also)
        self.rings = []

    def __enter__(self):
        try:
            numbers = identifiers(self.names)
            for core in cores():
                self.rings.append(Ring(core, numbers))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for ring in self.rings:
            ring.close()
        self.rings = []

    def forget(self):
        """What was noted so far."""
        self.events()

    def events(self):
        """What was noted since they were asked for last, in the order of time."""
        found = [event for ring in self.rings for event in ring.read()]
        return sorted(found, key=lambda event: event.time)

    def of(self, program):
        """The Life of the program; None if any of it was not seen. Of several processes that ran
        it, the first is meant: the others are its own."""
        return next(iter(self.lives(program)), None)

    def lives(self, program):
        """A Life for each process that ran the program, in the order of their execs; None where any
        of it was not seen."""
        events = self.events()
        execs = {}
        for event in events:
            if event.kind == EXEC:
                # Before it became the program it may have been a script or the profiler.
                execs[event.pid] = event
        runs = sorted((event for event in execs.values() if event.filename == program),
                      key=lambda event: event.time)
        return [self.life(began, events) for began in runs]

    @staticmethod
    def life(began, events):
        own = [event for event in events if event.pid == began.pid]
        ends = {event.kind: event.time - began.time for event in own if event.time > began.time}
        if EXIT not in ends or GONE not in ends:
            return None
        spawned = next((event.time for event in own if event.kind == SPAWN), None)
        return Life(ends[EXIT], ends[GONE], spawned and began.time - spawned)


class Ring:
    """What happens on one core: all tracepoints write to the same pages."""

    def __init__(self, core, numbers):
        self.descriptors = []
        self.pages = None
        try:
            for name, number in numbers.items():
                self.descriptors.append(opened(core, number))
                if name in FILTERS:
                    control(self.descriptors[-1], SET_FILTER, FILTERS[name])
            first, *others = self.descriptors
            self.pages = mmap.mmap(first, (1 + DATA_PAGES) * mmap.PAGESIZE)
            for other in others:
                control(other, SET_OUTPUT, first)
        except BaseException:
            self.close()
            raise
        self.kinds = {number: name for name, number in numbers.items()}

    def close(self):
        if self.pages is not None:
            self.pages.close()
        for descriptor in self.descriptors:
            os.close(descriptor)

    def read(self):
        head, tail = struct.unpack_from("=QQ", self.pages, HEAD)
        content = self.between(tail, head)
        struct.pack_into("=Q", self.pages, TAIL, head)
        offset = 0
        while offset < len(content):
            kind, _, size = struct.unpack_from("=IHH", content, offset)
            if kind == RECORD_LOST:
                raise SystemExit("bench: the kernel's account of processes has gaps")
            if kind == RECORD_SAMPLE:
                yield self.event(content[offset + 8:offset + size])
            offset += size

    def between(self, start, end):
        """The ring's bytes, put together where they wrap around."""
        size = DATA_PAGES * mmap.PAGESIZE
        first, last = start % size, end % size
        data = self.pages[mmap.PAGESIZE:]
        if start == end:
            return b""
        return data[first:last] if first < last else data[first:] + data[:last]

    def event(self, sample):
        """Process, thread and time come first, then the tracepoint's own fields with their length.
        An exec's first field says where its file's name is: offset and length in 16 bits each; that
        of a new task is its id."""
        pid, _, when, _, tracepoint = struct.unpack_from("=IIQIH", sample)
        kind = self.kinds[tracepoint]
        fields = sample[20:]
        if kind == SPAWN:
            # Told by the parent, of the child.
            return Event(kind, when, struct.unpack_from("=i", fields, 8)[0])
        if kind != EXEC:
            return Event(kind, when, pid)
        where, = struct.unpack_from("=H", fields, 8)
        return Event(kind, when, pid, os.fsdecode(fields[where:fields.index(b"\0", where)]))


def trouble():
    """Why it cannot be told here when programs begin and end; None if it can."""
    try:
        with Lifetimes():
            return None
    except OSError as error:
        return f"the kernel's tracepoints: {error.strerror}"


def cores():
    """All that are there, whether we may use them or not: programs may."""
    with open("/sys/devices/system/cpu/online") as file:
        for part in file.read().strip().split(","):
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)


def identifiers(names):
    """The tracepoints' numbers. Where tracefs is not mounted, it is for a process that only reads
    them: Firstlight would tell more if it found it."""
    paths = [f"{TRACING}/events/{name}/id" for name in names]
    command = ["cat", *paths]
    if not os.path.exists(paths[0]):
        script = f'mount -t tracefs none {TRACING} && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    numbers = done.stdout.split()
    if len(numbers) != len(names):
        raise OSError(0, done.stderr.strip() or "not found")
    return dict(zip(names, map(int, numbers)))


def opened(core, number):
    """A descriptor for a tracepoint on one core, of all processes."""
    call = CALLS.get(os.uname().machine)
    if call is None:
        raise OSError(0, f"perf_event_open's number on {os.uname().machine} is not known")
    attributes = struct.pack(
        "=IIQQQQQIIQQQQIiQ", TRACEPOINT, ATTRIBUTES_BYTES, number, 1,
        SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW, 0, USE_CLOCKID, 0, 0, 0, 0, 0, 0, 0,
        time.CLOCK_MONOTONIC, 0).ljust(ATTRIBUTES_BYTES, b"\0")
    descriptor = libc.syscall(call, attributes, -1, core, -1, CLOSE_ON_EXEC)
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return descriptor


def control(descriptor, request, argument):
    if libc.ioctl(descriptor, request, argument) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
