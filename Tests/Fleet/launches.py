"""Measurements and recordings to be exported, and firstlight itself."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile

FIRSTLIGHT = os.environ.get("FIRSTLIGHT", "firstlight")

# A name from hell, though a legal one: of a program, and so of a label.
HOSTILE = 'a "b"\\c\nd{e="f"} é'


@functools.cache
def folder():
    path = tempfile.mkdtemp(prefix="firstlight-fleet-")
    atexit.register(shutil.rmtree, path)
    return path


def file(name):
    return os.path.join(folder(), name)


def run(*words, status=0):
    """What firstlight prints."""
    finished = subprocess.run([FIRSTLIGHT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=300)
    if finished.returncode != status:
        raise AssertionError(f"{words}: {finished.returncode}: {finished.stderr.decode()}")
    return finished.stdout.decode()


@functools.cache
def quick():
    """Twelve launches of `true`."""
    path = file("quick.firstlight")
    run("measure", "--quiet", "--launches", "12", "--version-name", "1.2", "-o", path, "true")
    return path


@functools.cache
def hostile():
    """Five launches of a program whose name is one from hell."""
    program = file(HOSTILE)
    shutil.copy(shutil.which("true"), program)
    path = file("hostile.firstlight")
    run("measure", "--quiet", "--launches", "5", "-o", path, program)
    return path


@functools.cache
def failing():
    """Of the launches of a script every third one is killed."""
    path, count = file("failing.firstlight"), file("count")
    script = (f'n=$(cat {count} 2>/dev/null || echo 0); echo $((n + 1)) >{count}; '
              'case $((n % 3)) in 2) kill -9 $$;; esac')
    run("measure", "--quiet", "--launches", "6", "-o", path, "sh", "-c", script)
    return path


@functools.cache
def recording():
    path = file("recording.firstlight")
    run("record", "--quiet", "-o", path, "true")
    return path


def report(path):
    return json.loads(run("report", "--format", "json", path))


def walls(path):
    """Of the launches that count, in seconds."""
    return [launch["wallNs"] / 1e9 for launch in report(path)["launches"]
            if launch["discarded"] is None]
