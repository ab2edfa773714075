"""`record` where something is scarce: it behaves, or refuses in words before the program is started."""

import os
import random
import resource
import shutil
import subprocess
import tempfile

import processes
from processes import Hung

FIXTURES = [["groundtruth"], ["threads", "4", "3000000"], ["plugins", "4"], ["signals"],
            ["forkers", "spawn", "3"], ["signposts", "nested"], ["brief"]]
MIB = 1 << 20


def limiting(which, value):
    return lambda: resource.setrlimit(which, (value, value))


def scenes(choice, folder):
    """Name, what is set in both, what comes before the words, where the recording goes."""
    there = f"{folder}/recording"
    name = choice.choice(["open files", "address space", "stack", "full disk", "file size",
                          "no /proc", "read-only home"])
    if name == "open files":
        number = choice.randrange(4, 80)
        return name, limiting(resource.RLIMIT_NOFILE, number), [], there, f"{number}"
    if name == "address space":
        size = choice.randrange(40, 1200) * MIB
        return name, limiting(resource.RLIMIT_AS, size), [], there, f"{size}"
    if name == "stack":
        size = choice.randrange(64, 2048) * 1024
        return name, limiting(resource.RLIMIT_STACK, size), [], there, f"{size}"
    if name == "file size":
        size = choice.randrange(1, 200) * 1024
        return name, limiting(resource.RLIMIT_FSIZE, size), [], there, f"{size}"
    if name == "full disk":
        size = choice.randrange(1, 40) * 4096
        script = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
        os.makedirs(f"{folder}/disk", exist_ok=True)
        before = ["unshare", "-m", "sh", "-c", script, f"{folder}/disk"]
        return name, None, before, f"{folder}/disk/recording", f"{size}"
    if name == "no /proc":
        return name, None, ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"], there, ""
    os.makedirs(f"{folder}/home", exist_ok=True)
    script = 'mount -t tmpfs -o ro none "$0" && cd "$0" && HOME="$0" exec "$@"'
    return name, None, ["unshare", "-m", "sh", "-c", script, f"{folder}/home"], "launch.firstlight", ""


def is_refusal(found):
    lines = found.error.splitlines()
    return (found.status == 125 and not found.output and len(lines) >= 1
            and all(line.startswith(b"firstlight: ") for line in lines))


def one(options, folder, number):
    choice = random.Random(number * 15485863)
    name, limit, before, output, figure = scenes(choice, folder)
    words = choice.choice(FIXTURES)
    words = [os.path.join(options.fixtures, words[0])] + words[1:]
    if before and os.geteuid() != 0:
        return name, "", None, None
    alone = processes.run(before + words, preexec_fn=limit)
    prefix = before + [options.firstlight, "record", "--quiet", "-o", output, "--"]
    found = processes.run(prefix + words, preexec_fn=limit)
    # Our own complaints come on top.
    rest = b"".join(line for line in found.error.splitlines(True)
                    if not line.startswith(b"firstlight: "))
    if alone.status < 0:
        alone.status = 128 - alone.status
    same = (found.status, found.output, rest) == (alone.status, alone.output, alone.error)
    kind = "refused" if is_refusal(found) else "recorded"
    why = "" if same or is_refusal(found) else (
        f"{name} {figure}: {found.short()}\ninstead of\n{alone.short()}")
    return name, why, prefix + words, kind


def campaign(state, options, count):
    part = state.part("limits")
    if os.geteuid() != 0 or not shutil.which("unshare"):
        state.skip("limits", "full disk, no /proc, read-only home", "only root can set this up")
    elif subprocess.run(["unshare", "-m", "true"]).returncode != 0:
        state.skip("limits", "full disk, no /proc, read-only home", "unshare is not permitted")
    for number in range(part["done"], count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                name, why, words, kind = one(options, folder, number)
            except Hung as hung:
                name, why, words, kind = "hung", str(hung), [f"limits {number}"], "hung"
            if words:
                state.count("limits", name, 1 if why else 0, **{kind: 1})
            if why:
                state.keep("limits", number, words, {"why": why})
        part["done"] = number + 1
        state.save()
