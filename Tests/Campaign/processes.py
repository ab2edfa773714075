"""Running programs, and what /proc says of them."""

import ctypes
import ctypes.util
import errno
import hashlib
import os
import re
import signal
import struct
import subprocess
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 36, 38, 22


class Ended:
    """How a program ended, and what it wrote."""

    def __init__(self, status, output, error):
        self.status, self.output, self.error = status, output, error

    def __eq__(self, other):
        return (self.status, self.output, self.error) == (other.status, other.output, other.error)

    def short(self):
        def text(data):
            if len(data) <= 300:
                return repr(data)
            return f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}"
        return f"status {self.status}, output {text(self.output)}, error {text(self.error)}"


class Hung(Exception):
    pass


def start(words, limit=None, **options):
    """In a group of its own. Its streams are files: nobody has to read while it runs."""
    streams = {name: options.pop(name, None) or tempfile.TemporaryFile()
               for name in ("stdout", "stderr")}
    text = options.pop("text", None)
    source = tempfile.TemporaryFile() if text else subprocess.DEVNULL
    if text:
        source.write(text)
        source.seek(0)
    child = subprocess.Popen(words, stdin=options.pop("stdin", source), start_new_session=True,
                             **streams, **options)
    child.streams = streams
    return child


def written(stream):
    stream.seek(0)
    return stream.read()


def finish(child, limit=60):
    try:
        status = child.wait(limit)
    except subprocess.TimeoutExpired:
        kill_group(child.pid)
        child.wait()
        raise Hung(f"not done after {limit} s; error: {written(child.streams['stderr'])[-500:]!r}")
    finally:
        # What it left behind.
        kill_group(child.pid)
    return Ended(status, written(child.streams["stdout"]), written(child.streams["stderr"]))


def run(words, limit=60, **options):
    return finish(start(words, **options), limit)


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def adopt_orphans():
    """Whose recorder was killed becomes ours, so that its status can be had."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for(pid, limit=60):
    """The status of an adopted process, as Popen has it."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise Hung(f"{pid}: not done after {limit} s")


def forbid_events():
    """For preexec_fn: perf_event_open fails from here on, as kernels and containers have it that
    permit no events. Then stacks are taken by signals."""
    def statement(code, value, yes=0, no=0):
        return struct.pack("HBBI", code, yes, no, value)
    # Load the call's number; 298 is perf_event_open; EACCES or go on.
    code = (statement(0x20, 0) + statement(0x15, 298, 0, 1)
            + statement(0x06, 0x00050000 | errno.EACCES) + statement(0x06, 0x7FFF0000))
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def settled(look, expected, limit=10):
    """What a look shows as soon as it is as expected: some things take a moment."""
    deadline = time.monotonic() + limit
    while (found := look()) != expected and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def is_alive(pid):
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"], ["X"])


def children(pid):
    return [int(child) for tid in tasks(pid)
            for child in read(f"/proc/{pid}/task/{tid}/children").split()]


def tasks(pid):
    try:
        return sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return []


OURS = re.compile(r"firstlight|perf_event")


def traces(pid):
    """What of us there is in a process: nothing, once it was left."""
    found = [line for line in read(f"/proc/{pid}/maps").splitlines() if OURS.search(line)]
    found += [f"descriptor {name}: {target}" for name, target in descriptors(pid).items()
              if OURS.search(target)]
    tracer = re.search(r"TracerPid:\t([1-9]\d*)", read(f"/proc/{pid}/status"))
    return found + ([tracer[0]] if tracer else [])


def descriptors(pid):
    found = {}
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            found[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
    except OSError:
        pass
    return found


def signal_state(pid):
    """Which signals are handled, and which ignored. A program may handle some for moments: what is
    so in each of several looks counts."""
    handled = ignored = (1 << 64) - 1
    for _ in range(8):
        fields = dict(line.split(":\t", 1) for line in read(f"/proc/{pid}/status").splitlines()
                      if ":\t" in line)
        if "SigCgt" not in fields:
            return None
        handled &= int(fields["SigCgt"], 16)
        ignored &= int(fields["SigIgn"], 16)
        time.sleep(0.001)
    return f"{handled:016x}", f"{ignored:016x}"


def code(pid):
    """Executable mappings of files: where, and which."""
    return [line.split()[0] + " " + line.split()[-1]
            for line in read(f"/proc/{pid}/maps").splitlines()
            if len(line.split()) >= 6 and "x" in line.split()[1]]
