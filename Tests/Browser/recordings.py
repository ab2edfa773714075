"""Recordings to show: made once for all tests, with the program under test."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile

FIRSTLIGHT = os.environ["FIRSTLIGHT"]


@functools.cache
def folder():
    path = tempfile.mkdtemp(prefix="firstlight-browser-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def star_searcher():
    """The path of a recording of Star Searcher's launch."""
    path = os.path.join(folder(), "stars.firstlight")
    run("record", "--quiet", "-o", path, os.path.join(os.environ["STARS"], "starsearcher"))
    return path


@functools.cache
def python_imports():
    """The path of a recording of a Python program: app.py imports outer_module, that inner_module."""
    scripts = os.path.join(folder(), "python")
    os.makedirs(scripts)
    work = "x = 0\nfor i in range(900_000): x ^= i * 3\n"
    for name, text in (("inner_module", work + work), ("outer_module", "import inner_module\n" + work),
                       ("app", "import outer_module\n" + work)):
        with open(os.path.join(scripts, name + ".py"), "w", encoding="utf-8") as file:
            file.write(text)
    path = os.path.join(folder(), "python.firstlight")
    run("record", "--quiet", "-o", path, sys.executable, os.path.join(scripts, "app.py"))
    return path


@functools.cache
def report(recording):
    """Its JSON report."""
    return json.loads(run("report", recording, "--format", "json", "--with", "events,timeline"))


@functools.cache
def comparison(before, after):
    """The JSON of both compared."""
    return json.loads(run("compare", before, after, "--format", "json"))


def run(*words):
    """What firstlight prints; it must succeed, and nothing is left in the user's cache."""
    finished = subprocess.run(
        [FIRSTLIGHT, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
        env=os.environ | {"FIRSTLIGHT_CACHE": "", "COLUMNS": "100"}, timeout=120)
    assert finished.returncode == 0, f"{words}: {finished.stderr.decode(errors='replace')}"
    return finished.stdout
