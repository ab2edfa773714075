"""`record` runs: output, status and signals are those that the program has alone."""

import os
import random
import tempfile

from processes import Ended, Hung, forbid_events, run
from programs import all_programs

WAYS = [[], [], ["--capture", "ptrace"], ["-F", "5000"], ["--switches", "off"], [],
        ["--follow-children"], ["--duration", "20ms"]]


class Subject:
    """A program, and what it does alone."""

    def __init__(self, words, text, folder):
        self.words, self.text, self.folder = words, text, folder
        self.alone = {}

    def ended(self, prefix, is_filtered):
        return run(prefix + self.words, text=self.text, cwd=self.folder,
                   preexec_fn=forbid_events if is_filtered else None)

    def expected(self, is_filtered):
        """None: it is not the same each time."""
        if is_filtered not in self.alone:
            seen = [self.ended([], is_filtered) for _ in range(3)]
            self.alone[is_filtered] = seen[0] if seen[0] == seen[1] == seen[2] else None
        return self.alone[is_filtered]


def campaign(state, options, count):
    part = state.part("runs")
    with tempfile.TemporaryDirectory() as folder:
        subjects = []
        for name, words, text, why in all_programs(options.fixtures):
            subject = Subject(words, text, folder)
            try:
                if not why and subject.expected(False) is None:
                    why = "alone it does not write the same each time"
            except Hung as hung:
                why = f"alone: {hung}"
            if why:
                state.skip("runs", name, why)
            else:
                subjects.append((name, subject))
        for number in range(part["done"], count):
            name, subject = subjects[number % len(subjects)]
            # Each program meets each way.
            choice = random.Random(number // len(subjects) * 7919 + number)
            way, is_filtered = choice.choice(WAYS), choice.random() < 0.4
            # A process can have one tracer, and what this one does is to trace its child.
            if name.startswith("tracer") and "--follow-children" in way:
                way = []
            one(state, options, number, name, subject, way, is_filtered)
            part["done"] = number + 1
            if number % 20 == 19:
                state.save()


def one(state, options, number, name, subject, way, is_filtered):
    expected = subject.expected(is_filtered)
    if expected is None:
        return
    recording = os.path.join(subject.folder, "recording.firstlight")
    prefix = [options.firstlight, "record", "--quiet", "-o", recording, *way, "--"]
    try:
        found, why = subject.ended(prefix, is_filtered), ""
    except Hung as hung:
        found, why = None, str(hung)
    # As a shell has it: 128 + N of a program that signal N ended.
    if expected.status < 0:
        expected = Ended(128 - expected.status, expected.output, expected.error)
    if found is not None and found != expected:
        why = f"{found.short()}\ninstead of\n{expected.short()}"
    state.count("runs", name, 1 if why else 0)
    if why:
        texts = {"why": why + ("\nwithout perf events" if is_filtered else "")}
        if found:
            texts |= {"alone.output": expected.output, "alone.error": expected.error,
                      "recorded.output": found.output, "recorded.error": found.error}
        state.keep("runs", number, prefix + subject.words, texts)
    for file in os.listdir(subject.folder):
        if "firstlight" in file:
            os.unlink(os.path.join(subject.folder, file))
