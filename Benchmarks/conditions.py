"""Whether a slow disk and a slow network are as slow as asked for: measured by a program that is
launched under that condition, with its own clock.
"""

import os
import socket
import subprocess
import sys
import threading

from contenders import LIMIT_SECONDS
from figures import Goal, Row, Section

LAUNCHES = 3
MOST_PERCENT = 5
MEBIBYTE = 1 << 20
DISK_RATE, DISK_BYTES = MEBIBYTE, 4 * MEBIBYTE
# As 3G is to the program; bits a second.
NETWORK_RATE, NETWORK_BYTES = 780_000, 300_000
# How the machine is called there.
MACHINE = "10.0.2.2"

# Each writes what it found behind what the launches before it found: bytes a second.
READER = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
begin, count = time.monotonic(), 0
while part := os.read(file, 1 << 16): count += len(part)
print(count / (time.monotonic() - begin), file=open(sys.argv[2], 'a'))
"""
# From the first piece on: connecting is no part of it.
RECEIVER = f"""
import socket, sys, time
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])), 30)
begin, early, count = None, 0, 0
while part := peer.recv(1 << 16):
    # With a delay, TCP takes its time before it fills the link.
    if early < {NETWORK_BYTES // 3}:
        early, begin = early + len(part), time.monotonic()
    else: count += len(part)
print(count / (time.monotonic() - begin), file=open(sys.argv[3], 'a'))
"""


def conditions(setting):
    section = Section(
        "Conditions", "what was asked for, and what a program found that was launched so")
    disk(setting, section)
    network(setting, section, "780 kbit/s", f"{NETWORK_RATE // 1000}kbit")
    # With its delay, which takes more of the kernel.
    network(setting, section, "3G", "3G")
    return section


def disk(setting, section):
    # Not where the rest is: that may be memory.
    data = os.path.join("/var/tmp", f"firstlight-bench-{os.getpid()}")
    try:
        with open(data, "wb") as file:
            file.write(os.urandom(DISK_BYTES))
            os.fsync(file.fileno())
        found = launches(setting, section, "disk, 1 MiB/s", ["--disk", "1M"], READER, [data])
    finally:
        if os.path.exists(data):
            os.unlink(data)
    if found:
        section.rows.append(row("disk, 1 MiB/s", [rate / MEBIBYTE for rate in found],
                                "{:.3f} MiB/s", DISK_RATE / MEBIBYTE))


def network(setting, section, name, asked):
    label = f"network, {name}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        found = launches(setting, section, label, ["--network", asked], RECEIVER,
                         [MACHINE, str(listener.getsockname()[1])])
        # Wakes the server, who ends by it.
        listener.shutdown(socket.SHUT_RDWR)
    if found:
        section.rows.append(row(label, [rate * 8 / 1000 for rate in found], "{:.1f} kbit/s",
                                NETWORK_RATE / 1000))


def serve(listener):
    """Gives whoever connects what there is to give."""
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            try:
                peer.sendall(bytes(NETWORK_BYTES))
            except OSError:
                # It has left; it says itself what it found.
                pass


def launches(setting, section, label, options, program, arguments):
    """What the program found in each launch that counts; none, where the condition cannot be
    had."""
    output = setting.file("found")
    open(output, "w").close()
    count = setting.launches(LAUNCHES)
    done = subprocess.run(
        [setting.firstlight, "measure", "--quiet", "-n", str(count), *options,
         "-o", setting.file("bench.launches"), "--", sys.executable, "-I", "-c", program,
         *arguments, output],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        section.skipped.append((label, said[0]))
        return []
    with open(output) as file:
        found = [float(line) for line in file]
    section.raw.append({"label": label, "bytesPerSecond": found})
    return found[-count:]


def row(label, found, form, asked):
    off = [100 * abs(value / asked - 1) for value in found]
    return Row(label, found, form, [Goal(f"± {MOST_PERCENT} % in each", MOST_PERCENT, [max(off)])],
               f"off by {max(off):.1f} % at most")
