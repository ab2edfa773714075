"""Measurements and recordings for a store, and what firstlight's commands say of one."""

import functools
import os
import re
import shutil
import subprocess
import unittest

import launches


@functools.cache
def has_ship():
    return subprocess.run([launches.FIRSTLIGHT, "ship", "--help"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=60).returncode == 0


needs_ship = unittest.skipUnless(has_ship(), "this firstlight has no ship")


@functools.cache
def folder():
    """Measurements of versions of two programs, also such of which not all launches count, and
    recordings of both."""
    path = launches.file("shipped")
    os.mkdir(path)

    def measured(name, *words):
        launches.run("measure", "--quiet", "--launches", "6", "-o", os.path.join(path, name),
                     *words)

    for version in ("1.0", "1.1", "1.2"):
        measured(f"true-{version}.firstlight", "--version-name", version, "true")
    measured("other.firstlight", "true")
    measured("against.firstlight", "--version-name", "1.2", "--against", "cat /dev/null", "true")
    measured("output.firstlight", "--until", "output", "--", "sh", "-c", "echo x; sleep 1")
    shutil.copy(launches.failing(), path)
    for index in range(3):
        for program in ("true", "cat"):
            launches.run("record", "--quiet", "-o",
                         os.path.join(path, f"{program}{index}.firstlight"), program,
                         *(["/dev/null"] if program == "cat" else []))
    return path


def files(*starts):
    return sorted(os.path.join(folder(), name) for name in os.listdir(folder())
                  if name.startswith(starts or ""))


def measurements():
    return [path for path in files() if not re.search(r"(true|cat)\d\.", path)]


def by_date(paths):
    """Series of files are in the order of the files, those of a store in that of their dates."""
    return sorted(paths, key=lambda path: reported(path)["measurement"]["dateNs"])


def recordings():
    return [path for path in files() if re.search(r"(true|cat)\d\.", path)]


# What `compare` is asked for besides the database.
VERSIONS = ("true", "1.0", "1.1")

# Of files that do not change.
reported = functools.cache(launches.report)


def environment(user=None, password=None):
    found = {name: value for name, value in os.environ.items()
             if not name.startswith("CLICKHOUSE_")}
    if user is not None:
        found["CLICKHOUSE_USER"] = user
    if password is not None:
        found["CLICKHOUSE_PASSWORD"] = password
    return found


def told(*words, status=0, **credentials):
    """What firstlight prints, and complains."""
    finished = subprocess.run([launches.FIRSTLIGHT, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300,
                              env=environment(**credentials))
    output, errors = finished.stdout.decode(), finished.stderr.decode()
    if finished.returncode != status:
        raise AssertionError(f"{words}: {finished.returncode}: {output}{errors}")
    return output, errors


def shipped(output):
    """The files that a shipper says are there now."""
    return re.findall(r"^shipped (.*): [\d,]+ launch(?:es)?$", output, re.MULTILINE)
