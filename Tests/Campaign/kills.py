"""The recorder killed at random moments, then another one attached: the program lives, and its output
and status are what they are alone."""

import os
import random
import subprocess
import tempfile
import time

import processes
from processes import Hung, settled

# Name, the fixture's words, options of `record` or `attach`, milliseconds within which it is killed.
MARKS = ["--mark", "hit=hit", "--mark", "span=hit.."]
SCENES = [
    ("record", ["groundtruth"], [], 500),
    ("record", ["urgent", "late", "200"], [], 500),
    ("record", ["masked", "work", "200"], ["--capture", "ptrace"], 500),
    ("attach", ["preserved", "700"], [], 300),
    ("attach", ["masked", "work", "600"], [], 300),
    ("attach", ["timers", "posix"], [], 200),
    ("until", ["groundtruth"], ["--until", "idle:10s"], 500),
    ("until", ["groundtruth"], ["--until", "output:never", "--after", "keep"], 500),
    ("until", ["groundtruth"], ["--until", "listen", "--until", "notify"], 500),
    ("marks", ["marked", "hits", "400000"], MARKS, 500),
    ("signposts", ["signposts", "many", "50000"], ["--until", "signpost:never"], 300),
    ("dlopen", ["plugins", "40"], [], 400),
    ("dlopen", ["loading", "LIB/libplugin.so"], [], 250),
]


def second(options, folder, pid):
    """Attaches once more. What it says is not judged: the program may be ending."""
    words = [options.firstlight, "attach", "--quiet", "-o", f"{folder}/second", "--duration", "50ms"]
    return processes.run(words + [str(pid)])


def program_of(recorder, path, limit=10):
    """Once the recorder's child runs as the program; nil when the recorder ended first."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and recorder.poll() is None:
        for child in processes.children(recorder.pid):
            try:
                if os.readlink(f"/proc/{child}/exe") == path:
                    return child
            except OSError:
                pass
    return None


def one(options, folder, scene, choice, expected):
    """What is wrong, or nothing; and when it was killed."""
    name, words, extra, most = scene
    moment = choice.random() * most / 1000
    is_filtered = choice.random() < 0.5
    filtering = processes.forbid_events if is_filtered else None
    how = f"killed after {moment * 1000:.1f} ms" + (" without perf events" if is_filtered else "")
    recorder = [options.firstlight, "attach" if name == "attach" else "record", "--quiet",
                "-o", f"{folder}/recording", *extra]
    if name == "attach":
        program = processes.start(words)
        time.sleep(0.02)
        killed = processes.start(recorder + [str(program.pid)], preexec_fn=filtering)
        pid = program.pid
    else:
        killed = program = processes.start(recorder + ["--"] + words, preexec_fn=filtering)
        pid = program_of(killed, words[0])
    time.sleep(moment)
    if killed.poll() is None:
        killed.kill()
    killed.wait()
    if pid is None and killed.returncode == -9:
        return f"{how}: the program was never executed: {processes.written(killed.streams['stderr'])}"
    late = None
    # Where machine and program are quick it has ended before it was seen.
    if pid is not None and processes.is_alive(pid) and choice.random() < 0.8:
        late = second(options, folder, pid)
        if late.status and late.status < 0:
            return f"{how}: the second recorder died: {late.short()}"
    if name == "attach":
        status = program.wait(60)
    elif killed.returncode == -9:
        try:
            status = processes.wait_for(pid)
        except ChildProcessError:
            # It had ended, and the recorder had taken note of it, before that was killed.
            status = expected.status
    else:
        status = killed.returncode
    # Through the relay of --until output it comes a moment later.
    output = settled(lambda: processes.written(program.streams["stdout"]), expected.output)
    if (status, output) != (expected.status, expected.output):
        found = processes.Ended(status, output, processes.written(program.streams["stderr"]))
        return (f"{how}: {found.short()}\ninstead of\n{expected.short()}\nsecond: "
                + (late.short() if late else "none"))
    return ""


def campaign(state, options, count):
    processes.adopt_orphans()
    part = state.part("kills")
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(part["done"], count):
            name, words, extra, most = SCENES[number % len(SCENES)]
            words = [os.path.join(options.fixtures, words[0])] + [
                word.replace("LIB", options.fixtures) for word in words[1:]]
            key = " ".join(words)
            if key not in expected:
                expected[key] = processes.run(words)
            choice = random.Random(number * 104729)
            try:
                why = one(options, folder, (name, words, extra, most), choice, expected[key])
            except (Hung, ChildProcessError, subprocess.TimeoutExpired) as error:
                why = f"{type(error).__name__}: {error}"
            state.count("kills", name, 1 if why else 0)
            if why:
                state.keep("kills", number, ["record or attach", *extra, *words], {"why": why})
            part["done"] = number + 1
            state.save()
