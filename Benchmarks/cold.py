"""Whether a cold launch is cold: what each that counts has read from the disk; and a warm one, which
reads nothing. As root and as an ordinary user, who may do less.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile

from contenders import LIMIT_SECONDS
from figures import Goal, Row, Section
from measure import counted

LAUNCHES = 5
MEBIBYTE = 1 << 20
NOBODY = 65534
# Debian's: what is in root's home, nobody else may read.
PYTHON = "/usr/bin/python3"


def cold(setting):
    section = Section("Cold and warm", "what each launch that counts has read from the disk")
    programs = {"python3": [PYTHON, "-I", "-c", "import asyncio, json, sqlite3"],
                "gdb": ["gdb", "--version"]}
    with tempfile.TemporaryDirectory(prefix="firstlight-cold-", dir="/var/tmp") as folder:
        users = users_of(setting, folder, section)
        for name, command in programs.items():
            if not shutil.which(command[0]):
                section.skipped.append((name, f"{command[0]} is not installed"))
                continue
            for user, prefix in users.items():
                for cache in ("cold", "warm"):
                    output = os.path.join(folder, f"launches of {user}")
                    try_launches(setting, section, f"{name}, {user}: {cache}",
                                 [*prefix, "measure", f"--{cache}", "-o", output], command)
    return section


def users_of(setting, folder, section):
    """The words by which each of them starts Firstlight, which must be able to read it."""
    if os.geteuid() != 0:
        section.skipped.append(("root", "you are not root"))
        return {"ordinary user": [setting.firstlight]}
    if not shutil.which("setpriv"):
        section.skipped.append(("nobody", "setpriv is not installed (package util-linux)"))
        return {"root": [setting.firstlight]}
    copy = shutil.copy(setting.firstlight, folder)
    # Measurements are written there, too.
    os.chmod(folder, 0o755)
    os.chown(folder, NOBODY, NOBODY)
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", copy]
    return {"root": [setting.firstlight], "nobody": words}


def try_launches(setting, section, label, words, command):
    """A row of the figures; or why there is none."""
    words = words + ["-n", str(setting.launches(LAUNCHES)), "--format", "json", "--", *command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          cwd="/", timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        section.skipped.append((label, said[-1]))
        return
    measured = json.loads(done.stdout)
    section.raw.append({"label": label, "launches": measured["launches"]})
    section.rows.append(row(label, counted(measured), len(measured["launches"])))


def row(label, launches, made):
    read = [launch["readBytes"] for launch in launches]
    known = [count for count in read if count is not None]
    if label.endswith("cold"):
        # One of which it is not known proves nothing.
        goal = Goal("> 0 in each", 0, [sum(not count for count in read)])
    else:
        goal = Goal("0 in each", 0, [max(known)] if len(known) == len(read) else [])
    return Row(label, [count / MEBIBYTE for count in known] or [0], "{:.2f} MiB", [goal],
               f"{len(launches)} of {made} count{cached(launches)}")


def cached(launches):
    """How much of their files was in the cache before, where that is known."""
    known = [(launch["cachedBytes"] / MEBIBYTE, launch["fileBytes"] / MEBIBYTE)
             for launch in launches
             if launch["cachedBytes"] is not None and launch["fileBytes"] is not None]
    if not known:
        return ""
    held, size = (statistics.median(column) for column in zip(*known))
    return f", {held:.2f} of {size:.2f} MiB were cached"
