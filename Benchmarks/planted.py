"""Whether `firstlight compare` finds 3 ms that are put into a library's initialiser: how much of them it
puts on the function that takes them.

Star Searcher's mended variant is recorded, and the same with another build of its library, which has
one more initialiser: it computes for 3 ms by the clock. Both take turns. Compared are all recordings
of one with all of the other, and each pair by itself.
"""

import json
import os
import shutil
import subprocess

from figures import Goal, Row, Section

PLANTED_NS = 3_000_000
FUNCTION = "addedInitialiser"
SOURCE = """
#include <ctime>

static long now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((constructor, noinline)) static void %s() {
    for (long end = now() + %d; now() < end;) {}
}
""" % (FUNCTION, PLANTED_NS)
RECORDINGS = 10
PROGRAM, LIBRARY = "starsearcher-mended", "libsuperlog-mended.so"


def planted(setting):
    count = setting.rounds(RECORDINGS)
    section = Section("Planted in a library's initialiser",
                      f"3 ms in Star Searcher's; {count} recordings of each, in turns")
    if not shutil.which("g++"):
        section.skipped.append(("all", "g++ is not installed"))
        return section
    before, after = folders(setting)
    sides = ([], [])
    for number in range(count):
        for side in (0, 1) if number % 2 else (1, 0):
            path = setting.file(f"planted-{number}-{side}.firstlight")
            subprocess.run(
                [setting.firstlight, "record", "--quiet", "-o", path, "--",
                 os.path.join((before, after)[side], PROGRAM)],
                check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            sides[side].append(path)
    together = figures(setting, *sides)
    each = [figures(setting, [one], [other]) for one, other in zip(*sides)]
    section.raw += [{"together": together}, {"each": each}]
    section.rows += [
        Row("the launch, in the mean", [together["launch"]], "{:+.2f} ms"),
        Row("by its initialiser's wall, of 3 ms", [together["initializer"]], "{:.1f} %",
            goals([together["initializer"]]), together["where"]),
        Row("by its stacks, of 3 ms", [together["function"]], "{:.1f} %",
            goals([together["function"]]), together["where"]),
        Row("single pairs: by its initialiser's wall", [one["initializer"] for one in each],
            "{:.1f} %", goals([one["initializer"] for one in each])),
        Row("single pairs: by its stacks", [one["function"] for one in each], "{:.1f} %",
            goals([one["function"] for one in each]),
            f"{min(one['function'] for one in each):.1f} % at the least")]
    return section


def goals(shares):
    """More than all of it would be other functions' time."""
    return [Goal("≥ 90 %", -90, [-share for share in shares]), Goal("≤ 110 %", 110, shares)]


def folders(setting):
    """Star Searcher as it is, and with another library. Its database is found beside it."""
    built = os.path.join(
        os.path.dirname(setting.fixtures), "..", "Examples", "StarSearcher", "build")
    paths = []
    for name in ("planted-before", "planted-after"):
        paths.append(setting.file(name))
        os.mkdir(paths[-1])
        for file in (PROGRAM, LIBRARY, "stars.sqlite"):
            shutil.copy2(os.path.join(built, file), paths[-1])
    source = setting.file("added.cpp")
    with open(source, "w") as file:
        file.write(SOURCE)
    objects = [os.path.join(built, "mended", "logger.o"), os.path.join(built, "corpus.o")]
    subprocess.run(
        ["g++", "-O2", "-g", "-fPIC", "-shared", f"-Wl,-soname,{LIBRARY}", "-o",
         os.path.join(paths[1], LIBRARY), source] + objects, check=True)
    return paths


def figures(setting, before, after):
    """What the comparison puts on the function, in per cent of what was planted."""
    report = json.loads(subprocess.run(
        [setting.firstlight, "compare", "--format", "json"] + before + ["--with"] + after,
        check=True, stdout=subprocess.PIPE).stdout)
    share = 100 / PLANTED_NS
    initializers = [one for one in report["initializers"] if FUNCTION in one["function"]]
    found = {phase["name"]: function for phase in report["phases"]
             for function in phase["functions"] if FUNCTION in function["function"]}
    total = sum(function["totalWallNs"]["difference"] for function in found.values())
    changed = any(FUNCTION in change["function"] for phase in report["phases"]
                  for change in phase["changes"])
    return {
        "launch": report["wallNs"]["difference"] / 1e6,
        "initializer": share * sum(one["wallNs"]["difference"] for one in initializers),
        "function": share * total, "isAChange": changed,
        "where": ", ".join(found) or "not seen"}
