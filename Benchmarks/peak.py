"""What a program takes: time, and memory at its peak."""

import os
import subprocess
import tempfile
import time


def run(words, **streams):
    """Milliseconds, and KiB: of the program, or of one that it ran.

    GNU time starts it. Started by us, it would count what we had at our own peak: until a new process
    executes its program it has our memory.
    """
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    try:
        start = time.monotonic()
        subprocess.run(["/usr/bin/time", "-q", "-f", "%M", "-o", path] + words, check=True, **streams)
        taken = (time.monotonic() - start) * 1000
        with open(path) as file:
            return {"ms": taken, "peak": int(file.read())}
    finally:
        os.remove(path)
